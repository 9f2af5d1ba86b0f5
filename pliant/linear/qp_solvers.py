"""The two quadratic programming libraries behind `pliant.linear.qp.solve_qp`, each told to be exact and repeatable."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.linear.kkt import Matrix, Point, Programme, stacked


class Outcome(NamedTuple):
    """What a library returned; ``certificate`` weighs the rows (equalities, then inequalities) that contradict.

    ``exact`` says that the point solves its active rows to round-off already, so that a polish has nothing to add.
    """

    point: Point
    solved: bool
    iterations: int
    message: str
    certificate: Array | None = None
    exact: bool = False


class QPSolver(Protocol):
    """A choice of library as a frozen dataclass; ``tolerance`` bounds the optimality residuals of the result."""

    @property
    def tolerance(self) -> float: ...

    def solve(self, problem: Programme, warm: Point | None) -> Outcome: ...


@dataclass(frozen=True)
class Clarabel:
    """Interior point method: few iterations whatever the problem, certificates when infeasible; no warm start."""

    tolerance: float = 1e-7
    max_iterations: int = 200

    def solve(self, problem: Programme, warm: Point | None) -> Outcome:
        """Solve the scaled programme to a hundredth of the tolerance that is asked of the result."""
        import clarabel

        del warm
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_threads, settings.direct_solve_method = False, 1, "qdldl"
        settings.max_iter = self.max_iterations
        settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = 1e-2 * self.tolerance
        p, m = len(problem.b), len(problem.d)
        rows = sp.csc_matrix(stacked(problem.A, -problem.C) if p else -problem.C)
        cones: list[Any] = [clarabel.ZeroConeT(p)] if p else []
        cones += [clarabel.NonnegativeConeT(m)] if m else []
        upper = _upper(problem.P)
        bounds = np.concatenate([problem.b, -problem.d])
        result = clarabel.DefaultSolver(upper, problem.q, rows, bounds, cones, settings).solve()
        x, multipliers = np.array(result.x), np.array(result.z)
        status = str(result.status)
        if status in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
            return Outcome(_origin(problem), False, result.iterations, "infeasible", np.abs(multipliers))
        if status in ("DualInfeasible", "AlmostDualInfeasible"):
            return Outcome(_origin(problem), False, result.iterations, "unbounded")
        solved = status in ("Solved", "AlmostSolved")
        return Outcome(Point(x, -multipliers[:p], multipliers[p:]), solved, result.iterations, status)


@dataclass(frozen=True)
class OSQP:
    """Operator splitting with a final polish: cheap iterations, and fast from the warm start of a similar step."""

    tolerance: float = 1e-7
    max_iterations: int = 20000

    def solve(self, problem: Programme, warm: Point | None) -> Outcome:
        """Solve the scaled programme; the step length adapts by iterations, never by the clock."""
        import osqp

        p = len(problem.b)
        solver = osqp.OSQP()
        solver.setup(
            *(_upper(problem.P), problem.q, sp.csc_matrix(stacked(problem.A, problem.C))),
            *(np.concatenate([problem.b, problem.d]), np.concatenate([problem.b, np.full(len(problem.d), np.inf)])),
            verbose=False,
            eps_abs=1e-2 * self.tolerance,
            eps_rel=1e-2 * self.tolerance,
            eps_prim_inf=1e-6,
            eps_dual_inf=1e-6,
            max_iter=self.max_iterations,
            polishing=True,
            adaptive_rho=1,
        )
        if warm is not None:
            solver.warm_start(x=warm.x, y=-np.concatenate([warm.y, warm.z]))
        result = solver.solve(raise_error=False)
        status = result.info.status
        if "primal infeasible" in status:
            return Outcome(_origin(problem), False, result.info.iter, "infeasible", np.abs(result.prim_inf_cert))
        if "dual infeasible" in status:
            return Outcome(_origin(problem), False, result.info.iter, "unbounded")
        point = Point(result.x, -result.y[:p], -result.y[p:])
        return Outcome(point, status.startswith("solved"), result.info.iter, status)


def _upper(P: Matrix) -> sp.csc_matrix:
    if not isinstance(P, np.ndarray):
        return sp.csc_matrix(sp.triu(P))
    lower = np.tril(P)  # by rows what the upper triangle is by columns
    column, row = np.nonzero(lower)
    starts = np.searchsorted(column, np.arange(len(P) + 1))
    return sp.csc_matrix((lower[column, row], row, starts), shape=P.shape)


def _origin(problem: Programme) -> Point:
    return Point(np.zeros_like(problem.q), np.zeros_like(problem.b), np.zeros_like(problem.d))
