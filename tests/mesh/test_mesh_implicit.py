"""Filling implicit bodies: sound meshes for any body and spacing, shapes bounded away from flat."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant import mesh
from pliant.errors import MeshError
from pliant.mesh.measures import dihedral_angles
from pliant.mesh.solids import ellipsoid, joined, tube
from pliant.mesh.topology import euler_characteristic, non_manifold

BOX = np.array([[-1.5] * 3, [1.5] * 3])


def enclosed_volume(body):
    """By the divergence theorem over the outward surface: less than the sum of the tets if any overlap."""
    V = body.X[body.surface()]
    return np.einsum("fi,fi->", V[:, 0], np.cross(V[:, 1], V[:, 2])) / 6


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.floats(0.15, 0.5))
def test_random_bodies_make_sound_meshes(seed, spacing):
    """Positive volumes, one piece, manifold, deterministic, no bad angles: whatever the body and the spacing."""
    rng = np.random.default_rng(seed)
    blobs = [ellipsoid(rng.uniform(-0.7, 0.7, 3), rng.uniform(0.25, 0.6, 3)) for _ in range(4)]
    blobs.append(tube(rng.uniform(-0.8, 0.8, (3, 3)), rng.uniform(0.1, 0.4, 3)))
    body = mesh.fill(joined(blobs, 0.1), BOX, spacing)
    assert (body.measures() > 0).all()
    assert enclosed_volume(body) == pytest.approx(body.measures().sum(), rel=1e-12)
    assert body.components()[0] == 1
    assert not non_manifold(body.T)
    angles = np.degrees(dihedral_angles(body.X, body.T))
    assert angles.min() > 8 and angles.max() < 168


def test_surface_lies_on_the_body_where_nothing_was_dropped():
    phi = joined([ellipsoid((0, 0, 0), (0.8, 0.5, 0.6)), tube([(0, 0, 0), (0, 1, 0.2)], [0.3, 0.2])], 0.1)
    body = mesh.fill(phi, BOX, 0.2)
    assert np.abs(phi(body.X[body.boundary()])).max() < 1e-9
    inner = np.setdiff1d(np.arange(len(body.X)), body.boundary())
    assert (phi(body.X[inner]) < 0).all()


def test_a_torus_keeps_its_hole():
    def torus(X):
        return np.hypot(np.hypot(X[:, 0], X[:, 1]) - 0.9, X[:, 2]) - 0.35

    body = mesh.fill(torus, BOX, 0.12)
    assert euler_characteristic(body.surface()) == 0
    assert body.measures().sum() == pytest.approx(2 * np.pi**2 * 0.9 * 0.35**2, rel=0.03)


def test_bodies_that_touch_in_a_point_are_separated():
    two = joined([ellipsoid((-0.5, 0, 0), (0.5, 0.5, 0.5)), ellipsoid((0.5, 0, 0), (0.5, 0.5, 0.5))], 1e-9)
    body = mesh.fill(two, BOX, 0.1)
    assert body.components()[0] == 1 and not non_manifold(body.T)


@pytest.mark.parametrize(
    ("phi", "spacing", "message"),
    [
        (lambda X: np.ones(len(X)), 0.3, "no lattice point is inside"),
        (lambda X: -np.ones(len(X)), 0.3, "the body reaches"),
        (lambda X: np.full(len(X), np.nan), 0.3, "not finite"),
        (lambda X: X, 0.3, "shape"),
        (lambda X: X[:, 0], -1.0, "spacing is -1.0"),
    ],
)
def test_bodies_that_cannot_be_filled_are_refused(phi, spacing, message):
    with pytest.raises(MeshError, match=message):
        mesh.fill(phi, BOX, spacing)
