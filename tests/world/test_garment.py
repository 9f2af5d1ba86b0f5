"""Panels of cloth that seams draw together: they meet, weigh on what they hang from, and are refused by name."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.attachments import Attachment
from pliant.cloth.body import Cloth
from pliant.cloth.material import ClothMaterial
from pliant.errors import MeshError, SceneError
from pliant.integrators import BDF1
from pliant.maps.pins import Pin
from pliant.mesh import sheet
from pliant.scene import Scene
from pliant.scene_file import load_scene
from pliant.scenes.world_shirt import seams, shirt

FABRIC = ClothMaterial(E=200.0, nu=0.2, beta=1e-5, rho=0.2)
NET = sheet((0.2, 0.2), (4, 4))
DOWN = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # x becomes the way down
EDGES = {side: ((x, 0.0, 0.0), (x, 0.2, 0.0)) for side, x in (("left", 0.0), ("right", 0.2))}


def hung(stiffness: float | None, gap: float = 0.02, **options: object) -> Scene:
    """Two panels below each other: the upper one is pinned at its top, a seam at its other edge holds the lower one."""
    upper, lower = ((0.0, 0.0, 0.0), (0.2 + gap, 0.0, 0.0))
    turned = [NET.transformed(translate=at).transformed(rotate=DOWN) for at in (upper, lower)]
    top = Pin(NET.line(*EDGES["left"]))
    damping = pl.Rayleigh(alpha=4.0, beta=5e-3)
    cloths = [
        Cloth(turned[0], FABRIC, pins=top, damping=damping, name="upper"),
        Cloth(turned[1], FABRIC, damping=damping, name="lower"),
    ]
    seam = Attachment("lower", NET.line(*EDGES["left"]), "upper", stiffness=stiffness, others=NET.line(*EDGES["right"]))
    return Scene(cloths, attachments=[seam], integrator=BDF1(), h=0.01, duration=1.5, **options)


def opening(scene: Scene) -> tuple[np.ndarray, np.ndarray]:
    """The gaps (m, 3) of its only seam at the end, and the coordinates of both bodies."""
    *_, last = pl.simulate(scene)
    x = last.system.positions(last.state.q)
    seam = scene.attachments[0]
    return x[len(NET.X) + seam.vertices] - x[seam.others], x


def test_a_seam_of_springs_closes_until_it_carries_the_weight() -> None:
    gap, _ = opening(hung(stiffness=20.0))
    weight = 0.2 * 0.2 * FABRIC.rho * 9.81
    assert np.allclose(20.0 * gap.sum(axis=0), [0.0, 0.0, -weight], atol=0.03 * weight)


def test_a_seam_sewn_at_the_start_stays_closed() -> None:
    gap, _ = opening(replace(hung(stiffness=None, gap=0.0), duration=0.2))
    assert np.abs(gap).max() < 1e-8


def test_lines_are_in_order_and_refused_where_there_is_no_vertex() -> None:
    found = NET.line((0.2, 0.2, 0.0), (0.2, 0.0, 0.0))
    assert np.allclose(NET.X[found, 0], 0.2) and np.all(np.diff(NET.X[found, 1]) < 0) and len(found) == 5
    with pytest.raises(MeshError, match="no vertex on the line"):
        NET.line((0.0, 0.0, 1.0), (0.2, 0.0, 1.0))


def test_seams_of_unequal_sides_are_refused() -> None:
    with pytest.raises(SceneError, match="5 vertices are sewn to 4"):
        Attachment("a", np.arange(5), "b", others=np.arange(4))
    scene = hung(stiffness=1.0)
    with pytest.raises(SceneError, match="of 'upper': vertex 99 does not exist"):
        replace(scene, attachments=[Attachment("lower", np.array([0]), "upper", others=np.array([99]))]).system()


def test_panels_sewn_in_python_are_the_same_from_their_file(tmp_path) -> None:
    scene = replace(hung(stiffness=20.0), duration=0.02)
    run = scene.run(tmp_path / "run")
    again = load_scene(run.folder).scene
    assert np.array_equal(again.attachments[0].others, scene.attachments[0].others)


def test_the_shirt_is_sewn_from_four_panels_that_fit() -> None:
    scene = shirt(cell=0.08)
    names = [b.name for b in scene.bodies]
    assert names == ["front", "back", "left sleeve", "right sleeve"]
    meshes = {b.name: b.mesh for b in scene.bodies}
    for seam in scene.attachments:
        mine, other = (meshes[n].X[v] for n, v in ((seam.body, seam.vertices), (seam.to, seam.others)))
        length = lambda X: np.linalg.norm(np.diff(X, axis=0), axis=1)
        assert np.allclose(length(mine), length(other), atol=1e-12)  # no seam gathers cloth
    assert len(seams(meshes["front"], meshes["back"], {s: meshes[f"{s} sleeve"] for s in ("left", "right")}, 1.0)) == 10


def bag(pinned: str, **options: object) -> Scene:
    """Two panels sewn exactly at three sides, open above and bulging; the ``pinned`` ones hang by their corners."""
    mesh = sheet((0.2, 0.2), (8, 8)).transformed(rotate=DOWN)  # y is along the top, at z = 0
    corners = Pin(mesh.where(lambda X: (X[:, 2] > -1e-9) & (np.abs(X[:, 1] - 0.1) > 0.1 - 1e-9)))
    out = 0.03 * np.sin(np.pi * mesh.X[:, 1] / 0.2) * np.sin(np.pi * np.minimum(1.0, 0.5 - 2.5 * mesh.X[:, 2] - 0.5))
    rim = mesh.where(lambda X: (X[:, 2] < -0.2 + 1e-9) | (np.abs(X[:, 1] - 0.1) > 0.1 - 1e-9))
    panels = [
        Cloth(mesh, FABRIC, positions=mesh.X + np.outer(side * out, [1.0, 0.0, 0.0]), name=name,
              pins=corners if name in pinned else ())
        for name, side in (("front", 1.0), ("back", -1.0))
    ]  # fmt: skip
    seam = [Attachment("front", rim, "back", others=rim)]
    return Scene(panels, attachments=seam, h=0.005, duration=0.05, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("pinned", ["front", "front and back"])
@pytest.mark.parametrize("method", ["stage", "rows"])
def test_a_closed_bag_hangs_by_pins_that_are_sewn_together(pinned: str, method: str) -> None:
    """Ties of pinned vertices left matrices singular, and so did the contact of panels along their seam."""
    rows = {"contact": pl.RowContact(mu=0.3), "integrator": pl.LinearlyImplicit()}
    options: dict[str, object] = {"integrator": BDF1()} if method == "stage" else rows
    scene = bag(pinned, **options)
    *_, last = pl.simulate(scene)
    *_, one = pl.simulate(bag("front", **options))
    assert last.report.converged
    x = last.system.positions(last.state.q)
    n = len(scene.bodies[0].mesh.X)
    rim = scene.attachments[0].vertices
    assert np.abs(x[rim] - x[n + rim]).max() < 1e-8
    if method == "stage":  # friction of panels that stick has more than one solution
        assert np.allclose(last.state.q, one.state.q, atol=1e-6)
    assert last.ledger.numerical > -1e-9 * last.ledger.scale
