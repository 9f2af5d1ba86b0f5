"""core/materials: every density against what is independent of its code.

Central differences of psi and P, the projected tangent against numpy's eigenvalues of the exact one, the rest tangent
against linear elasticity, rotation invariance; on mild, strongly compressed and (where allowed) inverted deformations.
"""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.materials import MATERIALS, Material

E, NU = 1e5, 0.4
AXIS = np.array([2.0, -1.0, 2.0]) / 3.0


def make(cls: Any) -> Any:
    """The material with modulus E, Poisson's ratio NU where it has one, and fibres along AXIS where it has them."""
    given = {"E": E, "nu": NU, "direction": AXIS}
    return cls(**{name: given[name] for name in cls.__dataclass_fields__ if name in given})


def rotations(rng: np.random.Generator, m: int) -> Array:
    """Random rotations (m, 3, 3)."""
    Q, R = np.linalg.qr(rng.normal(size=(m, 3, 3)))
    Q = Q * np.sign(np.diagonal(R, axis1=1, axis2=2))[:, None, :]
    return Q * np.sign(np.linalg.det(Q))[:, None, None]


def stretched(rng: np.random.Generator, stretches: Array) -> Array:
    """U diag(s) V^T (m, 3, 3) with random rotations."""
    U, V = rotations(rng, len(stretches)), rotations(rng, len(stretches))
    return np.einsum("mij,mj,mkj->mik", U, stretches, V)


def samples(material: Material, m: int = 30) -> Array:
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


def stress_error(material: Material, F: Array, h: float = 1e-6) -> float:
    """P against central differences of psi, relative to P or E."""
    P = vec(material.piola(F))
    D = np.eye(9).reshape(9, 3, 3).swapaxes(1, 2)
    difference = np.stack([(material.psi(F + h * d) - material.psi(F - h * d)) / (2 * h) for d in D], axis=1)
    return float((np.abs(difference - P).max(axis=1) / np.maximum(np.abs(P).max(axis=1), E)).max())


def tangent_error(material: Material, F: Array, h: float = 1e-6) -> float:
    """dP/dF against central differences of P, relative to it or E."""
    H = material.tangent(F)
    D = np.eye(9).reshape(9, 3, 3).swapaxes(1, 2)
    difference = np.stack([vec(material.piola(F + h * d) - material.piola(F - h * d)) / (2 * h) for d in D], axis=2)
    return float((np.abs(difference - H).max(axis=(1, 2)) / np.maximum(np.abs(H).max(axis=(1, 2)), E)).max())


def projection_error(material: Material, F: Array) -> tuple[float, float]:
    """The projected tangent against clamped eigenvalues of the exact one, and its least eigenvalue; both relative."""
    w, Q = np.linalg.eigh(material.tangent(F))
    brute = np.einsum("mij,mj,mkj->mik", Q, np.maximum(w, 0.0), Q)
    scale = np.maximum(np.abs(w).max(axis=1), E)
    projected = material.tangent(F, psd=True)
    error = (np.abs(projected - brute).max(axis=(1, 2)) / scale).max()
    return float(error), float((np.linalg.eigvalsh(projected)[:, 0] / scale).min())


def linear_tangent(nu: float) -> Array:
    """Tangent (9, 9) of isotropic linear elasticity."""
    mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    I = np.eye(3)
    C = mu * (np.einsum("ik,jl->ijkl", I, I) + np.einsum("il,jk->ijkl", I, I)) + lam * np.einsum("ij,kl->ijkl", I, I)
    return C.transpose(1, 0, 3, 2).reshape(9, 9)


def rest_errors(material: Any) -> tuple[float, float]:
    """P(I), and the rest tangent against linear elasticity (or E along the fibre), relative to E."""
    fibre = np.outer(AXIS, AXIS).ravel()
    along = hasattr(material, "direction")
    expected = E * np.outer(fibre, fibre) if along else linear_tangent(getattr(material, "nu", 0.0))
    rest = np.eye(3)[None]
    return float(np.abs(material.piola(rest)).max() / E), float(np.abs(material.tangent(rest)[0] - expected).max() / E)


def rotation_error(material: Material, F: Array) -> float:
    """psi(R F) = psi(F) and P(R F) = R P(F), relative."""
    R = rotations(np.random.default_rng(3), len(F))
    P, psi = material.piola(F), material.psi(F)
    energy = np.abs(material.psi(R @ F) - psi).max() / np.abs(psi).max()
    stress = np.abs(material.piola(R @ F) - R @ P).max(axis=(1, 2)) / np.maximum(np.abs(P).max(axis=(1, 2)), E)
    return float(max(energy, stress.max()))


def run(*, quick: bool = False) -> Table:
    rows, claims = [], []
    for cls in MATERIALS:
        material = make(cls)
        F = samples(material, 10 if quick else 100)
        projection, least = projection_error(material, F)
        rest, tangent = rest_errors(material)
        row = {
            "P - FD(psi)": (stress_error(material, F), 1e-7),
            "dP - FD(P)": (tangent_error(material, F), 1e-7),
            "projection - eigh": (projection, 1e-8),
            "least eigenvalue": (-least, 1e-12),
            "P(I)": (rest, 1e-10),
            "rest tangent": (tangent, 1e-8),
            "rotation": (rotation_error(material, F), 1e-11),
        }
        rows.append(
            {"material": cls.__name__, "samples": len(F)} | {name: f"{value:.1e}" for name, (value, _) in row.items()}
        )
        for name, (value, bound) in row.items():
            free = name == "rotation" and not material.rotation_invariant
            said = f"> {bound:.0e}" if free else f"<= {bound:.0e}"
            claims.append(Claim(f"{cls.__name__}: {name}", said, f"{value:.1e}", (value <= bound) != free))
    return Table("core/materials", "Densities against differences, eigenvalues and linear elasticity", rows, claims)
