"""The remesher under random sizing fields: topology, material domain, borders, determinism."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.bench.eol.books import depth
from pliant.cloth._topology import neighbours
from pliant.cloth.eulerian import Eulerian
from pliant.cloth.material import ClothMaterial
from pliant.cloth.remesh import NO_SOLIDS, FeatureTable, Remesher, Solids, closed, opened, refined, remesh
from pliant.cloth.sheet import Sheet, border_edges, rectangle, sheet, signed_areas
from pliant.cloth.surroundings import Surroundings
from pliant.cloth.system import EolCloth
from pliant.cloth.transfer import sliding
from pliant.contact.obstacles import Box
from pliant.contact.sharp import Hull
from pliant.errors import MeshError, SceneError
from pliant.scenes.eol.variants import edge_feature


def random_sizing(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A rough anisotropic field with sizes between 3 cm and 15 cm."""
    angle = rng.uniform(0, 6) + rng.uniform(1, 30) * X[:, 0]
    large = rng.uniform(0.03, 0.15, len(X)) ** -2
    small = large * rng.uniform(0.04, 1, len(X))
    c, s = np.cos(angle), np.sin(angle)
    return np.stack([large * c * c + small * s * s, (large - small) * s * c, large * s * s + small * c * c], axis=1)


def check(now: Sheet, first: Sheet) -> None:
    N = neighbours(now.faces, len(now.X))
    edges = (N >= 0).sum() // 2 + (N < 0).sum()
    areas = signed_areas(now.X, now.faces)
    assert areas.min() > 0
    assert abs(areas.sum() - signed_areas(first.X, first.faces).sum()) < 1e-12
    assert len(now.X) - edges + len(now.faces) == 1
    border = border_edges(now.faces, len(now.X))
    a, b = now.X[border[:, 0]], now.X[border[:, 1]]
    assert np.isclose(np.linalg.norm(b - a, axis=1).sum(), 4.0, rtol=1e-12)
    assert np.all((np.abs(a) < 1e-12) | (np.abs(a - 1) < 1e-12) | (np.abs(a - b) > 1e-12))
    kept = {tuple(p) for p in now.X[now.fixed]}
    assert kept == {tuple(p) for p in first.X[first.fixed]}


def walk(rounds: int, seed: int) -> tuple[Sheet, int]:
    rng = np.random.default_rng(seed)
    first = now = sheet(*rectangle((1.0, 1.0), (6, 6)))
    total = 0
    for _ in range(rounds):
        edited = remesh(now, random_sizing(now.X, rng), Remesher(0.03, 0.15), FeatureTable())
        now, total = edited.sheet, total + edited.operations
        check(now, first)
    return now, total


def test_random_operations_keep_the_material_domain_and_repeat() -> None:
    one, operations = walk(6, seed=1)
    two, again = walk(6, seed=1)
    assert operations == again > 1000
    assert np.array_equal(one.X, two.X) and np.array_equal(one.faces, two.faces)


def test_edges_come_close_to_the_size_asked_for() -> None:
    now = sheet(*rectangle((1.0, 1.0), (4, 4)))
    S = lambda n: np.tile([0.07**-2, 0.0, 0.07**-2], (n, 1))
    for _ in range(4):
        now = remesh(now, S(len(now.X)), Remesher(0.05, 0.07), FeatureTable()).sheet
    e = now.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    lengths = np.linalg.norm(now.X[e[:, 0]] - now.X[e[:, 1]], axis=1)
    assert lengths.max() <= 0.07 * (1 + 1e-12)
    assert np.median(lengths) > 0.04


def test_sizing_refines_where_the_sheet_bends_and_only_across() -> None:
    base = sheet(*rectangle((1.0, 1.0), (10, 10)))
    phi = 6.0 * np.maximum(base.X[:, 0] - 0.5, 0)
    bent = replace(
        base, x=np.column_stack([np.minimum(base.X[:, 0], 0.5) + np.sin(phi) / 6, base.X[:, 1], (1 - np.cos(phi)) / 6])
    )
    S = Remesher(0.01, 0.2).sizing(bent, FeatureTable())
    flat, curved = S[base.X[:, 0] < 0.35], S[np.abs(base.X[:, 0] - 0.75) < 0.1]
    assert np.allclose(flat[:, 0], 0.2**-2) and np.allclose(flat[:, 2], 0.2**-2)
    assert np.median(curved[:, 0]) > 5 * np.median(curved[:, 2])
    wanted = (6 / 0.3) ** 2  # one refine_angle per edge; the X pattern concentrates the bend in half of its faces
    assert wanted < np.median(curved[:, 0]) < 2.5 * wanted


def test_bad_material_domains_are_refused_by_name() -> None:
    X, faces = rectangle((1.0, 1.0), (2, 2))
    with pytest.raises(MeshError, match="face 0"):
        sheet(X, faces[:, ::-1])
    with pytest.raises(MeshError, match="in no face"):
        sheet(np.vstack([X, [5.0, 5.0]]), faces)
    turns = np.linspace(0, 4 * np.pi, 25)  # a strip that winds twice around itself
    ring = np.concatenate([np.stack([r * np.cos(turns), r * np.sin(turns)], 1) for r in (1.0, 2.0)])
    i = np.arange(24)
    spiral = np.concatenate([np.stack([i, i + 25, i + 1], 1), np.stack([i + 1, i + 25, i + 26], 1)])
    with pytest.raises(MeshError, match="covers face"):
        sheet(ring, spiral)
    with pytest.raises(SceneError, match="edge sizes"):
        Remesher(0.2, 0.1)


def test_remeshing_does_not_cut_through_a_ridge() -> None:
    """Cloth over a blunt ridge is offered larger cells: without the body it would cut the ridge short."""
    slope, sunk = np.tan(np.radians(4.0)), 2e-3
    flat = sheet(*rectangle((1.0, 1.0), (8, 8)))
    over = replace(flat, x=flat.x - [0.0, 0.0, 1.0] * (slope * np.abs(flat.X[:, 1:] - 0.5)))
    y, z = np.array([-2.0, 0.5, 3.0]), np.array([-2.5 * slope, 0.0, -2.5 * slope])
    bottom = [[x, b, -1.0] for x in (-1.0, 2.0) for b in (-2.0, 3.0)]
    ridge = Hull(np.array([[x, b, c] for x in (-1.0, 2.0) for b, c in zip(y, z, strict=True)] + bottom))
    scenery = Surroundings((ridge,)).at(0.0)
    coarse = np.tile([4.0, 0.0, 4.0], (len(flat.X), 1))
    deep = {}
    for name, solids in (("without", NO_SOLIDS), ("with", Solids(scenery.planes, scenery.plane_start, sunk))):
        tri, operations = refined(opened(over, coarse, solids=solids), Remesher(0.2, 0.5), FeatureTable())
        assert operations > 10
        deep[name] = depth(closed(tri, over, operations).sheet, scenery)
    assert deep["without"] > 2 * sunk and deep["with"] <= 1.5 * sunk


def test_remeshing_does_not_drop_a_face_over_a_corner() -> None:
    """Without the vertex at the corner of a body, one face would hold the corner, and its edges would pass it by."""
    angle = np.radians([90.0, 210.0, 330.0])
    X = np.vstack([np.column_stack([np.cos(angle), np.sin(angle)]), [0.0, 0.0]])
    flat = sheet(X, np.array([[0, 1, 3], [1, 2, 3], [2, 0, 3]]))
    top, slope = 0.2, 0.5
    raised = replace(flat, x=flat.x + [0.0, 0.0, top] * (np.arange(4) == 3)[:, None])
    foot = 2 * np.column_stack([np.cos(angle), np.sin(angle), np.full(3, -slope)]) + [0.0, 0.0, top]
    scenery = Surroundings((Hull(np.vstack([foot, [0.0, 0.0, top]])),)).at(0.0)
    coarse = np.tile([0.1, 0.0, 0.1], (4, 1))
    for solids, count in ((NO_SOLIDS, 3), (Solids(scenery.planes, scenery.plane_start, 2e-3), 4)):
        tri, operations = refined(opened(raised, coarse, solids=solids), Remesher(1.0, 3.0), FeatureTable())
        assert len(closed(tri, raised, operations).sheet.X) == count


def test_what_a_crease_stores_does_not_depend_on_the_faces_beside() -> None:
    """The material line on the edge moves within its row of cells, the cloth is folded there all the same."""
    world = Surroundings((Box((0.5, 1.0, -0.5), (2.0, 1.0, 1.0)),))
    X, faces = rectangle((1.0, 1.0), (4, 4))
    row = np.abs(X[:, 1] - 0.5) < 1e-9
    stored = []
    for line in (0.5, 0.42):
        moved = X.copy()
        moved[row, 1] = line
        s = moved[:, 1] - line
        x = np.column_stack([moved[:, 0], 0.5 + np.maximum(s, 0.0), np.minimum(s, 0.0)])
        cloth = sheet(moved, faces, x)
        cloth = replace(cloth, feature=np.where(row, edge_feature(world.obstacles, (0.5, 0.5, 0.0)), -1))
        system = EolCloth(cloth, ClothMaterial(), world, Eulerian(Remesher(0.1, 0.3)))
        start = system.initial()
        stored.append(system.energies(start.q, start.v, 0.0)["bending"])
    assert stored[0] > 0 and np.isclose(*stored, rtol=1e-9)


def test_material_slides_as_far_as_it_takes_the_velocity_away():
    """Of all Xdot with a . Xdot = 0 none leaves a smaller Lagrangian velocity w + F Xdot."""
    rng = np.random.default_rng(2)
    F, w, a = rng.normal(size=(3, 2)), rng.normal(size=3), rng.normal(size=2)
    along = np.array([-a[1], a[0]])
    for constraint, ways in ((a, [along]), (np.zeros(2), np.eye(2))):
        found = sliding(F, w, constraint)
        assert abs(constraint @ found) < 1e-12
        for way in ways:
            assert abs((F @ way) @ (w + F @ found)) < 1e-12
