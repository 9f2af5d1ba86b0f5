"""Quadratic programmes with bounds, min 1/2 x^T H x - g^T x, lo <= x <= hi: contact and friction of SP and BISP.

H = T M^-1 T^T is only semidefinite (eight tangents, one direction to slip), so methods must accept that.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.linear.box_interior import interior_point
from pliant.linear.box_matrix import BoxMatrix, box_matrix, shifted_solve
from pliant.linear.kkt import Programme
from pliant.linear.qp import QPSolver
from pliant.linear.threads import one_thread

NEAR = 1e-6  # of the way between two bounds: a guess this close to one is taken to be at it
STIFF = 1e6  # times the diagonal: weights of proximal terms are no larger
ROUND_OFF = 2.0 * float(np.finfo(float).eps)


class BoxSolution(NamedTuple):
    """The minimiser, and whether its optimality conditions hold."""

    x: Array
    converged: bool
    iterations: int


class BoxSolver(Protocol):
    """A choice of method, as a frozen dataclass."""

    def solve(self, H: Array | BoxMatrix, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution: ...


@dataclass(frozen=True)
class ProjectedNewton:
    """Newton on the variables that are off their bounds, with the set of those updated after each solve.

    The first set are the bounds that the guess is at, of variables between two; else, and then, it is read from
    x - r/diag H with the gradient r (a primal-dual active set); once the set repeats the solution is exact. H is only
    semidefinite, so each pass adds a proximal term ``proximal`` sum w_i (x - x_k)_i^2 / 2, and few passes remove its
    effect. Distances count as parts of the bounds (`_weights`): of equivalent solutions that keeps those within them.
    Where the set keeps changing (many nearly equivalent contacts), an interior point method finds the neighbourhood to
    start again from. It is not the end: an inner point of equivalent solutions is another one than Newton's, and
    staggered projections, whose limits depend on it, then go elsewhere.
    """

    tolerance: float = 1e-9  # on the projected gradient, relative to its terms
    accepted: float = 1e-7  # the duality gap, relative to its terms, still called converged
    proximal: float = 1e-9
    passes: int = 4
    changes: int = 30  # of the active set, per pass

    def solve(self, H: Array | BoxMatrix, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution:
        if len(x) == 0:
            return BoxSolution(x, True, 0)
        with one_thread():
            return self._solve(box_matrix(H), g, lo, hi, np.clip(x, lo, hi))

    def _solve(self, A: BoxMatrix, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution:
        first = self._newton(A, g, lo, hi, x)
        if first.converged:
            return first
        center, tried = interior_point(A, g, lo, hi, x)
        second = replace(self, changes=3)._newton(A, g, lo, hi, center)
        count = first.iterations + tried + second.iterations
        if second.converged:
            return BoxSolution(second.x, True, count)
        gaps = [_suboptimality(A, g, lo, hi, y) for y in (second.x, center)]
        best = (second.x, center)[int(np.argmin(gaps))]
        return BoxSolution(best, min(gaps) <= self.accepted, count)

    def _newton(self, A: BoxMatrix, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution:
        limit, weights = self.tolerance * _size(A, g, lo, hi), _weights(A, g, lo, hi)
        wide = ~np.isfinite(hi - lo)
        near = np.where(wide, 0.0, NEAR * (hi - lo))
        y = np.where(wide, x - (A.multiply(x) - g) / (A.diagonal + 1e-300), x)
        at = np.where(y <= lo + near, -1.0, np.where(y >= hi - near, 1.0, 0.0))  # 0 free, -1 and 1 at a bound
        count, settled = 0, True
        rho = self.proximal * np.clip(weights, A.diagonal, STIFF * A.diagonal) + 1e-300
        for _ in range(self.passes):
            if _projected_gradient(A.multiply(x) - g, x, lo, hi) <= limit or not settled:
                break
            x, at, tried, settled = self._one_pass(A, g, (lo, hi), x, at, rho)
            count += tried
        return BoxSolution(x, _projected_gradient(A.multiply(x) - g, x, lo, hi) <= limit, count)

    def _one_pass(
        self, A: BoxMatrix, g: Array, bounds: tuple[Array, Array], x: Array, at: Array, rho: Array
    ) -> tuple[Array, Array, int, bool]:
        """(x, active set, solves, whether the set has settled) of the programme with its proximal term."""
        lo, hi = bounds
        pull, scale = g + rho * x, A.diagonal + 1e-300
        changed = [len(x) + 1]
        for k in range(self.changes):
            free = at == 0.0
            held = np.where(at < 0.0, lo, np.where(at > 0.0, hi, 0.0))
            x = np.where(free, shifted_solve(A, free, rho)(pull - A.multiply(held)), held) if free.any() else held
            guess = x - (A.multiply(x) + rho * x - pull) / scale
            now = np.where(guess <= lo, -1.0, np.where(guess >= hi, 1.0, 0.0))
            changed.append(int(np.count_nonzero(now != at)))
            if changed[-1] == 0 or (k > 0 and changed[-1] >= changed[-2]):  # settled, or going round in circles
                return np.clip(x, lo, hi), at, k + 1, changed[-1] == 0
            at = now
        return np.clip(x, lo, hi), at, self.changes, False


def _weights(A: BoxMatrix, g: Array, lo: Array, hi: Array) -> Array:
    """|g|^T b / b_i^2 with the bounds b: the terms of the objective by those of distances as parts of the bounds.

    The diagonal of H where there are no bounds.
    """
    reach = np.maximum(np.abs(lo), np.abs(hi))
    bounded = np.isfinite(reach) & (reach > 0.0)
    reach = np.where(bounded, reach, 1.0)
    return np.where(bounded, float(np.abs(g)[bounded] @ reach[bounded]) / reach**2, A.diagonal)


def _size(A: BoxMatrix, g: Array, lo: Array, hi: Array) -> float:
    """What gradients are compared with: g, or, where nothing slips, the round-off of H x within finite bounds."""
    reach = np.maximum(np.abs(lo), np.abs(hi))
    reach[~np.isfinite(reach)] = 0.0
    return float(np.abs(g).max() + 1e-6 * A.reach(reach).max()) + 1e-300


def _projected_gradient(r: Array, x: Array, lo: Array, hi: Array) -> float:
    """Largest entry of the gradient r that does not push against a bound."""
    held = ((x <= lo) & (r >= 0.0)) | ((x >= hi) & (r <= 0.0))
    return float(np.abs(np.where(held, 0.0, r)).max())


@dataclass(frozen=True)
class General:
    """The same programme through a library (Clarabel, OSQP), which sees the bounds as rows.

    Variables are scaled to a unit diagonal of H. The optimality conditions are checked here, not believed; where they
    do not hold, a Newton step on the free variables removes what the library's tolerance leaves.
    """

    solver: QPSolver
    accepted: float = 1e-7  # duality gap, relative to the terms of the objective

    def solve(self, H: Array | BoxMatrix, g: Array, lo: Array, hi: Array, x: Array) -> BoxSolution:
        n = len(x)
        if n == 0:
            return BoxSolution(x, True, 0)
        A = box_matrix(H)
        size = 1.0 / np.sqrt(np.maximum(A.diagonal, 1e-300))
        below, above = np.flatnonzero(np.isfinite(lo)), np.flatnonzero(np.isfinite(hi))
        sign = np.concatenate([np.ones(len(below)), -np.ones(len(above))])
        variable = np.concatenate([below, above])
        order = np.argsort(variable, kind="stable")
        first = np.searchsorted(variable[order], np.arange(n + 1))
        rows = sp.csc_matrix((sign[order], order, first), shape=(len(sign), n))
        bounds = np.concatenate([(lo / size)[below], -(hi / size)[above]])
        scale = float(np.abs(g * size).max()) + 1e-300
        if sp.issparse(A.values):
            D = sp.diags_array(size / np.sqrt(scale))
            P = sp.csc_matrix(D @ A.values @ D)
        else:
            P = A.values * (size[:, None] * size / scale)
        problem = Programme(P, -g * size / scale, sp.csc_matrix((0, n)), np.zeros(0), rows, bounds)
        outcome = self.solver.solve(problem, None)
        found = np.clip(size * outcome.point.x, lo, hi)
        if _suboptimality(A, g, lo, hi, found) <= self.accepted:
            return BoxSolution(found, True, outcome.iterations)
        found = _polished(A, g, lo, hi, found)
        return BoxSolution(found, _suboptimality(A, g, lo, hi, found) <= self.accepted, outcome.iterations)


def _suboptimality(A: BoxMatrix, g: Array, lo: Array, hi: Array, x: Array) -> float:
    """How far the objective can be above its minimum, relative to its terms: the duality gap at x in [lo, hi].

    Multipliers are the parts of r = H x - g that press on finite bounds; what presses on none is added as it is. Of r
    only what exceeds the round-off of its own sum counts: forces of 1e7 leave no more digits.
    """
    Hx = A.multiply(x)
    r = Hx - g
    r = np.sign(r) * np.maximum(np.abs(r) - ROUND_OFF * (A.reach(np.abs(x)) + np.abs(g)), 0.0)
    below, above = np.isfinite(lo) & (r > 0.0), np.isfinite(hi) & (r < 0.0)
    gap = np.sum(r[below] * (x - lo)[below]) + np.sum(r[above] * (x - hi)[above])
    stray = float(np.abs(r[~below & ~above]).max(initial=0.0)) / (float(np.abs(g).max()) + 1e-300)
    return float(gap) / (float(x @ Hx + np.abs(g) @ np.abs(x)) + 1e-300) + stray


def _polished(A: BoxMatrix, g: Array, lo: Array, hi: Array, x: Array) -> Array:
    """x with bounds that are nearly met met, and one Newton step on the others, if that is closer to optimal."""
    room = 1e-6 * np.minimum(hi - lo, np.abs(x).max(initial=0.0))
    r = A.multiply(x) - g
    y = np.where((x <= lo + room) & (r > 0.0), lo, np.where((x >= hi - room) & (r < 0.0), hi, x))
    free = (y > lo) & (y < hi)
    if free.any():
        shift = np.full(len(y), 1e-12 * float(A.diagonal.max()))
        y = y - shifted_solve(A, free, shift)(A.multiply(y) - g)
    y = np.clip(y, lo, hi)
    return y if _suboptimality(A, g, lo, hi, y) < _suboptimality(A, g, lo, hi, x) else x
