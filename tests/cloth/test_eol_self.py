"""Cloth that meets itself, and what remeshing does to the energy."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.bench.eol.books import Books, depth
from pliant.bench.eol.hulls import random_hull
from pliant.bench.eol.march import march
from pliant.cloth.body import Cloth
from pliant.cloth.own_contact import ClothSkin
from pliant.cloth.remesh import FeatureTable, Remesher, remesh
from pliant.cloth.sheet import rectangle, sheet
from pliant.cloth.system import EolCloth
from pliant.contact.intersect import intersections
from pliant.errors import SceneError
from pliant.integrators import LinearlyImplicit
from pliant.record.channels import frame_of, known_channels
from pliant.scene import Scene
from pliant.scenes import eol
from pliant.systems.row_contact import RowContact


def folded(gap: float, cells: int = 6):
    """A cloth folded in half around a bend of the width ``gap``, one half above the other."""
    X, faces = rectangle((0.4, 1.0), (cells, 2 * cells + 1))
    s, bend = X[:, 1] - 0.5, 0.25 * np.pi * gap
    angle = np.clip(s / max(bend, 1e-12), -1.0, 1.0) * 0.5 * np.pi
    y = np.where(np.abs(s) < bend, 0.5 * gap * np.cos(angle), bend - np.abs(s))
    return sheet(X, faces, np.column_stack([X[:, 0], y, 0.5 * gap * np.sin(angle)]))


def crossed(cloth: EolCloth, x) -> int:
    return len(intersections(x, cloth.edges, cloth.sheet.faces))


@pytest.mark.parametrize("meets", [False, True])
def test_halves_thrown_at_each_other_pass_only_if_they_do_not_meet(meets: bool) -> None:
    """Momentum is kept by what they do to each other, and they stay the thickness apart."""
    start = folded(0.05)
    v = np.zeros_like(start.x)
    v[:, 2] = np.where(start.X[:, 1] > 0.5, -1.0, 1.0)
    scene = Scene(
        [Cloth(replace(start, v=v), thickness=2e-3, eulerian=True)],
        LinearlyImplicit(),
        h=4e-3,
        duration=0.12,
        gravity=(0.0, 0.0, 0.0),
        contact=RowContact(mu=0.0, self_contact=meets),
    )
    first = scene.system()
    before, _ = first.momenta(first.initial().q, first.initial().v)
    worst = 0
    for moment in march(scene):
        worst = max(worst, crossed(moment.cloth, moment.sheet.x))
        assert all(r.converged for r in moment.reports)
    assert (worst == 0) is meets
    if meets:
        after, _ = moment.cloth.momenta(moment.state.q, moment.state.v)
        assert np.abs(after - before).max() < 1e-9
        upper, lower = (moment.sheet.x[(moment.sheet.X[:, 1] - 0.5) * k > 0.2, 2] for k in (1, -1))
        assert np.median(upper) > np.median(lower)


def test_clearance_is_asked_for_between_what_is_far_in_the_material() -> None:
    """The halves lie one millimetre apart: at the fold less is asked for than between the hems."""
    cloth = folded(1e-3)
    close = ClothSkin(
        cloth, np.unique(np.sort(cloth.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0), 2e-3
    )
    pairs = close.near(1e-3)
    apart = np.linalg.norm(np.einsum("kr,krd->kd", pairs.weights, cloth.X[pairs.nodes]), axis=1)
    assert len(pairs) and np.all(pairs.clearance <= 0.25 * apart + 1e-12)
    far = apart > 0.05
    assert far.any() and np.allclose(pairs.clearance[far], 2e-3)
    assert np.allclose(np.linalg.norm(pairs.normal, axis=1), 1.0) and np.all(pairs.distance > 0)


def test_a_thrown_cloth_does_not_pass_through_itself() -> None:
    scene = replace(eol.throw(cells=5), duration=0.4)
    scene = replace(scene, contact=RowContact(mu=0.0, thickness=5e-3, self_contact=True))
    for moment in march(scene):
        assert crossed(moment.cloth, moment.sheet.x) == 0


def test_steps_in_which_cloth_still_meets_itself_are_divided() -> None:
    """Vertices used to be stopped on their way, which took 0.02 J out of one step and brought it back later."""
    scene, books, divided = eol.friction(cells=8, duration=0.6), Books(), 0
    scene = replace(scene, contact=replace(scene.contact, self_contact=True))
    for moment in march(scene):
        books.look(moment)
        divided += len(moment.reports) > 1
        assert all(report.history[0]["own_stopped"] == 0 for report in moment.reports)
    assert divided
    assert books.created <= 1e-3 * books.kinetic and books.jump <= 1e-3 * books.kinetic


def test_remeshing_does_not_press_wrinkles_flat() -> None:
    """Merging the vertices of a wrinkle strains the cloth by what its folds had taken up; where it is flat, merge."""
    X, faces = rectangle((1.0, 1.0), (20, 20))
    wrinkled = X[:, 0] < 0.5
    slope = np.where(np.round(X[:, 0] / 0.05) % 2 == 0, 0.0, 0.02)  # ridges along y, one every tenth of a metre
    x = np.where(wrinkled, X[:, 0] * np.sqrt(1 - 0.4**2), 0.5 * np.sqrt(1 - 0.4**2) + X[:, 0] - 0.5)
    start = sheet(X, faces, np.column_stack([x, X[:, 1], np.where(wrinkled, slope, 0.0)]))
    coarse = np.tile([1 / 0.3**2, 0.0, 1 / 0.3**2], (len(X), 1))
    edited = remesh(start, coarse, Remesher(0.05, 0.3), FeatureTable())
    made = Cloth(start, eulerian=True).part((0.0, 0.0, 0.0), ())
    after = made.restored(edited.sheet)
    stored = [c.energies(c.initial().q, c.initial().v, 0.0)["membrane"] for c in (made, after)]
    assert edited.operations > 100
    assert stored[1] < stored[0] + made.material.E * 0.01**2


@pytest.mark.parametrize("seed", [1, 2])
def test_cloth_stays_out_of_random_hulls(seed: int) -> None:
    """Chords of its edges across blunt edges used to be up to 22 mm deep."""
    scene = replace(random_hull(2 * seed, cells=5), duration=0.4)
    books = Books()
    for moment in march(scene):
        books.look(moment)
        assert depth(moment.sheet, moment.cloth.around.at(moment.state.t)) < 7e-3
    assert books.created <= 1e-3 * books.kinetic


def test_variants_go_by_name() -> None:
    assert eol.edge(variant="regular", cells=3).name == eol.edge(eol.REGULAR, cells=3).name == "EDGE (regular)"
    assert eol.swing("naive conformal", cells=3, duration=0.01).bodies[0].eulerian.remesher is None
    with pytest.raises(SceneError, match=r"edge\.variant.*'round'.*regular, irregular"):
        eol.edge(variant="round")


def test_frames_tell_where_vertices_are_in_the_material() -> None:
    """Of cloth that slides over an edge the crease moves through the material, and the recording says where."""
    creases = []
    for moment in march(replace(eol.strand(h=4e-3), duration=0.1)):
        frame = frame_of(moment.cloth, moment.state, moment.cloth.cells(), ["material", "eulerian"])
        assert np.array_equal(frame.point_values["material"][:, :2], moment.sheet.X)
        on = frame.point_values["eulerian"].ravel() > 0.5
        creases.append(frame.point_values["material"][on, 1].mean())
    assert "material" in known_channels(moment.cloth, moment.state)
    assert 0.25 < creases[0] < creases[-1] < 0.27 and np.all(np.diff(creases) > 0)
