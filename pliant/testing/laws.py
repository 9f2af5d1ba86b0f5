"""The densities and springs of `pliant.testing.audit` in plain NumPy: psi and P = dpsi/dF as the papers print them."""

from typing import Any

import numpy as np

import pliant as pl
from pliant.arrays import Array, IntArray


def lame(E: float, nu: float) -> tuple[float, float]:
    return E / (2.0 * (1.0 + nu)), E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))


def density(material: Any, F: Array) -> tuple[Array, Array, Array]:
    """psi (m,), P (m, 3, 3), and the size (m,) of the numbers that psi is a difference of, for F (m, 3, 3)."""
    mu, lam = lame(float(material.E), float(material.nu))
    I, C = np.eye(3), np.swapaxes(F, 1, 2) @ F
    J, IC = np.linalg.det(F), np.trace(C, axis1=1, axis2=2)
    over = lambda s: np.reshape(s, (-1, 1, 1))
    if isinstance(material, pl.StableNeoHookean | pl.StableNeoHookeanLog):
        log = isinstance(material, pl.StableNeoHookeanLog)
        mu, lam = (4.0 / 3.0 * mu, lam + 5.0 / 6.0 * mu) if log else (mu, lam + mu)
        alpha = 1.0 + (0.75 if log else 1.0) * mu / lam
        psi = 0.5 * (mu * (IC - 3.0) + lam * ((J - alpha) ** 2 - (1.0 - alpha) ** 2))
        psi -= 0.5 * mu * np.log(0.25 * (IC + 1.0)) if log else 0.0
        P = over(mu * (1.0 - (1.0 / (IC + 1.0) if log else 0.0))) * F + over(lam * (J - alpha)) * cofactor(F)
        return psi, P, mu * (IC + 3.0) + lam * ((J - alpha) ** 2 + (1.0 - alpha) ** 2)
    if isinstance(material, pl.NeoHookean):
        log = np.log(np.maximum(J, 1e-300))
        psi = 0.5 * mu * (IC - 3.0) - mu * log + 0.5 * lam * log**2
        turned = cofactor(F) / over(J)
        return psi, mu * (F - turned) + over(lam * log) * turned, mu * (IC + 3.0) + mu * np.abs(log) + lam * log**2
    if isinstance(material, pl.Corotational):
        U, s, V = np.linalg.svd(F)
        flip = np.sign(np.linalg.det(U @ V))
        s[:, 2] *= flip
        U[:, :, 2] *= flip[:, None]
        psi = mu * ((s - 1.0) ** 2).sum(axis=1) + 0.5 * lam * (s.sum(axis=1) - 3.0) ** 2
        R = U @ V
        return psi, 2.0 * mu * (F - R) + over(lam * (s.sum(axis=1) - 3.0)) * R, (mu + lam) * (IC + 9.0)
    if isinstance(material, pl.StVK):
        G = 0.5 * (C - I)
        tr = np.trace(G, axis1=1, axis2=2)
        psi = mu * (G**2).sum(axis=(1, 2)) + 0.5 * lam * tr**2
        return psi, F @ (2.0 * mu * G + over(lam * tr) * I), (mu + lam) * (IC**2 + 9.0)
    e = 0.5 * (F + np.swapaxes(F, 1, 2)) - I
    tr = np.trace(e, axis1=1, axis2=2)
    psi = mu * (e**2).sum(axis=(1, 2)) + 0.5 * lam * tr**2
    return psi, 2.0 * mu * e + over(lam * tr) * I, (mu + lam) * (IC + 9.0)


def cofactor(F: Array) -> Array:
    """dJ/dF (m, 3, 3): columns are cross products of the others."""
    a, b, c = F[:, :, 0], F[:, :, 1], F[:, :, 2]
    return np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=2)


Found = tuple[
    Array, Array, Array, Array
]  # energies (m,), their sizes (m,), forces on nodes (m, k, 3), their sizes (m,)


def of_elements(T: IntArray, inverse: Array, volume: Array, material: Any, x: Array) -> Found:
    """Energies and forces of tetrahedra at positions x, and the sizes of the numbers that these are differences of."""
    F = np.moveaxis(x[T[:, 1:]] - x[T[:, :1]], 1, 2) @ inverse
    psi, P, size = density(material, F)
    f = -volume[:, None, None] * np.swapaxes(P @ np.swapaxes(inverse, 1, 2), 1, 2)
    steep = np.abs(inverse).max(axis=(1, 2))
    rough = volume * size * steep * (1.0 + steep * np.abs(x).max())  # N: also by the rounding of positions
    return volume * psi, volume * size, np.concatenate([-f.sum(axis=1, keepdims=True), f], axis=1), rough


def of_springs(edges: IntArray, rest: Array, k: float, x: Array) -> Found:
    """The same of springs, W = k/2 (L - l)^2."""
    s = x[edges[:, 0]] - x[edges[:, 1]]
    L = np.linalg.norm(s, axis=1)
    pull = (-k * (L - rest) / np.maximum(L, 1e-300))[:, None] * s
    return (
        0.5 * k * (L - rest) ** 2,
        0.5 * k * (L**2 + rest**2),
        np.stack([pull, -pull], axis=1),
        k * np.abs(x).max() + 0 * L,
    )
