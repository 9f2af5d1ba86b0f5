"""Uniform cubic B-splines: the four blending polynomials on [0, 1] and their cumulative sums."""

import numpy as np

from pliant.arrays import Array

BLEND = np.array([[1, -3, 3, -1], [4, 0, -6, 3], [1, 3, 3, -3], [0, 0, 0, 1]]) / 6.0  # rows: weights, columns: powers
CUMULATIVE = np.cumsum(BLEND[::-1], axis=0)[::-1]  # row i: sum of the weights i, i+1, ..., 3


def powers(u: Array, derivative: int) -> Array:
    """d^k/du^k of (1, u, u^2, u^3) (..., 4)."""
    one, zero = np.ones_like(u), np.zeros_like(u)
    rows = (
        (one, u, u * u, u * u * u),
        (zero, one, 2.0 * u, 3.0 * u * u),
        (zero, zero, 2.0 * one, 6.0 * u),
    )
    return np.stack(rows[derivative], axis=-1)


def blend(u: Array, derivative: int = 0) -> Array:
    """The four weights (..., 4) at u in [0, 1], or their derivatives."""
    return powers(u, derivative) @ BLEND.T


def cumulative(u: Array, derivative: int = 0) -> Array:
    """The cumulative weights (..., 4); the first is identically one."""
    return powers(u, derivative) @ CUMULATIVE.T
