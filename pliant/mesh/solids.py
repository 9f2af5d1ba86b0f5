"""Implicit building blocks: ellipsoids and tapered tubes as functions phi (negative inside), joined smoothly."""

import numpy as np
from numpy.typing import ArrayLike

from pliant.arrays import Array
from pliant.mesh.implicit import Implicit


def ellipsoid(center: ArrayLike, radii: ArrayLike) -> Implicit:
    """phi = (|p / r| - 1) min r, p from the center: at most the distance [m]."""
    c, r = np.asarray(center, dtype=np.float64), np.asarray(radii, dtype=np.float64)
    return lambda X: (np.linalg.norm((X - c) / r, axis=1) - 1) * r.min()


def tube(points: ArrayLike, radii: ArrayLike) -> Implicit:
    """Around the segments through ``points (k, 3)``, with radii (k,) that vary linearly in between."""
    P, r = np.asarray(points, dtype=np.float64), np.asarray(radii, dtype=np.float64)

    def phi(X: Array) -> Array:
        best = np.full(len(X), np.inf)
        for a, b, ra, rb in zip(P[:-1], P[1:], r[:-1], r[1:]):
            t = np.clip((X - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
            best = np.minimum(best, np.linalg.norm(X - a - t[:, None] * (b - a), axis=1) - ra - t * (rb - ra))
        return best

    return phi


def joined(solids: list[Implicit], blend: float) -> Implicit:
    """Union with fillets about ``blend`` [m] wide: the quadratic smooth minimum, one solid after the other."""

    def phi(X: Array) -> Array:
        value = solids[0](X)
        for solid in solids[1:]:
            other = solid(X)
            overlap = np.maximum(blend - np.abs(value - other), 0)
            value = np.minimum(value, other) - overlap**2 / (4 * blend)
        return value

    return phi
