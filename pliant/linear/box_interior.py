"""An interior point method for programmes with bounds, min 1/2 x^T H x - g^T x, lo <= x <= hi.

Mehrotra's predictor-corrector method. s (2, n) are the slacks of the lower and upper bounds, z their multipliers, and
``on`` (2, n) is 1 where there is a bound; the entries of other bounds are inert. A step solves

    (H + diag(z_1/s_1 + z_2/s_2)) dx = t_1 - t_2 - (H x - g - z_1 + z_2)     with  t = (center - correction) / s - z

and has ds = (dx, -dx), dz = t - z ds / s.
"""

import numpy as np
from numba import njit

from pliant.arrays import Array
from pliant.linear.box_matrix import BoxMatrix, shifted_solve

TOLERANCE = 1e-9  # on the residual, by the largest entry of g, and on the gap, by the terms of g^T x
MOST = 40  # iterations
INSIDE = 0.2  # of the way to the middle: where it begins, away from the bounds


def interior_point(A: BoxMatrix, g: Array, lo: Array, hi: Array, x: Array) -> tuple[Array, int]:
    """(x, iterations) from the guess x, pulled in from the bounds; variables with lo = hi stay there."""
    move, scale = hi > lo, A.diagonal + 1e-300
    size = float(np.abs(g).max()) + 1e-300
    x, s, z, on = _begin(A, g, (lo, hi), x, size)
    count, none = max(float(on.sum()), 1.0), np.zeros_like(s)
    for k in range(MOST):
        residual = np.where(move, A.multiply(x) - g - z[0] + z[1], 0.0)
        gap = _complementarity(s, z, none, none, 0.0, on) / count
        if np.abs(residual).max() <= TOLERANCE * size and gap * count <= TOLERANCE * (np.abs(g) @ np.abs(x)):
            return np.clip(x, lo, hi), k
        solve = shifted_solve(A, move, (z / s).sum(axis=0) + 1e-14 * scale.max())
        dx = solve(_right(s, z, 0.0, none, on, residual))
        ds, dz, length = _changes(s, z, 0.0, none, on, dx)
        after = _complementarity(s, z, ds, dz, length, on) / count
        center, correction = gap * (after / gap) ** 3 if gap > 0.0 else 0.0, ds * dz
        dx = solve(_right(s, z, center, correction, on, residual))
        ds, dz, length = _changes(s, z, center, correction, on, dx)
        x, s, z = x + length * dx, s + length * ds, z + length * dz
    return np.clip(x, lo, hi), MOST


def _begin(
    A: BoxMatrix, g: Array, bounds: tuple[Array, Array], x: Array, size: float
) -> tuple[Array, Array, Array, Array]:
    """(x, s, z, on) to begin with: multipliers are those of the gradient, and not smaller than their mean suggests."""
    lo, hi = bounds
    move = hi > lo
    below, above = np.isfinite(lo) & move, np.isfinite(hi) & move
    on = np.stack([below, above]).astype(float)
    both = below & above
    room = np.where(both, 0.5 * np.where(both, hi - lo, 0.0), size / (A.diagonal + 1e-300))
    inside = np.where(above, np.minimum(x, hi - INSIDE * room), x)
    x = np.where(move, np.where(below, np.maximum(inside, lo + INSIDE * room), inside), lo)
    s = np.stack([np.where(below, x - lo, 1.0), np.where(above, hi - x, 1.0)])
    r = A.multiply(x) - g
    z = on * np.maximum(np.stack([r, -r]), 0.0)
    mean = float((z * s).sum()) / max(float(on.sum()), 1.0)
    return x, s, on * np.maximum(z, (mean + 1e-8 * size * float(np.median(room))) / s), on


@njit(cache=True, error_model="numpy")
def _complementarity(s: Array, z: Array, ds: Array, dz: Array, length: float, on: Array) -> float:
    """sum (s + length ds) (z + length dz) over all bounds."""
    total = 0.0
    for b in range(2):
        for i in range(s.shape[1]):
            total += on[b, i] * (z[b, i] + length * dz[b, i]) * (s[b, i] + length * ds[b, i])
    return total


@njit(cache=True, error_model="numpy")
def _right(s: Array, z: Array, center: float, correction: Array, on: Array, residual: Array) -> Array:
    """The right-hand side t_1 - t_2 - residual."""
    out = -residual
    for i in range(len(out)):
        out[i] += on[0, i] * ((center - correction[0, i]) / s[0, i] - z[0, i])
        out[i] -= on[1, i] * ((center - correction[1, i]) / s[1, i] - z[1, i])
    return out


@njit(cache=True, error_model="numpy")
def _changes(s: Array, z: Array, center: float, correction: Array, on: Array, dx: Array) -> tuple[Array, Array, float]:
    """ds, dz, and how much of them, at most 1, keeps s and z positive."""
    ds, dz, shortest = np.empty_like(s), np.empty_like(s), np.inf
    for b in range(2):
        sign = 1.0 - 2.0 * b
        for i in range(s.shape[1]):
            d = on[b, i] * sign * dx[i]
            e = on[b, i] * ((center - correction[b, i]) / s[b, i] - z[b, i] - z[b, i] * d / s[b, i])
            ds[b, i], dz[b, i] = d, e
            if d < 0.0:
                shortest = min(shortest, -s[b, i] / d)
            if e < 0.0:
                shortest = min(shortest, -z[b, i] / e)
    return ds, dz, min(1.0, 0.995 * shortest)
