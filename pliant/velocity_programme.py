"""The quadratic programme of a velocity step: its velocities, and the impulses of its rows.

    min_u  1/2 u^T A u - u^T b      s.t.  Aeq u = beq,  C u >= d

Without rows it is a linear solve; with few inequalities on a large matrix, or with friction, the impulses come first,
from the inverse of A on the rows (`pliant.linear.staggered`); else a solver of quadratic programmes finds all at once.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.linear.base import LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.inverse import Inverse, Matrix, Solvable, dense_inverse
from pliant.linear.kkt import Point
from pliant.linear.lowrank import Corrected
from pliant.linear.qp import QPSolver, solve_qp
from pliant.linear.relaxed import solve_relaxed
from pliant.linear.staggered import Slip, Staggered
from pliant.pattern import as_csr, stacked
from pliant.state import Counts, SolveReport

Rows = tuple[Matrix, Array]
SOLVED = 1e-6  # |A u - b| / |b| of a step without constraints that is certified


@dataclass(frozen=True)
class VelocitySolution:
    """The new velocities ``u``; impulses [N s] of the equality rows (either sign) and inequality rows (>= 0).

    The rows act on the velocities as A u = b + Aeq^T equality + C^T inequality + T^T friction.
    """

    u: Array
    equality: Array
    inequality: Array
    report: SolveReport
    memory: Any = None
    friction: Array = field(default_factory=lambda: np.zeros(0))


def velocity_step(
    A: Matrix,
    b: Array,
    *,
    J: Matrix = None,
    equality: Rows | None = None,
    inequality: Rows | None = None,
    slip: Slip | None = None,
    linear: LinearSolver | None = None,
    qp: QPSolver | None = None,
    friction: Staggered = Staggered(),  # noqa: B008  (a frozen value)
    memory: Any = None,
    guess: Array | None = None,
    pushed: IntArray | None = None,
) -> VelocitySolution:
    """Solve the quadratic programme above. Without rows it is one Cholesky solve, dense or sparse as A is.

    With ``J (N, n)``, A and b are those of the material, and the programme is that of J^T A J and J^T b. ``linear`` is
    a LinearSolver (default `Cholesky`), ``qp`` a QP solver of `pliant.linear.qp`; ``memory`` is the analysis or warm
    start returned by the previous step. With friction along ``slip``, a matrix that is never formed, or inequalities on
    a sparse one and no ``qp``, impulses are found first: `Staggered`. Such a matrix is solved with from ``guess (n,)``.
    ``pushed (m,)`` names what the inequalities push, for the message where they contradict each other.
    """
    if J is not None:
        A, b = project(J, A, b)
    rubs = slip is not None and len(slip) > 0
    if _empty(equality) and _empty(inequality) and not rubs:
        return _unconstrained(A, b, linear or Cholesky(), memory, guess)
    few = qp is None and sp.issparse(A) and not _empty(inequality)  # few rows on a large matrix: factor it just once
    if few or isinstance(A, Solvable | Corrected) or rubs:
        return _by_impulses(A, b, (equality, inequality, slip), linear or Cholesky(), friction, memory)
    return _programme(A, b, (equality, inequality), {} if qp is None else {"solver": qp}, memory, pushed)


def _programme(
    A: Matrix,
    b: Array,
    rows: tuple[Rows | None, Rows | None],
    options: dict[str, Any],
    memory: Any,
    pushed: IntArray | None,
) -> VelocitySolution:
    """By a QP solver; inequalities that contradict each other are relaxed, and the message names what they push."""
    start, message = perf_counter(), ""
    equality, inequality = rows
    warm = Point(*memory) if isinstance(memory, tuple) and len(memory) == 3 else None
    result = solve_qp(sp.csc_matrix(A), -b, equality=equality, inequality=inequality, warm=warm, **options)
    if inequality is not None and not _empty(inequality) and result.message.startswith("infeasible"):
        relaxed, given = solve_relaxed(sp.csc_matrix(A), -b, equality=equality, inequality=inequality)
        if relaxed.converged:
            result = relaxed
            what = "rows" if pushed is None else "vertices"
            names = ", ".join(str(k) for k in np.unique(given if pushed is None else pushed[given])[:8])
            message = f"relaxed {len(given)} contradicting contact rows at {what} {names}"
    report = SolveReport(
        converged=result.converged,
        iterations=result.iterations,
        residual=result.residual,
        tolerance=result.tolerance,
        seconds={"solve": perf_counter() - start},
        message=message or result.message,
    )
    return VelocitySolution(result.x, result.y_equality, result.z_inequality, report, tuple(result.warm))


def project(J: Matrix, A: Matrix, b: Array) -> tuple[Matrix, Array]:
    """(J^T A J, J^T b): the same step in the coordinates that are free."""
    A = J.T @ (A @ J)
    return 0.5 * (A + A.T), J.T @ b  # products round differently in the two triangles


def _by_impulses(
    A: Matrix,
    b: Array,
    rows: tuple[Rows | None, Rows | None, Slip | None],
    linear: LinearSolver,
    friction: Staggered,
    memory: Any,
) -> VelocitySolution:
    """Impulses from the inverse of A on the rows, with friction where they slip; ``memory`` is (analysis, start)."""
    start = perf_counter()
    equality, inequality, slip = rows
    n = len(b)
    (E, e), (C, d) = (r if r is not None else (np.zeros((0, n)), np.zeros(0)) for r in (equality, inequality))
    analysis, last = memory if isinstance(memory, tuple) and len(memory) == 2 else (None, None)
    inverse = Inverse(A, linear, analysis)
    lower = np.concatenate([np.full(len(e), -np.inf), np.zeros(len(d))])
    G = stacked([as_csr(E), as_csr(C)])
    found = friction.solve(inverse, b, (G, np.concatenate([e, d]), lower), slip, last)
    good = found.converged and inverse.converged
    message = "" if good else f"impulses still change by {found.residual:.3g} after {found.iterations} turns"
    report = SolveReport(
        good,
        found.iterations,
        found.residual,
        friction.tolerance,
        inverse.counts,
        {"solve": perf_counter() - start},
        message=message,
    )
    y, z = found.y[: len(e)], found.y[len(e) :]
    return VelocitySolution(found.u, y, z, report, (inverse.memory, found.last), found.z)


def _empty(rows: Rows | None) -> bool:
    return rows is None or len(rows[1]) == 0


def _unconstrained(A: Matrix, b: Array, linear: LinearSolver, memory: Any, guess: Array | None) -> VelocitySolution:
    none = np.zeros(0)
    if isinstance(A, Solvable):
        s = A.solve(b, np.zeros_like(b) if guess is None else guess)
        solved = s.residual <= SOLVED
        report = SolveReport(s.converged, max(s.counts.inner, 1), s.residual, SOLVED, s.counts, certified=solved)
        return VelocitySolution(s.x, none, none, report)
    start = perf_counter()
    if not sp.issparse(A):
        solve = dense_inverse(A)
        u = solve(b)
        seconds = {"solve": perf_counter() - start}
        return VelocitySolution(u, none, none, _linear_report(A, u, b, solve, Counts(0, 0, 0, 1, 1), seconds))
    factor = linear.factor(A if isinstance(A, sp.csr_matrix) else sp.csr_matrix(A), memory)
    middle = perf_counter()
    u = factor.solve(b)
    seconds = {"factor": middle - start, "solve": perf_counter() - middle}
    counts = Counts(0, 0, int(factor.analysed), 1, 1, factor.inner)
    return VelocitySolution(u, none, none, _linear_report(A, u, b, factor.solve, counts, seconds), factor.memory)


def _linear_report(
    A: Matrix, u: Array, b: Array, solve: Callable[[Array], Array], counts: Counts, seconds: dict[str, float]
) -> SolveReport:
    """r = |A u - b| / |b|, certified below `SOLVED`; or where it is nothing but the round-off of the sums in A u, and
    the error A^-1 (A u - b) below `SOLVED` |u|: so stiff a matrix may keep nothing of the masses in its factor.
    """
    size, missed = max(float(np.linalg.norm(b)), 1e-300), A @ u - b
    residual, tolerance, judged = float(np.linalg.norm(missed)) / size, SOLVED, "residual"
    finite = bool(np.isfinite(residual))
    if finite and residual > SOLVED:
        rounding = 2.0 * np.finfo(np.float64).eps * float(np.linalg.norm(abs(A) @ abs(u))) / size
        if residual <= rounding and np.linalg.norm(solve(missed)) <= SOLVED * np.linalg.norm(u):
            tolerance, judged = rounding, "round-off"
    solved = residual <= tolerance
    message = "" if finite else "not finite"
    if finite and not solved:
        message = f"the linear system is solved to {residual:.2g} only"
    return SolveReport(
        finite, 1, residual, tolerance, counts, seconds, message=message, certified=solved, judged=judged
    )
