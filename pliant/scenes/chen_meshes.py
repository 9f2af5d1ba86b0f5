"""The thesis's own meshes where they are, and procedural stand-ins where they are not. [Chen2019, Tables 3.1 and 6.1]

They are looked for in $PLIANT_MESHES and in ``shared/meshes`` beside the checkout.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pliant import mesh as meshes
from pliant.mesh import Mesh
from pliant.scenes import chen_shapes


@dataclass(frozen=True, eq=False)
class FoundMesh:
    """A mesh and where it comes from; ``own`` is False for a stand-in."""

    mesh: Mesh
    own: bool
    note: str


STAND_INS: dict[str, Callable[[], Mesh]] = {
    "ball": lambda: meshes.ball(cells=12),
    "honeycomb": lambda: meshes.honeycomb(),
    "moebius": lambda: meshes.moebius(cells=(140, 10, 2)),
    "rope": lambda: meshes.rope(length=0.3, radius=0.01, rings=3, layers=300, turns=4, coil=0.08),
    "eiffel": chen_shapes.tower,
    "tree": chen_shapes.tree,
    "bridge": chen_shapes.bridge,
    "bunny": lambda: meshes.long_eared(),
    "armadillo_fine": lambda: meshes.figure(cells=46),
    "armadillo_coarse": lambda: meshes.figure(cells=20),
    "arm_fine": lambda: meshes.serpent(cells=65),
    "arm_coarse": lambda: meshes.serpent(cells=45),
    "skater_fine": lambda: meshes.figure(height=1.0, cells=30),
    "skater_coarse": lambda: meshes.figure(height=1.0, cells=15),
    "rampant_fine": lambda: meshes.long_eared(height=1.0, cells=22),
    "rampant_coarse": lambda: meshes.long_eared(height=1.0, cells=11),
    "fert_fine": lambda: chen_shapes.loops(cells=28),
    "fert_coarse": lambda: chen_shapes.loops(cells=14),
    "bar_fine": lambda: meshes.bar((1.0, 0.25, 0.25), (60, 15, 15)),
    "bar_coarse": lambda: meshes.bar((1.0, 0.25, 0.25), (20, 5, 5)),
}


def thesis_mesh(name: str, size: float | None = None) -> FoundMesh:
    """The mesh called ``name``, its bounding box diagonal scaled to ``size`` [m] when given."""
    path = _path(name)
    if path is not None:
        mesh, note = meshes.read(path), f"{name}: the thesis's mesh"
    else:
        mesh, note = STAND_INS[name](), f"{name}: a procedural stand-in, the thesis's mesh is not here"
    if size is not None:
        mesh = mesh.transformed(scale=size / mesh.size)
    return FoundMesh(mesh, path is not None, f"{note} ({len(mesh.X)} vertices, {len(mesh.T)} tets)")


def _path(name: str) -> Path | None:
    beside = Path(__file__).resolve().parents[3] / "shared" / "meshes"
    for folder in (os.environ.get("PLIANT_MESHES"), beside):
        if folder and (Path(folder) / f"{name}.node").exists():
            return Path(folder) / f"{name}.node"
    return None
