"""The linearly implicit step of RedMax [Weidner2022, Eq. 3.6].

    A u = J^T M J v + h (f_r + J^T (f_m - M Jdot v)),   A = J^T (M - hD - h^2 K) J - h D_r - h^2 K_r,   q += h u
    s.t.  G u = e,  C u >= d

Without rows it is one linear solve (`Dense`, `Sparse`, `PCG`); with rows a quadratic programme: the shared velocity
step for explicit matrices, a small dual programme behind `PCG`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.constraints.rows import Rows, RowSet, stacked
from pliant.articulated.linear import Dense, Factored, MatrixChoice, Solved, VelocityMatrix
from pliant.articulated.system import ArticulatedSystem, Assembly
from pliant.articulated.tree import Kinematics
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.linear.qp import solve_qp
from pliant.state import Counts, SolveReport, State, Step
from pliant.velocity_step import velocity_step


@dataclass(frozen=True)
class Impulses:
    """Multipliers of the step per constraint: force = G^T impulse / h. Motors read their torque here.

    ``power`` [W] is what the constraints that prescribe a rate put in: force times rate, row by row.
    """

    owners: tuple[int, ...]  # positions in system.constraints, one per row
    values: Array  # (rows,)
    h: float
    power: float = 0.0

    @staticmethod
    def of(rows: Sequence[Rows], values: Array, h: float) -> "Impulses":
        """From the rows, equalities first, and their multipliers."""
        owners = tuple(int(r.owner) for r in rows for _ in r.g)
        rates = np.concatenate([np.zeros(0), *(0.0 * r.rate if r.inequality else r.rate for r in rows)])
        return Impulses(owners, values, h, float(rates @ values) / h)

    def force(self, constraint: int) -> Array:
        """Constraint forces [N or N m] of the rows of one constraint."""
        return self.values[np.array(self.owners, dtype=int) == constraint] / self.h


@dataclass(frozen=True)
class LinearlyImplicitTree:
    """One velocity step of an articulated system. Memory is the `Impulses` of the step before."""

    matrix: MatrixChoice = Dense()  # noqa: RUF009  (a frozen value)
    qp: Any = None
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = ArticulatedSystem
    works: ClassVar[tuple[str, ...]] = ("motors",)

    def step(self, system: ArticulatedSystem, state: State, h: float, memory: Any = None) -> Step:
        _refuse_friction(system)
        q, v = system.tree.reparameterise(state.q, state.v)
        t = state.t + h
        kin = system.kinematics(q, v)
        at = system.assemble(kin, t)
        equality, inequality = active_rows(system, kin, t)
        b = right_hand_side(at, h)
        try:
            A = self.matrix.prepare(at, h)
            u, impulses, report = solve_rows(A, b, equality, inequality, v, self.qp)
        except NotPositiveDefinite as error:
            return Step(state, memory, (SolveReport(False, 1, float("nan"), 0.0, Counts(1, 1), message=str(error)),))
        if not np.isfinite(u).all():
            return Step(state, memory, (SolveReport(False, 1, float("nan"), 0.0, Counts(1, 1), message="not finite"),))
        acted = Impulses.of((*equality.parts, *inequality.parts), impulses, h)
        return Step(State(q + h * u, u, t), acted, (report,), work={"motors": h * acted.power})


def _refuse_friction(system: ArticulatedSystem) -> None:
    for c in system.constraints:
        if getattr(c, "mu", None):
            what, remedy = f"{type(c).__name__} has friction mu = {c.mu:g}", "use BISP, or give mu = 0"  # type: ignore[attr-defined]
            raise SceneError(what, where="LinearlyImplicitTree", remedy=remedy)


def active_rows(system: ArticulatedSystem, kin: Kinematics, t: float) -> tuple[RowSet, RowSet]:
    """Equalities and the inequalities that act now."""
    b = system.baumgarte
    return (
        stacked(kin, system.rows(kin, t, inequality=False), b),
        stacked(kin, system.rows(kin, t, inequality=True), b),
    )


def right_hand_side(at: Assembly, h: float) -> Array:
    """J^T (M J v + h f~) + h f_r (nr,)."""
    return at.kin.apply_transpose(at.inertia * at.kin.twists + h * at.biased) + h * at.f_r


def solve_rows(
    A: VelocityMatrix, b: Array, equality: RowSet, inequality: RowSet, guess: Array, qp: Any
) -> tuple[Array, Array, SolveReport]:
    """(u, impulses of all rows, report)."""
    if not len(equality) and not len(inequality):
        s = A.solve(b, guess)
        report = SolveReport(s.converged, max(s.counts.inner, 1), s.residual, np.inf, s.counts + Counts(1, 1))
        return s.x, np.zeros(0), report
    if isinstance(A, Factored):
        solution = velocity_step(
            A.A, b, equality=(equality.matrix, equality.rhs), inequality=(inequality.matrix, inequality.rhs), qp=qp
        )
        return solution.u, np.concatenate([solution.equality, solution.inequality]), solution.report
    return _dual(A, b, equality, inequality, guess, qp)


def _dual(
    A: VelocityMatrix, b: Array, equality: RowSet, inequality: RowSet, guess: Array, qp: Any
) -> tuple[Array, Array, SolveReport]:
    """The programme in its multipliers: min 1/2 y^T (G A^-1 G^T) y + y^T (G A^-1 b - rhs), y >= 0 for inequalities."""
    G = np.concatenate([equality.matrix, inequality.matrix])
    rhs = np.concatenate([equality.rhs, inequality.rhs])
    columns: list[Solved] = [A.solve(b, guess)] + [A.solve(g, np.zeros_like(b)) for g in G]
    X = np.stack([s.x for s in columns[1:]], axis=1)
    m, k = len(rhs), len(inequality)
    bounds = (np.eye(m)[m - k :], np.zeros(k))
    options = {} if qp is None else {"solver": qp}
    W = G @ X
    result = solve_qp(0.5 * (W + W.T), G @ columns[0].x - rhs, inequality=bounds, **options)
    counts = Counts(1, 1)
    for s in columns:
        counts = counts + s.counts
    good = result.converged and all(s.converged for s in columns)
    report = SolveReport(good, result.iterations, result.residual, result.tolerance, counts, message=result.message)
    return columns[0].x + X @ result.x, result.x, report
