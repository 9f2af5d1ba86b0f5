"""Checks of materials: a density against what is independent of its code.

Central differences of psi and P, the projected tangent against NumPy's eigenvalues of the exact one, rest, rotations;
on mild, strongly compressed and (where allowed) inverted deformations.
"""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.materials.base import summands

EPS = 1e-6


def check_material(material: Any, *, m: int = 30) -> None:
    """A material: stress, tangent, projection, rest, rotations, degenerate deformations."""
    name, F, E = type(material).__name__, samples(material, m), scale(material)
    error = stress_error(material, F)
    assert error <= 1e-7, f"{name}: P is not dpsi/dF, error {error:.2g}"
    error = tangent_error(material, F)
    assert error <= 1e-7, f"{name}: the tangent is not dP/dF, error {error:.2g}"
    H = material.tangent(F)
    assert np.abs(H - H.swapaxes(1, 2)).max() <= 1e-13 * np.abs(H).max(), f"{name}: the tangent is not symmetric"
    error, least = projection_error(material, F)
    nearest = error <= 1e-8 or len(summands(material)) > 1  # sums project their parts one by one
    assert nearest, f"{name}: tangent(psd=True) is not the nearest semidefinite matrix, error {error:.2g}"
    assert least >= -1e-12, f"{name}: tangent(psd=True) has the eigenvalue {least:.2g} of its size"
    rest = np.eye(3)[None]
    assert abs(material.psi(rest)[0]) <= 1e-12 * E, f"{name}: psi(I) = {material.psi(rest)[0]:.3g}"
    assert np.abs(material.piola(rest)).max() <= 1e-11 * E, f"{name}: stress at rest"
    error = rotation_error(material, F)
    says = "is" if material.rotation_invariant else "is not"
    assert (error <= 1e-11) == material.rotation_invariant, f"{name} says it {says} rotation invariant: {error:.2g}"
    check_degenerate(material)


def check_degenerate(material: Any) -> None:
    """Equal, vanishing and (where allowed) negative stretches give finite numbers."""
    rng = np.random.default_rng(11)
    s: list[list[float]] = [[1, 1, 1], [2, 2, 2], [1.5, 1, 1], [1, 1, 0.5], [1e-3, 1e-3, 1e-3]]
    if material.allows_inversion:
        s += [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, -1], [-1, -1, -1], [1, 1e-9, -1e-9], [1e-8, 1e-8, 1e-8]]
    F = np.concatenate([np.array([np.diag(row) for row in s], dtype=float), stretched(rng, np.array(s, dtype=float))])
    found = {"psi": material.psi(F), "piola": material.piola(F), "tangent": material.tangent(F)}
    found["projected tangent"] = material.tangent(F, psd=True)
    for what, value in found.items():
        finite = np.isfinite(value).reshape(len(F), -1).all(axis=1)
        where = F[np.argmin(finite)].tolist()
        assert finite.all(), f"{type(material).__name__}: {what} is not finite at F = {where}"


def check_rest_tangent(material: Any, expected: Array) -> None:
    """The tangent at rest against that of linear elasticity (`linear_tangent`), or another (9, 9)."""
    error = float(np.abs(material.tangent(np.eye(3)[None])[0] - expected).max()) / scale(material)
    assert error <= 1e-8, f"{type(material).__name__}: the tangent at rest differs by {error:.2g} of E"


def scale(material: Any) -> float:
    """Young's modulus [Pa], what errors are compared with."""
    return float(np.mean(material.young()))


def rotations(rng: np.random.Generator, m: int) -> Array:
    """Random rotations (m, 3, 3)."""
    Q, R = np.linalg.qr(rng.normal(size=(m, 3, 3)))
    Q = Q * np.sign(np.diagonal(R, axis1=1, axis2=2))[:, None, :]
    return Q * np.sign(np.linalg.det(Q))[:, None, None]


def stretched(rng: np.random.Generator, stretches: Array) -> Array:
    """U diag(s) V^T (m, 3, 3) with random rotations."""
    U, V = rotations(rng, len(stretches)), rotations(rng, len(stretches))
    return np.einsum("mij,mj,mkj->mik", U, stretches, V)


def samples(material: Any, m: int = 30) -> Array:
    """Mild, strongly compressed and (where allowed) inverted deformation gradients."""
    rng = np.random.default_rng(7)
    sets = [np.eye(3) + 0.15 * rng.normal(size=(m, 3, 3)), stretched(rng, rng.uniform(0.15, 0.6, size=(m, 3)))]
    if material.allows_inversion:
        sets.append(stretched(rng, np.array([1.4, 0.9, -0.4]) + rng.uniform(-0.15, 0.15, size=(m, 3))))
    F = np.concatenate(sets)
    return F if material.allows_inversion else F[np.linalg.det(F) > 0.02]


def vec(A: Array) -> Array:
    """Columns stacked: (m, 3, 3) -> (m, 9)."""
    return np.swapaxes(A, 1, 2).reshape(len(A), 9)


def stress_error(material: Any, F: Array, h: float = EPS) -> float:
    """P against central differences of psi, relative to P or E."""
    P = vec(material.piola(F))
    D = np.eye(9).reshape(9, 3, 3).swapaxes(1, 2)
    difference = np.stack([(material.psi(F + h * d) - material.psi(F - h * d)) / (2 * h) for d in D], axis=1)
    return float((np.abs(difference - P).max(axis=1) / np.maximum(np.abs(P).max(axis=1), scale(material))).max())


def tangent_error(material: Any, F: Array, h: float = EPS) -> float:
    """dP/dF against central differences of P, relative to it or E."""
    H = material.tangent(F)
    D = np.eye(9).reshape(9, 3, 3).swapaxes(1, 2)
    difference = np.stack([vec(material.piola(F + h * d) - material.piola(F - h * d)) / (2 * h) for d in D], axis=2)
    size = np.maximum(np.abs(H).max(axis=(1, 2)), scale(material))
    return float((np.abs(difference - H).max(axis=(1, 2)) / size).max())


def projection_error(material: Any, F: Array) -> tuple[float, float]:
    """The projected tangent against clamped eigenvalues of the exact one, and its least eigenvalue; both relative."""
    w, Q = np.linalg.eigh(material.tangent(F))
    brute = np.einsum("mij,mj,mkj->mik", Q, np.maximum(w, 0.0), Q)
    size = np.maximum(np.abs(w).max(axis=1), scale(material))
    projected = material.tangent(F, psd=True)
    error = (np.abs(projected - brute).max(axis=(1, 2)) / size).max()
    return float(error), float((np.linalg.eigvalsh(projected)[:, 0] / size).min())


def linear_tangent(E: float, nu: float) -> Array:
    """Tangent (9, 9) of isotropic linear elasticity."""
    mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    I = np.eye(3)
    C = mu * (np.einsum("ik,jl->ijkl", I, I) + np.einsum("il,jk->ijkl", I, I)) + lam * np.einsum("ij,kl->ijkl", I, I)
    return C.transpose(1, 0, 3, 2).reshape(9, 9)


def rotation_error(material: Any, F: Array) -> float:
    """psi(R F) = psi(F) and P(R F) = R P(F), relative."""
    R = rotations(np.random.default_rng(3), len(F))
    P, psi = material.piola(F), material.psi(F)
    energy = np.abs(material.psi(R @ F) - psi).max() / np.abs(psi).max()
    size = np.maximum(np.abs(P).max(axis=(1, 2)), scale(material))
    stress = np.abs(material.piola(R @ F) - R @ P).max(axis=(1, 2)) / size
    return float(max(energy, stress.max()))
