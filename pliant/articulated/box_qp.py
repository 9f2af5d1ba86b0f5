"""Quadratic programmes with bounds, min 1/2 x^T H x - g^T x, lo <= x <= hi: contact and friction of SP and BISP.

H = T M^-1 T^T is only semidefinite (eight tangents, one direction to slip), so methods must accept that.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.linalg
from numba import njit

from pliant.arrays import Array
from pliant.linear.qp import solve_qp


class BoxSolution(NamedTuple):
    """The minimiser, and whether its optimality conditions hold."""

    x: Array
    converged: bool
    iterations: int


class BoxSolver(Protocol):
    """A choice of method, as a frozen dataclass."""

    def solve(self, H: Array, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution: ...


@dataclass(frozen=True)
class ProjectedNewton:
    """Alternate a projected Gauss-Seidel sweep, which finds the active bounds, with Newton on the free variables.

    Once the active bounds are right one Newton step is exact [More1991]. When they keep changing for ``patience``
    rounds (many nearly equivalent contacts), an interior point method finds the neighbourhood to start again from.
    """

    tolerance: float = 1e-10  # on the projected gradient, relative to its terms
    accepted: float = 1e-7  # the same, still called converged when no progress is possible any more
    shift: float = 1e-12  # of the diagonal, relative: makes semidefinite H solvable
    patience: int = 4

    def solve(self, H: Array, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution:
        if len(x) == 0:
            return BoxSolution(x, True, 0)
        first = self._rounds(H, g, lo, hi, np.clip(x, lo, hi))
        if first.converged:
            return first
        second = self._rounds(H, g, lo, hi, _interior(H, g, lo, hi))
        error = _projected_gradient(H @ second.x - g, second.x, lo, hi) / (float(np.abs(g).max()) + 1e-300)
        return BoxSolution(second.x, error <= self.accepted, first.iterations + second.iterations)

    def _rounds(self, H: Array, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution:
        size = float(np.abs(g).max()) + 1e-300
        shift = self.shift * float(np.diag(H).max()) + 1e-300
        best, error = x, np.inf
        for k in range(self.patience):
            r = H @ x - g
            now = _projected_gradient(r, x, lo, hi)
            if now < error:
                best, error = x.copy(), now
            if error <= self.tolerance * size:
                return BoxSolution(best, True, k)
            _sweep(H, g, lo, hi, x)
            r = H @ x - g
            free = np.flatnonzero((x > lo) & (x < hi))
            if len(free):
                A = H[np.ix_(free, free)]
                A[np.diag_indices(len(free))] += shift
                d = np.zeros_like(x)
                factor = scipy.linalg.cho_factor(A, overwrite_a=True, check_finite=False)
                d[free] = -scipy.linalg.cho_solve(factor, r[free], check_finite=False)
                x = _search(H, r, x, d, lo, hi)
        return BoxSolution(best, False, self.patience)


def _projected_gradient(r: Array, x: Array, lo: Array, hi: Array) -> float:
    """Largest entry of the gradient r that does not push against a bound."""
    held = ((x <= lo) & (r >= 0.0)) | ((x >= hi) & (r <= 0.0))
    return float(np.abs(np.where(held, 0.0, r)).max())


def _interior(H: Array, g: Array, lo: Array, hi: Array) -> Array:
    """A point near the solution by an interior point method; variables with lo = hi stay there."""
    x = np.where(np.isfinite(lo), lo, np.where(np.isfinite(hi), hi, 0.0))
    move = np.flatnonzero(hi > lo)
    if len(move):
        rest = g - H @ np.where(hi > lo, 0.0, x)
        x[move] = _predictor_corrector(H[np.ix_(move, move)], rest[move], lo[move], hi[move])
    return x


@njit(cache=True, error_model="numpy")
def _substitute(L: Array, b: Array) -> Array:
    """(L L^T)^-1 b."""
    n = len(b)
    x = b.copy()
    for i in range(n):
        x[i] = (x[i] - np.dot(L[i, :i], x[:i])) / L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] /= L[i, i]
        for j in range(i):
            x[j] -= L[i, j] * x[i]
    return x


@njit(cache=True, error_model="numpy")
def _predictor_corrector(H: Array, g: Array, lo: Array, hi: Array) -> Array:
    """Mehrotra's method for lo < x < hi; s are the slacks, z the multipliers of the 2n bounds (infinite ones inert)."""
    n = len(g)
    size, top = np.abs(g).max() + 1e-300, np.diag(H).max()
    x = np.zeros(n)
    s, z, on = np.ones((2, n)), np.zeros((2, n)), np.zeros((2, n))
    for i in range(n):
        below, above = np.isfinite(lo[i]), np.isfinite(hi[i])
        room = 0.5 * (hi[i] - lo[i]) if below and above else size / top
        x[i] = lo[i] + room if below else (hi[i] - room if above else 0.0)
        if below:
            on[0, i], s[0, i], z[0, i] = 1.0, x[i] - lo[i], size
        if above:
            on[1, i], s[1, i], z[1, i] = 1.0, hi[i] - x[i], size
    count = max(on.sum(), 1.0)
    ds, dz, dx = np.zeros((2, n)), np.zeros((2, n)), np.zeros(n)
    for _ in range(40):
        residual = H @ x - g - z[0] + z[1]
        gap = (z * s * on).sum() / count
        if max(np.abs(residual).max(), np.sqrt(gap * top)) <= 1e-8 * size:
            break
        A = H.copy()
        for i in range(n):
            A[i, i] += z[0, i] / s[0, i] + z[1, i] / s[1, i] + 1e-14 * top
        L = np.linalg.cholesky(A)
        centre, length = 0.0, 1.0
        correction = np.zeros((2, n))
        for stage in range(2):
            t = on * ((centre - correction) / s - z)
            dx = _substitute(L, t[0] - t[1] - residual)  # type: ignore[arg-type]
            ds[0], ds[1] = on[0] * dx, -on[1] * dx
            dz = t - on * z * ds / s
            length = 1.0
            for k in range(2):
                for i in range(n):
                    if ds[k, i] < 0.0:
                        length = min(length, -0.995 * s[k, i] / ds[k, i])
                    if dz[k, i] < 0.0:
                        length = min(length, -0.995 * z[k, i] / dz[k, i])
            if stage == 0:
                after = ((z + length * dz) * (s + length * ds) * on).sum() / count
                centre = gap * (after / gap) ** 3 if gap > 0.0 else 0.0
                correction = ds * dz
        x = x + length * dx
        s = s + length * ds
        z = z + length * dz
    return np.minimum(np.maximum(x, lo), hi)


@njit(cache=True, error_model="numpy")
def _sweep(H: Array, g: Array, lo: Array, hi: Array, x: Array) -> None:
    """One projected Gauss-Seidel sweep, in place."""
    for i in range(len(x)):
        if H[i, i] > 0.0:
            r = -g[i]
            for j in range(len(x)):
                r += H[i, j] * x[j]
            x[i] = min(max(x[i] - r / H[i, i], lo[i]), hi[i])


def _search(H: Array, r: Array, x: Array, d: Array, lo: Array, hi: Array) -> Array:
    """Along the descent direction d: the projected full step if it decreases enough, else up to the first bound."""
    y = np.clip(x + d, lo, hi)
    e = y - x
    slope = float(r @ e)
    if slope < 0.0 and slope + 0.5 * float(e @ (H @ e)) <= 1e-4 * slope:
        return y
    room = np.where(d > 0.0, hi - x, lo - x)
    ratio = np.where(d != 0.0, room / np.where(d != 0.0, d, 1.0), np.inf)
    return np.clip(x + min(1.0, float(ratio.min())) * d, lo, hi)


@dataclass(frozen=True)
class General:
    """The same programme through the shared `solve_qp` with a general solver (Clarabel, OSQP)."""

    solver: Any

    def solve(self, H: Array, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution:
        n = len(x)
        if n == 0:
            return BoxSolution(x, True, 0)
        I = np.eye(n)
        below, above = np.isfinite(lo), np.isfinite(hi)
        rows = (np.concatenate([I[below], -I[above]]), np.concatenate([lo[below], -hi[above]]))
        result = solve_qp(H, -g, inequality=rows, solver=self.solver)
        return BoxSolution(np.clip(result.x, lo, hi), result.converged, result.iterations)
