"""Triangles with long edges halved: the same surface, closed, with short edges."""

import numpy as np
import pytest

from pliant.mesh import box
from pliant.mesh.measures import edge_lengths, measures
from pliant.mesh.subdivide import subdivided
from pliant.mesh.topology import boundary_facets, euler_characteristic


def volume(X: np.ndarray, F: np.ndarray) -> float:
    return float(np.linalg.det(X[F]).sum()) / 6.0


@pytest.mark.parametrize("sides", [(1.0, 1.0, 1.0), (2.0, 0.1, 0.02), (0.3, 0.2, 5.0)])
@pytest.mark.parametrize("length", [0.3, 0.11, 0.05])
def test_area_volume_and_orientation_stay_and_no_edge_is_long(sides: tuple[float, ...], length: float) -> None:
    mesh = box(sides, (1, 1, 1))
    X, F = mesh.X, mesh.surface()
    S, T = subdivided(X, F, length)
    Y = S @ X
    assert edge_lengths(Y, T).max() <= length
    assert not len(boundary_facets(T)) and euler_characteristic(T) == 2
    np.testing.assert_array_equal(Y[: len(X)], X)
    np.testing.assert_allclose(measures(Y, T).sum(), measures(X, F).sum(), rtol=1e-12)
    np.testing.assert_allclose(volume(Y, T), volume(X, F), rtol=1e-12)
    assert (measures(Y, T) > 0.0).all()
    assert len(T) < 60 * measures(X, F).sum() / length**2 + 60 * max(sides) / length  # and no more than it takes


def test_every_vertex_is_a_mean_of_at_most_three_corners_of_one_triangle() -> None:
    mesh = box((1.0, 0.7, 0.4), (2, 1, 1))
    F = mesh.surface()
    S, _ = subdivided(mesh.X, F, 0.1)
    np.testing.assert_array_equal(np.asarray(S.sum(axis=1)).ravel(), 1.0)
    triangles = [set(f) for f in F.tolist()]
    assert np.diff(S.indptr).max() == 3
    assert all(
        any(set(S.indices[a:b].tolist()) <= f for f in triangles)
        for a, b in zip(S.indptr[:-1], S.indptr[1:], strict=True)
    )


def test_short_edges_stay() -> None:
    mesh = box((1.0, 1.0, 1.0), (3, 3, 3))
    S, T = subdivided(mesh.X, mesh.surface(), 0.5)
    np.testing.assert_array_equal(T, mesh.surface())
    assert S.shape[0] == len(mesh.X)


def test_only_what_is_long_is_cut() -> None:
    """One long triangle beside a short one: the shared edge is cut in both, others stay."""
    X = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.3, 0.0], [0.5, -0.3, 0.0], [0.9, 0.5, 0.0]])
    F = np.array([[0, 1, 2], [1, 0, 3], [2, 1, 4]])
    S, T = subdivided(X, F, 0.8)
    assert len(T) == 5 and S.shape[0] == 6
    np.testing.assert_allclose((S @ X)[5], [0.5, 0.0, 0.0])
    assert [2, 1, 4] in T.tolist()
