"""Membrane and bending: finite differences, brute-force projection, closed forms."""

import re

import numpy as np
import pytest

import pliant as pl
from pliant.cloth.material import from_fabric
from pliant.energies.bending import QuadraticBending, hinges
from pliant.energies.membrane import MembraneEnergy, material_gradients
from pliant.errors import MaterialError, MeshError
from pliant.mesh import sheet


def grid(n: int, pitch: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Right-triangle grid of n x n cells."""
    X = pitch * np.stack(np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij"), axis=-1).reshape(-1, 2)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    a = i * (n + 1) + j
    b, c, d = a + n + 1, a + n + 2, a + 1
    return X, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


def lifted(X: np.ndarray, seed: int, amount: float) -> np.ndarray:
    x = np.column_stack([X, np.zeros(len(X))])
    return (x + amount * np.random.default_rng(seed).normal(size=x.shape)).ravel()


@pytest.mark.parametrize("amount", [0.05, 0.3])
def test_membrane_derivatives_match_finite_differences(amount: float) -> None:
    X, faces = grid(2)
    energy = MembraneEnergy(X, faces, E=3.0, nu=0.3)
    x = lifted(X, 1, amount)
    g, H, eps = energy.gradient(x), energy.hessian(x).toarray(), 1e-5
    steps = eps * np.eye(len(x))
    numeric = np.array([(energy.value(x + d) - energy.value(x - d)) / (2 * eps) for d in steps])
    columns = np.array([(energy.gradient(x + d) - energy.gradient(x - d)) / (2 * eps) for d in steps])
    assert np.allclose(g, numeric, atol=1e-8)
    assert np.allclose(H, columns, atol=1e-6)


def test_membrane_projection_is_that_of_the_density() -> None:
    X, faces = np.array([[0.0, 0], [1, 0], [0.2, 1]]), np.array([[0, 1, 2]])
    energy = MembraneEnergy(X, faces, E=2.0, nu=0.2)
    G = np.kron(energy.b[0].T, np.eye(3))  # (6, 9): x -> F by columns
    lift = np.linalg.pinv(G)
    for seed in range(10):
        x = 0.6 * lifted(X, seed, 0.3)  # compressed: twist and out-of-plane modes are negative
        w, Q = np.linalg.eigh(lift.T @ energy.hessian(x).toarray() @ lift)
        assert w[0] < 0
        expected = G.T @ (Q * np.maximum(w, 0)) @ Q.T @ G
        assert np.allclose(energy.hessian(x, psd=True).toarray(), expected, atol=1e-9)


def test_membrane_rest_is_stress_free_in_any_pose_and_uniaxial_tension_gives_young() -> None:
    X, faces = grid(3)
    energy = MembraneEnergy(X, faces, E=7.0, nu=0.0)
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))
    x = np.column_stack([X, np.zeros(len(X))]) @ Q.T
    assert np.abs(energy.gradient(x.ravel())).max() < 1e-12
    x = np.column_stack([1.01 * X[:, 0], X[:, 1], np.zeros(len(X))])
    pull = energy.gradient(x.ravel()).reshape(-1, 3)[X[:, 0] == 3.0, 0].sum()
    assert np.isclose(pull, 7.0 * 3.0 * 0.01, rtol=1e-12)  # E width strain


def test_three_dimensional_rest_gives_the_same_membrane() -> None:
    X, faces = grid(2)
    x = lifted(X, 3, 0.2)
    flat, spatial = (
        MembraneEnergy(X, faces, E=2, nu=0.1),
        MembraneEnergy(np.column_stack([X, X[:, 0]]), faces, E=2, nu=0.1),
    )
    same = MembraneEnergy(np.column_stack([X, np.zeros(len(X))]), faces, E=2, nu=0.1)
    assert np.isclose(flat.value(x), same.value(x)) and not np.isclose(flat.value(x), spatial.value(x))


def test_needle_triangles_stay_finite() -> None:
    X, faces = grid(1)
    energy = MembraneEnergy(X, faces, E=1, nu=0.3)
    for x in (np.zeros(12), np.repeat([[0.0, 0, 0], [1, 0, 0]], 2, axis=0).ravel()):
        assert np.isfinite(energy.gradient(x)).all() and np.isfinite(energy.hessian(x, psd=True).data).all()


def test_bending_rolled_grid_stores_three_quarters_beta_kappa_squared() -> None:
    a, kappa, beta = 0.01, 2.0, 0.3
    X, faces = grid(20, a)
    radius, half = 1 / kappa, np.arcsin(0.5 * a * kappa)  # chords keep their length: isometric
    phi = 2 * half * np.round(X[:, 0] / a)
    x = np.column_stack([radius * np.sin(phi), X[:, 1], radius * (1 - np.cos(phi))])
    energy = QuadraticBending(X, faces, beta=beta)
    rolled = 19 / 20 * (20 * a) ** 2  # hinges on the border do not exist
    assert np.isclose(energy.value(x.ravel()), 0.75 * beta * kappa**2 * rolled, rtol=2e-3)


def test_bending_is_the_hinge_energy_for_isometric_folds() -> None:
    X, faces = np.array([[0.0, 0], [1, 0], [0.3, 0.8], [0.6, -0.7]]), np.array([[0, 1, 2], [1, 0, 3]])
    energy = QuadraticBending(X, faces, beta=2.0)
    area = 0.5 * (0.8 + 0.7)
    for theta in (0.1, 1.0, 2.5):
        x = np.array([[0, 0, 0], [1, 0, 0], [0.3, 0.8, 0], [0.6, -0.7 * np.cos(theta), -0.7 * np.sin(theta)]])
        assert np.isclose(energy.value(x.ravel()), 3 * 2.0 / area * np.sin(theta / 2) ** 2)
        assert np.allclose(energy.hessian(x.ravel()) @ x.ravel(), energy.gradient(x.ravel()))


def test_bending_ignores_affine_motion_and_hinges_cover_interior_edges() -> None:
    X, faces = grid(4)
    energy = QuadraticBending(X, faces, beta=1.0)
    x = (X @ np.random.default_rng(4).normal(size=(2, 3)) + [1, 2, 3]).ravel()
    assert np.abs(energy.gradient(x)).max() < 1e-12
    assert len(hinges(faces)) == 4 * 4 + 2 * 4 * 3


def test_bad_input_is_refused_by_name() -> None:
    X, faces = grid(1)
    with pytest.raises(MaterialError, match="E = 0"):
        MembraneEnergy(X, faces, E=0, nu=0.1)
    with pytest.raises(MaterialError, match="nu = 0.5"):
        MembraneEnergy(X, faces, E=1, nu=0.5)
    with pytest.raises(MaterialError, match="beta"):
        QuadraticBending(X, faces, beta=-1)
    with pytest.raises(MeshError, match="triangle 0"):
        material_gradients(np.array([[0.0, 0], [1, 0], [2, 0]]), np.array([[0, 1, 2]]))


@pytest.mark.parametrize("nu", [0.0, 0.3, 0.45, -0.2])
def test_a_strip_of_a_homogeneous_fabric_has_its_modulus_and_its_contraction(nu: float) -> None:
    """Stretched by e and narrowed by nu e, its sides are free, and its ends pull with E t W e: plane stress."""
    E, t, e, W, L = 1e6, 1e-3, 0.01, 0.2, 1.0
    fabric = from_fabric(E, nu, 1000.0, t)
    strip = sheet((L, W), (5, 2))
    membrane = MembraneEnergy(strip.X, strip.T, E=fabric.E, nu=fabric.nu)
    f = membrane.gradient((strip.X * (1 + e, 1 - nu * e, 1.0)).ravel()).reshape(-1, 3)
    end = strip.X[:, 0] > L - 1e-9
    assert np.isclose(f[end, 0].sum(), E * t * W * e, rtol=1e-9)
    assert np.abs(f[:, 1]).max() < 1e-9 * E * t * W * e


def test_a_strip_of_a_measured_fabric_has_the_measured_modulus() -> None:
    """Swimwear: its measured stiffness (c11, c12, c22) inverted, the mean of both directions, and a ratio of 0.096."""
    C = np.array([[47.971, 6.835], [6.835, 104.615]])
    E, nu, e = np.mean(1 / np.diag(np.linalg.inv(C))), 6.835 / np.sqrt(47.971 * 104.615), 1e-3
    fabric = pl.fabric("swimwear")
    strip = sheet((1.0, 0.2), (5, 2))
    membrane = MembraneEnergy(strip.X, strip.T, E=fabric.E, nu=fabric.nu)
    f = membrane.gradient((strip.X * (1 + e, 1 - nu * e, 1.0)).ravel()).reshape(-1, 3)
    assert np.isclose(f[strip.X[:, 0] > 1 - 1e-9, 0].sum(), E * 0.2 * e, rtol=1e-9)
    assert np.abs(f[:, 1]).max() < 1e-9 * E * 0.2 * e


def test_a_ratio_that_no_sheet_has_is_refused_by_name() -> None:
    for nu in (-1.0, -0.5, 0.5, 1.0):
        with pytest.raises(MaterialError, match=re.escape(f"nu = {nu}")):
            from_fabric(1e6, nu, 1000.0, 1e-3)
