"""Nothing snags: WIRE, NAILS and JAWS follow their hands, a coarse cloth keeps its crease [Weidner2022, 2.7]."""

from collections.abc import Callable

import numpy as np

from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.cloth._metric import face_normals
from pliant.cloth._topology import neighbours
from pliant.cloth.kinematics import deformation_gradients
from pliant.cloth.remesh import creases
from pliant.cloth.scene import ClothScene, Moment
from pliant.cloth.sheet import Sheet
from pliant.scenes import eol

Build = Callable[[eol.Variant, int], ClothScene]


def stretch(sheet: Sheet) -> float:
    """99th percentile of the largest principal stretch minus one."""
    F = deformation_gradients(sheet.x, sheet.X, sheet.faces)
    return float(np.percentile(np.linalg.svd(F, compute_uv=False)[:, 0], 99)) - 1.0


def along(moment: Moment, axis: int, at: float) -> Array:
    """Where the two corners at the material coordinate ``at`` are on average."""
    sheet = moment.sheet
    return sheet.x[sheet.fixed & (np.abs(sheet.X[:, axis] - at) < 1e-9)].mean(axis=0)


def follow(build: Build, variant: eol.Variant, cells: int, axis: int) -> dict[str, object]:
    """How far the far hem follows the hands during the pull, and how much the cloth strains."""
    scene = build(variant, cells)
    hands = scene.world.handles[0]
    before, start, worst, rest = None, None, 0.0, 0.0
    for moment in scene.march():
        if moment.state.t < hands.start:
            before, rest = moment, stretch(moment.sheet)
            continue
        start = start or before or moment
        worst = max(worst, stretch(moment.sheet))
    assert start is not None
    if axis == 0:  # pulled along x over points
        pulled = along(moment, 0, 1.0)[0] - along(start, 0, 1.0)[0]
        moved = along(moment, 0, 0.0)[0] - along(start, 0, 0.0)[0]
    else:  # pulled over a wire: lengths on both sides of it
        reach = lambda m, at: np.linalg.norm((along(m, 1, at) - _wire(scene, m.state.t))[1:])
        pulled = float(reach(moment, 1.0) - reach(start, 1.0))
        moved = float(reach(start, 0.0) - reach(moment, 0.0))
    return {
        "scene": scene.name,
        "pulled_m": float(pulled),
        "follows": float(moved / pulled),
        "strain": worst,
        "strain_before": rest,
    }


def _wire(scene: ClothScene, t: float) -> Array:
    scenery = scene.world.at(t)
    return 0.5 * (scenery.edge_a[0] + scenery.edge_b[0])


def crease_angle(cells: int = 5) -> tuple[float, int]:
    """Mean dihedral angle [deg] on the edge of the LO-RES cloth after draping, and its largest number of faces."""
    scene = eol.lo_res(eol.EOL)
    angles, faces = [], 0
    for moment in scene.march():
        faces = max(faces, len(moment.sheet.faces))
        if not 0.45 < moment.state.t < 0.7:
            continue
        sheet = moment.sheet
        n = face_normals(sheet.x, sheet.faces)
        f, k = np.nonzero(creases(sheet, moment.cloth.world.table))
        g = neighbours(sheet.faces, len(sheet.X))[f, k]
        f, g = f[g >= 0], g[g >= 0]
        angles += np.degrees(np.arccos(np.clip(np.einsum("ij,ij->i", n[f], n[g]), -1, 1))).tolist()
    return float(np.median(angles)), faces


def run(*, quick: bool = False) -> Table:
    cells = 8 if quick else 16
    cases: list[tuple[Build, int]] = [(eol.wire, 1), (eol.nails, 0), (eol.jaws, 0)]
    rows, claims = [], []
    for build, axis in cases:
        ours, other = (follow(build, v, cells, axis) for v in (eol.EOL, eol.REGULAR))
        rows += [ours, other]
        share = float(ours["follows"])  # type: ignore[arg-type]
        pulled = float(ours["pulled_m"])  # type: ignore[arg-type]
        claims.append(
            Claim(
                f"A9 {ours['scene']}: hem follows the hands",
                ">= 90 %",
                f"{100 * share:.0f} %",
                share >= 0.9 and pulled > 0.1,
            )
        )
    angle, faces = crease_angle()
    claims.append(
        Claim(
            "A12 LO-RES keeps its crease on a 90 deg box", ">= 80 deg", f"{angle:.1f} deg ({faces} faces)", angle >= 80
        )
    )
    return Table("eol/snag", "Cloth that follows its hands over wire, nails and jaws", rows, claims)
