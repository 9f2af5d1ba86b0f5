"""A quadratic programme of contacts by guessing which rows hold: the primal-dual active set method.

Resting contact is known in advance: rows whose bound is touched now mostly stay active. One factorization then gives the
exact solution, and a row changes sides when its multiplier or its slack has the wrong sign. Where this cycles, the interior
point method supplies a better guess, and the certificate when rows contradict each other.
"""

from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.linear.kkt import Point, Programme, solve_equalities
from pliant.linear.qp_solvers import Clarabel, Outcome, QPSolver


@dataclass(frozen=True)
class ActiveSet:
    """At most ``rounds`` factorizations per guess; ``fallback`` supplies the second guess."""

    tolerance: float = 1e-7
    rounds: int = 8
    fallback: QPSolver = Clarabel()

    def solve(self, problem: Programme, warm: Point | None) -> Outcome:
        """Solve the scaled programme; ``iterations`` counts factorizations and iterations of the fallback."""
        guess = np.flatnonzero(problem.d > -1e-6) if warm is None else np.flatnonzero(warm.z > 0)
        point, rounds = self._rounds(problem, guess)
        if self._exact(problem, point):
            return Outcome(point, True, rounds, "")
        outcome = self.fallback.solve(problem, warm)
        if not outcome.solved:
            return outcome
        better, more = self._rounds(problem, sides(problem, outcome.point))
        best = better if residual(problem, better) < residual(problem, outcome.point) else outcome.point
        return Outcome(best, True, rounds + outcome.iterations + more, "")

    def _rounds(self, problem: Programme, active: IntArray) -> tuple[Point, int]:
        """The best point met while rows change sides."""
        best, seen = None, set()
        for k in range(self.rounds):
            try:
                point = solve_equalities(problem, active)
            except RuntimeError:  # dependent rows: no unique solution on this guess
                return best or _origin(problem), k
            if best is None or residual(problem, point) < residual(problem, best):
                best = point
            seen.add(active.tobytes())
            active = sides(problem, point)
            if active.tobytes() in seen:
                break
        return best or _origin(problem), k + 1

    def _exact(self, problem: Programme, point: Point) -> bool:
        return residual(problem, point) <= 1e-2 * self.tolerance


def sides(problem: Programme, point: Point) -> IntArray:
    """Rows on which the multiplier outweighs the slack."""
    return np.flatnonzero(point.z > problem.C @ point.x - problem.d)


def residual(problem: Programme, point: Point) -> float:
    """The largest optimality residual; infinite where the point is not finite."""
    worst = max(problem.residuals(point))
    return worst if np.isfinite(worst) else np.inf


def _origin(problem: Programme) -> Point:
    zero: Array = np.zeros_like(problem.q)
    return Point(zero, np.zeros_like(problem.b), np.zeros_like(problem.d))
