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
    patience: int = 10

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


def _interior(H: Array, g: Array, lo: Array, hi: Array, iterations: int = 40) -> Array:
    """A point near the solution by Mehrotra's predictor-corrector method; variables with lo = hi stay there."""
    x = np.where(np.isfinite(lo), lo, np.where(np.isfinite(hi), hi, 0.0))
    move = np.flatnonzero(hi > lo)
    if len(move) == 0:
        return x
    H, g, lo, hi = H[np.ix_(move, move)], (g - H @ np.where(hi > lo, 0.0, x))[move], lo[move], hi[move]
    below, above = np.isfinite(lo), np.isfinite(hi)
    room = np.where(below & above, 0.5 * (hi - lo), np.abs(g).max() / np.diag(H).max() + 1e-300)
    y = np.where(below, np.where(below, lo, 0.0) + room, np.where(above, np.where(above, hi, 0.0) - room, 0.0))
    size = float(np.abs(g).max()) + 1e-300
    zl, zu = np.where(below, size, 0.0), np.where(above, size, 0.0)
    count = max(int(below.sum() + above.sum()), 1)
    sl, su = np.where(below, y - lo, 1.0), np.where(above, hi - y, 1.0)
    for _ in range(iterations):
        residual = H @ y - g - zl + zu
        gap = float(zl @ sl + zu @ su) / count
        if max(float(np.abs(residual).max()), np.sqrt(gap * float(np.diag(H).max()))) <= 1e-11 * size:
            break
        A = H + np.diag(zl / sl + zu / su + 1e-14 * float(np.diag(H).max()))
        factor = scipy.linalg.cho_factor(A, check_finite=False)
        centre, cl, cu = 0.0, np.zeros_like(y), np.zeros_like(y)
        for corrector in (False, True):
            tl = np.where(below, (centre - cl) / sl - zl, 0.0)
            tu = np.where(above, (centre - cu) / su - zu, 0.0)
            dy = scipy.linalg.cho_solve(factor, -residual + tl - tu, check_finite=False)
            dl, du = np.where(below, tl - zl * dy / sl, 0.0), np.where(above, tu + zu * dy / su, 0.0)
            s = min(1.0, 0.995 * _longest((sl, su, zl, zu), (dy * below, -dy * above, dl, du)))
            if not corrector:
                after = float((zl + s * dl) @ (sl + s * dy * below) + (zu + s * du) @ (su - s * dy * above)) / count
                centre, cl, cu = gap * (after / gap) ** 3 if gap > 0 else 0.0, dl * dy * below, -du * dy * above
        y, sl, su = y + s * dy, sl + s * dy * below, su - s * dy * above
        zl, zu = zl + s * dl, zu + s * du
    x[move] = np.clip(y, lo, hi)
    return x


def _longest(values: tuple[Array, ...], steps: tuple[Array, ...]) -> float:
    """The largest s with all values + s steps >= 0."""
    s = np.inf
    for v, d in zip(values, steps, strict=True):
        shrinking = d < 0.0
        if shrinking.any():
            s = min(s, float((-v[shrinking] / d[shrinking]).min()))
    return s


@njit(cache=True, error_model="numpy")
def _sweep(H, g, lo, hi, x):
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
