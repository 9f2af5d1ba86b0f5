"""Quadratic programmes with bounds, min 1/2 x^T H x - g^T x, lo <= x <= hi: contact and friction of SP and BISP.

H = T M^-1 T^T is only semidefinite (eight tangents, one direction to slip), so methods must accept that.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numba import njit

from pliant.arrays import Array
from pliant.linear.kkt import Programme
from pliant.linear.qp import QPSolver


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
        error = _projected_gradient(H @ second.x - g, second.x, lo, hi) / _size(H, g, lo, hi)
        return BoxSolution(second.x, error <= self.accepted, first.iterations + second.iterations)

    def _rounds(self, H: Array, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution:
        size = _size(H, g, lo, hi)
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


def _size(H: Array, g: Array, lo: Array, hi: Array) -> float:
    """What gradients are compared with: g, or, where nothing slips, the round-off of H x within finite bounds."""
    reach = np.maximum(np.abs(lo), np.abs(hi))
    reach[~np.isfinite(reach)] = 0.0
    return float(np.abs(g).max() + 1e-6 * (np.abs(H) @ reach).max()) + 1e-300


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
    """The same programme through a library (Clarabel, OSQP), which sees the bounds as rows.

    Variables are scaled to a unit diagonal of H. The optimality conditions are checked here, not believed; where they
    do not hold, a Newton step on the free variables removes what the library's tolerance leaves.
    """

    solver: QPSolver
    accepted: float = 1e-7  # duality gap, relative to the terms of the objective

    def solve(self, H: Array, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution:
        n = len(x)
        if n == 0:
            return BoxSolution(x, True, 0)
        size = 1.0 / np.sqrt(np.maximum(np.diag(H), 1e-300))
        below, above = np.flatnonzero(np.isfinite(lo)), np.flatnonzero(np.isfinite(hi))
        sign = np.concatenate([np.ones(len(below)), -np.ones(len(above))])
        variable = np.concatenate([below, above])
        order = np.argsort(variable, kind="stable")
        first = np.searchsorted(variable[order], np.arange(n + 1))
        rows = sp.csc_matrix((sign[order], order, first), shape=(len(sign), n))
        bounds = np.concatenate([(lo / size)[below], -(hi / size)[above]])
        scale = float(np.abs(g * size).max()) + 1e-300
        P = H * (size[:, None] * size / scale)
        problem = Programme(P, -g * size / scale, sp.csc_matrix((0, n)), np.zeros(0), rows, bounds)
        outcome = self.solver.solve(problem, None)
        found = np.clip(size * outcome.point.x, lo, hi)
        if _suboptimality(H, g, lo, hi, found) <= self.accepted:
            return BoxSolution(found, True, outcome.iterations)
        found = _polished(H, g, lo, hi, found)
        return BoxSolution(found, _suboptimality(H, g, lo, hi, found) <= self.accepted, outcome.iterations)


def _suboptimality(H: Array, g: Array, lo: Array, hi: Array, x: Array) -> float:
    """How far the objective can be above its minimum, relative to its terms: the duality gap at x in [lo, hi].

    Multipliers are the parts of r = H x - g that press on finite bounds; what presses on none is added as it is.
    """
    Hx = H @ x
    r = Hx - g
    below, above = np.isfinite(lo) & (r > 0.0), np.isfinite(hi) & (r < 0.0)
    gap = np.sum(r[below] * (x - lo)[below]) + np.sum(r[above] * (x - hi)[above])
    stray = float(np.abs(r[~below & ~above]).max(initial=0.0)) / (float(np.abs(g).max()) + 1e-300)
    return float(gap) / (float(x @ Hx + np.abs(g) @ np.abs(x)) + 1e-300) + stray


def _polished(H: Array, g: Array, lo: Array, hi: Array, x: Array) -> Array:
    """x with bounds that are nearly met met, and one Newton step on the others, if that is closer to optimal."""
    room = 1e-6 * np.minimum(hi - lo, np.abs(x).max(initial=0.0))
    r = H @ x - g
    y = np.where((x <= lo + room) & (r > 0.0), lo, np.where((x >= hi - room) & (r < 0.0), hi, x))
    free = np.flatnonzero((y > lo) & (y < hi))
    if len(free):
        A = H[np.ix_(free, free)]
        A[np.diag_indices(len(free))] += 1e-12 * float(np.diag(H).max())
        factor = scipy.linalg.cho_factor(A, overwrite_a=True, check_finite=False)
        y[free] -= scipy.linalg.cho_solve(factor, (H @ y - g)[free], check_finite=False)
    y = np.clip(y, lo, hi)
    return y if _suboptimality(H, g, lo, hi, y) < _suboptimality(H, g, lo, hi, x) else x
