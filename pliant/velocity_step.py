"""The velocity step: one quadratic programme behind every linearly implicit method.

    min_u  1/2 u^T A u - u^T b      s.t.  Aeq u = beq,  C u >= d
    A = J^T (M - h D - beta h^2 K) J,      b = J^T (M v + h (f - D v - M Jdot u0))

J maps the velocities that are really free to those of the material: the identity for VANILLA [Weidner2022, App. C],
the condensation Jacobian for ConJac [ConJac2020, Eq. 10], joint rates for RedMax [Weidner2022, Eq. 3.6], Lagrangian and
Eulerian cloth velocities for EOL [Weidner2022, Eq. 2.12]. A coupled scene stacks blocks of J.
D v is subtracted because the damping force at the new velocity is already on the left.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import NotPositiveDefinite
from pliant.linear.cholesky import Cholesky
from pliant.state import Counts, SolveReport, State

Matrix = Any  # a dense Array or a scipy.sparse matrix
Rows = tuple[Matrix, Array]


@dataclass(frozen=True)
class VelocitySolution:
    """The new velocities ``u``; impulses [N s] of the equality rows (either sign) and inequality rows (>= 0).

    The rows act on the velocities as A u = b + Aeq^T equality + C^T inequality.
    """

    u: Array
    equality: Array
    inequality: Array
    report: SolveReport
    memory: Any = None


@dataclass(frozen=True, eq=False)
class Live:
    """Rows of a block that push against another part: the body ``body (k,)`` of those it was shown, at the points
    ``x (k, 3)`` along ``normal (k, 3)``. The rows ``rows (k,)`` (equalities first, then inequalities) bound
    normal . (own velocity - velocity of the body at x); the block's own matrix holds the first term only.
    """

    rows: IntArray
    body: IntArray
    x: Array
    normal: Array


@dataclass(frozen=True, eq=False)
class Block:
    """A part's share of a velocity step: 1/2 u^T A u - u^T b over its own velocities, its own rows, its points.

    ``x (p, 3)`` are its points where the step linearises, ``J (3 p, n)`` gives their velocities J u.
    """

    A: Matrix
    b: Array
    x: Array
    J: sp.csr_matrix
    equality: Rows | None = None
    inequality: Rows | None = None
    live: Live | None = None


@dataclass(frozen=True, eq=False)
class Moved:
    """A part after a velocity step: its state, its new system if its mesh changed, its memory, work [J] by name."""

    state: State
    memory: Any = None
    system: Any = None
    start: State | None = None  # where it set out from in the coordinates of the new system
    work: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, float] = field(default_factory=dict)  # of the step, for the history of its report


class Prepared(Protocol):
    """A part in the middle of a velocity step."""

    @property
    def block(self) -> Block: ...

    def reach(self, u: Array, inequality: Array, h: float) -> float:
        """How much of h the part may move with u before its mesh would break; h when there is no limit.

        The impulses are needed where friction changes u after the solve.
        """
        ...

    def finish(self, u: Array, equality: Array, inequality: Array, h: float) -> Moved:
        """The part moved for h [s] with its velocities u; the impulses [N s] of its own rows."""
        ...


def project(J: Matrix, A: Matrix, b: Array) -> tuple[Matrix, Array]:
    """(J^T A J, J^T b): the same step in the coordinates that are free."""
    return J.T @ (A @ J), J.T @ b


def velocity_step(
    A: Matrix,
    b: Array,
    *,
    equality: Rows | None = None,
    inequality: Rows | None = None,
    linear: Any = None,
    qp: Any = None,
    memory: Any = None,
) -> VelocitySolution:
    """Solve the quadratic programme above. Without rows it is one Cholesky solve, dense or sparse as A is.

    ``linear`` is a LinearSolver (default `Cholesky`), ``qp`` a QP solver of `pliant.linear.qp`; ``memory`` is the
    analysis or warm start returned by the previous step.
    """
    if _empty(equality) and _empty(inequality):
        return _unconstrained(A, b, linear or Cholesky(), memory)
    from pliant.linear.qp import solve_qp

    start = perf_counter()
    options = {} if qp is None else {"solver": qp}
    result = solve_qp(sp.csc_matrix(A), -b, equality=equality, inequality=inequality, warm=memory, **options)
    report = SolveReport(
        converged=result.converged,
        iterations=result.iterations,
        residual=result.residual,
        tolerance=result.tolerance,
        seconds={"solve": perf_counter() - start},
        message=result.message,
    )
    return VelocitySolution(result.x, result.y_equality, result.z_inequality, report, result.warm)


def _empty(rows: Rows | None) -> bool:
    return rows is None or len(rows[1]) == 0


def _unconstrained(A: Matrix, b: Array, linear: Any, memory: Any) -> VelocitySolution:
    none = np.zeros(0)
    start = perf_counter()
    if not sp.issparse(A):
        try:
            u = scipy.linalg.cho_solve(scipy.linalg.cho_factor(A), b)
        except scipy.linalg.LinAlgError as error:
            raise NotPositiveDefinite(f"the velocity matrix is not positive definite: {error}") from error
        seconds = {"solve": perf_counter() - start}
        return VelocitySolution(u, none, none, _linear_report(A @ u - b, b, Counts(0, 0, 0, 1, 1), seconds))
    factor = linear.factor(A if isinstance(A, sp.csr_matrix) else sp.csr_matrix(A), memory)
    middle = perf_counter()
    u = factor.solve(b)
    seconds = {"factor": middle - start, "solve": perf_counter() - middle}
    counts = Counts(0, 0, int(factor.analysed), 1, 1, factor.inner)
    return VelocitySolution(u, none, none, _linear_report(A @ u - b, b, counts, seconds), factor.memory)


def _linear_report(residual: Array, b: Array, counts: Counts, seconds: dict[str, float]) -> SolveReport:
    relative = float(np.linalg.norm(residual) / max(float(np.linalg.norm(b)), 1e-300))
    finite = bool(np.isfinite(relative))
    return SolveReport(finite, 1, relative, float("nan"), counts, seconds, message="" if finite else "not finite")
