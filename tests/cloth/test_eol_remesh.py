"""The remesher under random sizing fields: topology, material domain, borders, determinism."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.cloth._topology import neighbours
from pliant.cloth.remesh import FeatureTable, Remesher, remesh
from pliant.cloth.sheet import Sheet, border_edges, rectangle, sheet, signed_areas
from pliant.errors import MeshError, SceneError


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
