"""Embedding points: exact inside, the same element as a brute-force search, affine motion carried over."""

import numpy as np
import pytest

from pliant import mesh
from pliant.errors import MeshError


def brute_force(body, P):
    """Smallest barycentric weight of every point in its best element, over all elements."""
    inverse = np.linalg.inv(np.concatenate((body.X[body.T], np.ones((*body.T.shape, 1))), axis=2))
    w = np.einsum("pi,eij->pej", np.column_stack((P, np.ones(len(P)))), inverse)
    return w.min(axis=2).max(axis=1)


@pytest.mark.parametrize("make", [mesh.duck, mesh.honeycomb, lambda: mesh.rectangle((0.3, 0.1), (7, 3))])
def test_points_are_found_where_brute_force_finds_them(make):
    body = make()
    rng = np.random.default_rng(1)
    low, high = body.bounds
    P = low + rng.random((300, body.dim)) * (high - low)
    found = mesh.embed(body, P)
    best = brute_force(body, P)
    inside = best > 1e-9
    assert inside.sum() > 50
    assert found.weights.min(axis=1)[inside] == pytest.approx(best[inside], abs=1e-9)
    assert set(found.outside) == set(np.flatnonzero(best < -1e-9))
    assert found.weights.sum(axis=1) == pytest.approx(1)
    assert found.positions(body.X) == pytest.approx(P, abs=1e-12)
    assert found.matrix(len(body.X)) @ body.X == pytest.approx(P, abs=1e-12)


def test_vertices_and_affine_motion():
    body = mesh.ball(cells=6)
    fine = mesh.surface_mesh(mesh.ball(cells=12))
    found = mesh.embed(body, fine.X)
    assert len(found.outside) > 0  # the fine sphere sticks out of the coarse one
    A = np.array([[1.1, 0.2, 0], [0, 0.9, 0.1], [0.3, 0, 1]])
    assert found.positions(body.X @ A.T + 1) == pytest.approx(fine.X @ A.T + 1, abs=1e-12)
    assert len(mesh.embed(body, body.X).outside) == 0
    far = mesh.embed(body, np.array([[5.0, 0, 0]]))
    assert far.outside.tolist() == [0] and body.X[far.vertices[0]][:, 0].min() > 0


@pytest.mark.parametrize(
    ("body", "points", "message"),
    [
        (mesh.sheet(), np.zeros((1, 3)), "do not fill space"),
        (mesh.duck(), np.zeros((1, 2)), "shape"),
        (mesh.duck(), np.full((1, 3), np.nan), "finite"),
    ],
)
def test_wrong_points_are_refused(body, points, message):
    with pytest.raises(MeshError, match=message):
        mesh.embed(body, points)
