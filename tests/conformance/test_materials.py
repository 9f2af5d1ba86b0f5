"""Every exported material against what is independent of its code: differences, eigenvalues, linear elasticity."""

from pathlib import Path

import numpy as np
import pytest

import pliant.materials
from pliant.materials import MATERIALS, AnisotropicStVK, Linear, NeoHookean, StableNeoHookean

E, NU = 1e5, 0.4
AXIS = np.array([2.0, -1.0, 2.0]) / 3.0


def make(cls):
    """The material with everything switched on."""
    fields = cls.__dataclass_fields__
    values = {"E": E}
    if "nu" in fields:
        values["nu"] = NU
    if "direction" in fields:
        values["direction"] = AXIS
    return cls(**values)


def rotations(rng, m):
    Q, R = np.linalg.qr(rng.normal(size=(m, 3, 3)))
    Q *= np.sign(np.diagonal(R, axis1=1, axis2=2))[:, None, :]
    return Q * np.sign(np.linalg.det(Q))[:, None, None]


def stretched(rng, stretches):
    """U diag(s) V^T with random rotations."""
    U, V = rotations(rng, len(stretches)), rotations(rng, len(stretches))
    return np.einsum("mij,mj,mkj->mik", U, stretches, V)


def samples(material, m=30):
    """Mild, strongly compressed and (where allowed) inverted deformation gradients."""
    rng = np.random.default_rng(7)
    mild = np.eye(3) + 0.15 * rng.normal(size=(m, 3, 3))
    compressed = stretched(rng, rng.uniform(0.15, 0.6, size=(m, 3)))
    sets = [mild, compressed]
    if material.allows_inversion:
        spread = rng.uniform(-0.15, 0.15, size=(m, 3))
        sets.append(stretched(rng, np.array([1.4, 0.9, -0.4]) + spread))
    F = np.concatenate(sets)
    return F if material.allows_inversion else F[np.linalg.det(F) > 0.02]


def vec(A):
    return np.swapaxes(A, 1, 2).reshape(len(A), 9)


def linear_tangent(nu):
    mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    I = np.eye(3)
    C = mu * (np.einsum("ik,jl->ijkl", I, I) + np.einsum("il,jk->ijkl", I, I)) + lam * np.einsum("ij,kl->ijkl", I, I)
    return C.transpose(1, 0, 3, 2).reshape(9, 9)  # vec stacks columns


@pytest.fixture(params=MATERIALS, ids=lambda cls: cls.__name__)
def material(request):
    return make(request.param)


def test_every_file_is_exported():
    files = {path.stem for path in Path(pliant.materials.__file__).parent.glob("*.py")} - {"__init__", "base"}
    assert files == {cls.__module__.rsplit(".", 1)[1] for cls in MATERIALS}


def test_stress_is_the_derivative_of_the_density(material):
    F = samples(material)
    P = material.piola(F)
    h = 1e-6
    D = np.eye(9).reshape(9, 3, 3)
    difference = np.stack([(material.psi(F + h * d) - material.psi(F - h * d)) / (2 * h) for d in D], axis=1)
    error = np.abs(difference - P.reshape(-1, 9)).max(axis=1) / np.maximum(np.abs(P).max(axis=(1, 2)), E)
    assert error.max() <= 1e-7


def test_tangent_is_the_derivative_of_the_stress(material):
    F = samples(material)
    H = material.tangent(F)
    h = 1e-6
    D = np.eye(9).reshape(9, 3, 3).swapaxes(1, 2)  # in the order of vec
    difference = np.stack([vec(material.piola(F + h * d) - material.piola(F - h * d)) / (2 * h) for d in D], axis=2)
    scale = np.maximum(np.abs(H).max(axis=(1, 2)), E)
    assert (np.abs(difference - H).max(axis=(1, 2)) / scale).max() <= 1e-7
    assert (np.abs(H - H.swapaxes(1, 2)).max(axis=(1, 2)) / scale).max() <= 1e-13


def test_projection_is_the_nearest_semidefinite_tangent(material):
    F = samples(material)
    w, Q = np.linalg.eigh(material.tangent(F))
    brute = np.einsum("mij,mj,mkj->mik", Q, np.maximum(w, 0.0), Q)
    scale = np.maximum(np.abs(w).max(axis=1), E)
    projected = material.tangent(F, psd=True)
    assert (np.abs(projected - brute).max(axis=(1, 2)) / scale).max() <= 1e-8
    assert (np.linalg.eigvalsh(projected)[:, 0] / scale).min() >= -1e-12


def test_rest_is_stress_free_and_linear_elastic(material):
    rest = np.eye(3)[None]
    assert abs(material.psi(rest)[0]) <= 1e-12 * E
    assert np.abs(material.piola(rest)).max() <= 1e-11 * E
    if hasattr(material, "direction"):
        fibre = np.outer(AXIS, AXIS).ravel()
        expected = E * np.outer(fibre, fibre)
    else:
        expected = linear_tangent(getattr(material, "nu", 0.0))
    assert np.abs(material.tangent(rest)[0] - expected).max() <= 1e-8 * E


def test_rotation_invariance_is_as_declared(material):
    F = samples(material)
    R = rotations(np.random.default_rng(3), len(F))
    P = material.piola(F)
    turned = material.piola(R @ F)
    energy = np.abs(material.psi(R @ F) - material.psi(F)).max() / np.abs(material.psi(F)).max()
    error = np.abs(turned - R @ P).max(axis=(1, 2)) / np.maximum(np.abs(P).max(axis=(1, 2)), E)
    assert (max(energy, error.max()) <= 1e-11) == material.rotation_invariant


def test_degenerate_deformations_stay_finite(material):
    rng = np.random.default_rng(11)
    s = [[1, 1, 1], [2, 2, 2], [1.5, 1, 1], [1, 1, 0.5], [1e-3, 1e-3, 1e-3]]
    if material.allows_inversion:
        s += [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, -1], [-1, -1, -1], [1, 1e-9, -1e-9], [1e-8, 1e-8, 1e-8]]
    F = np.concatenate([np.array([np.diag(row) for row in s], dtype=float), stretched(rng, np.array(s, dtype=float))])
    for value in (material.psi(F), material.piola(F), material.tangent(F), material.tangent(F, psd=True)):
        assert np.isfinite(value).all()


def test_linear_is_the_only_one_that_sees_rotations():
    assert [cls for cls in MATERIALS if not cls.rotation_invariant] == [Linear]


def test_neo_hookean_is_infinite_when_inverted():
    F = np.stack([np.diag([1.0, 1.0, -1.0]), np.diag([1.0, 1.0, 0.0]), np.eye(3)])
    assert np.isposinf(NeoHookean().psi(F)[:2]).all()
    assert NeoHookean().psi(F)[2] == 0.0


def test_sum_of_materials_adds_everything():
    body, fibre = StableNeoHookean(E, NU), AnisotropicStVK(AXIS, E)
    both = body + fibre
    F = samples(both)
    for name in ("psi", "piola", "tangent"):
        expected = getattr(body, name)(F) + getattr(fibre, name)(F)
        assert np.allclose(getattr(both, name)(F), expected, rtol=1e-14, atol=1e-8)
    assert len((both + fibre).materials) == 3
