"""Quadratic programmes, the inner problem of every constrained velocity step.

    min 1/2 x^T P x + q^T x   s.t.  A x = b,  C x >= d

The multipliers act as impulses: P x + q = A^T y + C^T z with z >= 0. Scaling, the check of the optimality conditions
and the final polish on the active rows are ours; the iteration is Clarabel's or OSQP's. Equalities alone need neither:
they are one sparse factorization.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.errors import PliantError
from pliant.linear.kkt import DENSE, Matrix, Point, Programme, Residuals, Scaling, row_norms, scale, solve_equalities
from pliant.linear.qp_solvers import OSQP, Clarabel, Outcome, QPSolver

__all__ = ["OSQP", "Clarabel", "QPSolution", "QPSolver", "solve_qp"]

Rows = tuple[Matrix, Array]


@dataclass(frozen=True)
class QPSolution:
    """The minimiser and its certificate.

    ``y_equality`` (p,) and ``z_inequality`` (m,) >= 0 satisfy P x + q = A^T y + C^T z. ``converged`` says that all four
    ``residuals`` are below ``tolerance``; otherwise ``message`` says why (for contradictory rows: which), and x is
    finite but no solution. ``warm`` starts the next, similar programme.
    """

    x: Array
    y_equality: Array
    z_inequality: Array
    converged: bool
    iterations: int
    residuals: Residuals
    tolerance: float
    message: str
    warm: Point

    @property
    def residual(self) -> float:
        """The largest of the four residuals."""
        return max(self.residuals)


def solve_qp(
    P: Matrix,
    q: Array,
    *,
    equality: Rows | None = None,
    inequality: Rows | None = None,
    solver: QPSolver = Clarabel(),  # noqa: B008  (a frozen value)
    warm: Point | None = None,
) -> QPSolution:
    """Minimise 1/2 x^T P x + q^T x over A x = b (``equality``) and C x >= d (``inequality``).

    P (n,n) is symmetric positive semidefinite, given in full; rows may be dense or sparse, and may be redundant.
    """
    problem = _programme(P, q, equality, inequality)
    scaled, scaling = scale(problem)
    start = scaling.scaled(warm) if warm is not None and _fits(warm, problem) else None
    contradiction = _impossible_row(scaled)
    if contradiction:
        outcome = Outcome(_zero(problem), False, 0, contradiction)
    elif len(problem.d) == 0:
        outcome = Outcome(solve_equalities(scaled), True, 1, "")
    else:
        outcome = solver.solve(scaled, start)
    return _judged(scaled, scaling, outcome, solver.tolerance)


def _judged(scaled: Programme, scaling: Scaling, outcome: Outcome, tolerance: float) -> QPSolution:
    """Polish what a library calls solved, measure the optimality conditions ourselves, and say what is wrong."""
    point = outcome.point if all(np.isfinite(a).all() for a in outcome.point) else _zero(scaled)
    if outcome.solved and not outcome.exact and len(scaled.d):
        point = _polished(scaled, point)
    residuals = scaled.residuals(point)
    converged = outcome.solved and max(residuals) <= tolerance
    message = "" if converged else _explanation(scaled, outcome, residuals)
    solution = scaling.unscaled(point)
    return QPSolution(*solution, converged, outcome.iterations, residuals, tolerance, message, solution)


def _polished(problem: Programme, point: Point) -> Point:
    """The exact solution on the rows that are active at ``point``, if it is the better one."""
    slack = problem.C @ point.x - problem.d
    active = np.flatnonzero(point.z > slack)
    try:
        exact = solve_equalities(problem, active)
    except RuntimeError:  # a singular P: the libraries cope, one factorization does not
        return point
    return exact if max(problem.residuals(exact)) < max(problem.residuals(point)) else point


def _explanation(problem: Programme, outcome: Outcome, residuals: Residuals) -> str:
    if outcome.certificate is not None:
        return f"infeasible: {_names(problem, outcome.certificate)} contradict each other"
    if outcome.solved and max(residuals) == residuals.equality:
        violation = np.abs(problem.A @ outcome.point.x - problem.b)
        return f"infeasible: {_names(problem, violation)} cannot hold together"
    if outcome.solved:
        worst = max(residuals._fields, key=lambda name: getattr(residuals, name))
        return f"{worst} residual {max(residuals):.3g} is above the tolerance"
    return outcome.message


def _names(problem: Programme, weight: Array) -> str:
    """The rows with a noticeable weight, for people: equality 3, inequality 7."""
    p = len(problem.b)
    rows = np.flatnonzero(weight > 1e-3 * weight.max())
    names = [f"equality {r}" if r < p else f"inequality {r - p}" for r in rows[:8]]
    return ", ".join(names) + (f" and {len(rows) - 8} more" if len(rows) > 8 else "")


def _impossible_row(problem: Programme) -> str:
    """An empty row whose right-hand side cannot be met, found before any solver sees it."""
    for r in np.flatnonzero((row_norms(problem.A) == 0.0) & (problem.b != 0.0)):
        return f"infeasible: equality {r} has no entries but a right-hand side"
    for r in np.flatnonzero((row_norms(problem.C) == 0.0) & (problem.d > 0.0)):
        return f"infeasible: inequality {r} has no entries but a positive bound"
    return ""


def _programme(P: Matrix, q: Array, equality: Rows | None, inequality: Rows | None) -> Programme:
    q = np.asarray(q, dtype=np.float64).ravel()
    A, b = equality or (np.zeros((0, len(q))), np.zeros(0))
    C, d = inequality or (np.zeros((0, len(q))), np.zeros(0))
    b, d = np.asarray(b, dtype=np.float64).ravel(), np.asarray(d, dtype=np.float64).ravel()
    small = len(q) + len(b) + len(d) <= DENSE
    problem = Programme(_matrix(P, small), q, _matrix(A, small), b, _matrix(C, small), d)
    for name, S, rows in (("P", problem.P, len(q)), ("equality", problem.A, len(b)), ("inequality", problem.C, len(d))):
        if S.shape != (rows, len(q)):
            raise PliantError(f"{name} has shape {S.shape}, expected {(rows, len(q))}", where="solve_qp")
        if not np.isfinite(S if isinstance(S, np.ndarray) else S.data).all():
            raise PliantError(f"{name} has an entry that is not finite", where="solve_qp")
    for name, values in (("q", q), ("the right-hand side of the equalities", b), ("the bound", d)):
        if not np.isfinite(values).all():
            raise PliantError(f"{name} has an entry that is not finite", where="solve_qp")
    return problem


def _matrix(S: Matrix, dense: bool) -> Matrix:
    if dense:
        return np.asarray(S.toarray() if sp.issparse(S) else S, dtype=np.float64)
    return sp.csc_matrix(S, dtype=np.float64)


def _fits(warm: Point, problem: Programme) -> bool:
    return isinstance(warm, Point) and tuple(map(len, warm)) == (len(problem.q), len(problem.b), len(problem.d))


def _zero(problem: Programme) -> Point:
    return Point(np.zeros_like(problem.q), np.zeros_like(problem.b), np.zeros_like(problem.d))
