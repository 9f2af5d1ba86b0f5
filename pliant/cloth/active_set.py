"""A quadratic programme of contacts by guessing which rows hold: the primal-dual active set method.

Resting contact is known in advance: rows that pressed in the last step mostly press in this one. With the guess G x = g
of active rows, the method of multipliers solves for x and the impulses y

    (P + rho G^T G) dx = -(P x + q - G^T y) + rho G^T (g - G x),      y <- y + rho (g - G (x + dx))

to rounding in a few substitutions with one Cholesky factor. Contact rows touch one vertex, or two that share
an edge, so P + rho G^T G has the pattern of P whatever the guess: it is analysed once. A row changes sides when its
impulse or its slack has the wrong sign. Where this cycles, because many rows say the same, the interior point method
supplies the certificate when rows contradict each other, or a point near the solution. From there the method of
multipliers runs with the inequalities themselves,

    x <- argmin 1/2 x^T P x + q^T x + |[z + rho (d - C x)]_+|^2 / (2 rho),      z <- [z + rho (d - C x)]_+

each minimum by Newton's method with the same matrices: it does not mind dependent rows.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.cloth.sheet import BoolArray
from pliant.errors import NotPositiveDefinite
from pliant.linear.base import Factor
from pliant.linear.cholesky import Cholesky
from pliant.linear.kkt import Point, Programme, solve_equalities
from pliant.linear.qp_solvers import Clarabel, Outcome, QPSolver
from pliant.pattern import Pattern

RHO = 1e4  # of a programme whose P has a unit diagonal
SWEEPS = 12
PATIENCE, LOST = 6, 0.1  # rounds after which a residual as large as this means that rows only change places
EXACT = 1e-12  # residual of the rows at which sweeps end
NEWTONS, FLAT = 20, 1e-11  # Newton steps towards a minimum, and the slope there


@dataclass(frozen=True)
class ActiveSet:
    """At most ``rounds`` factorizations for a guess; then the first of the ``interior`` point methods that comes near.

    Where impulse and slack both vanish, an interior point has either at the root of its own tolerance: hence its 1e-9,
    which where many rows say the same it may not reach.
    """

    tolerance: float = 1e-7
    rounds: int = 20
    interior: tuple[QPSolver, ...] = (Clarabel(tolerance=1e-9), Clarabel(tolerance=1e-7))

    def solve(self, problem: Programme, warm: Point | None) -> Outcome:
        """Solve the scaled programme; ``iterations`` counts factorizations and iterations of interior points."""
        guess = problem.d > -1e-6 if warm is None else warm.z > 0
        system = Augmented(problem)
        point, count = self._rounds(system, guess)
        if residual(problem, point) <= self.enough:
            return Outcome(point, True, count, "", exact=True)
        for solver in self.interior:
            outcome = solver.solve(problem, warm)
            count += outcome.iterations
            if outcome.solved or outcome.certificate is not None:
                break
        if not outcome.solved:
            return outcome._replace(iterations=count)
        point, more = system.refined(outcome.point, self.enough)
        return Outcome(point, True, count + more, "", exact=residual(problem, point) <= self.tolerance)

    @property
    def enough(self) -> float:
        """The residual at which rounds end: below it rows change sides whose impulse and slack are both nothing."""
        return 1e-2 * self.tolerance

    def _rounds(self, system: "Augmented", active: BoolArray) -> tuple[Point, int]:
        """The best point met while rows change sides, and the factorizations made."""
        problem = system.problem
        best = Point(np.zeros_like(problem.q), np.zeros_like(problem.b), np.zeros_like(problem.d))
        least, seen, rounds = np.inf, set(), 0
        while rounds < self.rounds and active.tobytes() not in seen:
            seen.add(active.tobytes())
            rounds += 1
            try:
                point = system.solve(active)
            except RuntimeError:  # dependent rows on a singular P: this guess has no unique solution
                break
            size = residual(problem, point)
            if size < least:
                best, least = point, size
            if size <= self.enough or (rounds == PATIENCE and least > LOST):
                break
            lead = point.z - (problem.C @ point.x - problem.d)  # of the impulse before the slack
            active = np.where(np.abs(lead) > self.enough, lead > 0.0, active)
        return best, rounds


class Augmented:
    """P + rho (A^T A + sum of active rows c c^T) with one pattern for all guesses."""

    def __init__(self, problem: Programme) -> None:
        self.problem = problem
        n = len(problem.q)
        C = sp.csr_matrix(problem.C)
        self.G = sp.csr_matrix(sp.vstack([problem.A, C]))
        base = sp.csr_matrix(problem.P + RHO * (problem.A.T @ problem.A))
        P, rows = _ones(sp.csr_matrix(problem.P)), _ones(self.G)
        touched = sp.csr_matrix(P + P.T + sp.identity(n) + rows.T @ rows)  # of ones: nothing cancels
        touched.sort_indices()
        self.pattern = Pattern(touched.indptr, touched.indices)
        base.sort_indices()
        self.base = np.zeros(self.pattern.nnz)
        self.base[self.pattern.slots(base)] = base.data
        self.row, self.slot, self.outer = _outer_products(C, self.pattern)
        self.memory: Any = None

    def factor(self, active: BoolArray) -> Factor:
        """Of the matrix with these rows."""
        weight = RHO * active[self.row]
        data = self.base + np.bincount(self.slot, weights=weight * self.outer, minlength=self.pattern.nnz)
        factor = Cholesky().factor(self.pattern.matrix(data), self.memory)
        self.memory = factor.memory
        return factor

    def solve(self, active: BoolArray) -> Point:
        """The stationary point with the active rows as equalities."""
        problem, p = self.problem, len(self.problem.b)
        try:
            factor = self.factor(active)
        except NotPositiveDefinite:  # a direction that nothing weighs: the shifted KKT system copes
            return solve_equalities(problem, np.flatnonzero(active))
        holds = np.concatenate([np.ones(p), active.astype(np.float64)])
        g = np.concatenate([problem.b, problem.d])
        x, y = np.zeros(len(problem.q)), np.zeros(len(g))
        last = np.inf
        for _ in range(SWEEPS):
            stationary = -(problem.P @ x + problem.q - self.G.T @ y)
            gap = holds * (g - self.G @ x)
            size = max(np.abs(stationary).max(initial=0.0), np.abs(gap).max(initial=0.0))
            if size < EXACT or size > 0.5 * last:
                break
            last = size
            dx = factor.solve(stationary + RHO * (self.G.T @ gap))
            x = x + dx
            y = y + RHO * holds * (gap - self.G @ dx)
        return Point(x, y[:p], y[p:])

    def refined(self, near: Point, enough: float) -> tuple[Point, int]:
        """The best point of the method of multipliers from one that is ``near``, and the factorizations made."""
        problem, best, count = self.problem, near, 0
        for _ in range(SWEEPS):
            try:
                x, more = self._minimum(near)
            except NotPositiveDefinite:
                break
            count += more
            near = Point(x, *self._lifted(near, x))
            if residual(problem, near) < residual(problem, best):
                best = near
            if more == 0 or residual(problem, best) <= enough:
                break
        return best, count

    def _lifted(self, at: Point, x: Array) -> tuple[Array, Array]:
        """The multipliers (y, z) that the penalties at x stand for."""
        problem = self.problem
        y, z = at.y + RHO * (problem.b - problem.A @ x), at.z + RHO * (problem.d - problem.C @ x)
        return y, np.maximum(z, 0.0)

    def _minimum(self, at: Point) -> tuple[Array, int]:
        """x that minimises with the multipliers of a point, from its x, and the factorizations made."""
        problem, x = self.problem, at.x

        def merit(x: Array) -> float:
            y, z = self._lifted(at, x)
            return float(0.5 * x @ (problem.P @ x) + problem.q @ x + (y @ y + z @ z) / (2 * RHO))

        for count in range(NEWTONS):
            y, z = self._lifted(at, x)
            slope = problem.P @ x + problem.q - problem.A.T @ y - problem.C.T @ z
            if np.abs(slope).max(initial=0.0) < FLAT:
                return x, count
            step, here, t = -self.factor(z > 0.0).solve(slope), merit(x), 1.0
            rate, rounding = 1e-4 * float(slope @ step), 1e-14 * abs(here)
            while t > 1e-3 and merit(x + t * step) > here + t * rate + rounding:
                t *= 0.5
            x = x + t * step
        return x, NEWTONS


def _ones(A: sp.csr_matrix) -> sp.csr_matrix:
    """The pattern of A as a matrix of ones."""
    return sp.csr_matrix((np.ones(len(A.indices)), A.indices, A.indptr), shape=A.shape)


def _outer_products(C: sp.csr_matrix, pattern: Pattern) -> tuple[IntArray, IntArray, Array]:
    """Row, place in the pattern and value of every entry of c c^T over all rows c of C."""
    width = np.diff(C.indptr)
    row = np.repeat(np.arange(C.shape[0]), width**2)
    within = np.arange(len(row)) - np.repeat(np.cumsum(width**2) - width**2, width**2)
    first, size = C.indptr[row], width[row]
    a, b = first + within // size, first + within % size
    n = np.int64(pattern.size)
    keys = np.repeat(np.arange(pattern.size, dtype=np.int64), np.diff(pattern.indptr)) * n + pattern.indices
    slot = np.searchsorted(keys, C.indices[a].astype(np.int64) * n + C.indices[b])
    return row, slot, C.data[a] * C.data[b]


def residual(problem: Programme, point: Point) -> float:
    """The largest optimality residual; infinite where the point is not finite."""
    worst = max(problem.residuals(point))
    return worst if np.isfinite(worst) else np.inf
