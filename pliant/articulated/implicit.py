"""BDF1 and BDF2 on joint coordinates, through the shared stage and its nonlinear solvers [Weidner2022, App. C].

Closed loops, coupled joints and prescribed motion are met exactly at the new positions (`ClosedStage`).
"""

from dataclasses import dataclass, field
from math import sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.articulated.closed_stage import ClosedStage, consistent_velocity
from pliant.articulated.dynamics import Impulses
from pliant.articulated.reduced_stage import ReducedStage
from pliant.articulated.system import ArticulatedSystem
from pliant.solvers.base import NonlinearSolver, Tolerance
from pliant.solvers.newton import Newton
from pliant.state import SolveReport, State, Step

ALPHA = 1.0 - 1.0 / sqrt(2.0)  # of SDIRK2, which starts BDF2


@dataclass(frozen=True)
class LU:
    """Dense LU of a general matrix behind the interface of the linear solvers; least squares where it is singular."""

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> "LUFactor":
        return LUFactor(A.toarray())


class LUFactor:
    memory: Any = None
    analysed = False
    inner = 0

    def __init__(self, A: Array) -> None:
        self._A = A
        self._factor, self._pivots, _ = scipy.linalg.lapack.dgetrf(A)
        pivots = np.abs(np.diag(self._factor))
        self._singular = bool(pivots.min(initial=1.0) <= 1e-12 * pivots.max(initial=1.0))  # redundant closures

    def solve(self, b: Array) -> Array:
        if self._singular:
            return np.asarray(np.linalg.lstsq(self._A, b, rcond=1e-12)[0], dtype=float)
        return scipy.linalg.lu_solve((self._factor, self._pivots), b)


def _newton() -> NonlinearSolver:
    return Newton(linear=LU(), tolerance=Tolerance(relative=1e-12, absolute=1e-10))


@dataclass(frozen=True)
class TreeBDF1:
    """Backward Euler on joint coordinates: target = q + h v, base = q. Memory is the `Impulses` of the step."""

    solver: NonlinearSolver = field(default_factory=_newton)
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = ArticulatedSystem
    works: ClassVar[tuple[str, ...]] = ("motors",)

    def step(self, system: ArticulatedSystem, state: State, h: float, memory: Any = None) -> Step:
        q, v = system.tree.reparameterise(state.q, state.v)
        new = _solve(self.solver, ReducedStage(system, h, q + h * v, q, state.t + h, q), q + h * v)
        work = {"motors": h * new.impulses.power}
        return Step(State(new.q, new.v, state.t + h), new.impulses, (new.report,), work=work)


@dataclass(frozen=True, eq=False)
class History:
    """The previous state, valid only while nobody changes the present one."""

    previous_q: Array
    previous_v: Array
    q: Array
    h: float
    impulses: Impulses  # of the constraints, for who wants to read motor forces


@dataclass(frozen=True)
class TreeBDF2:
    """BDF2 on joint coordinates; starts, and restarts after a change of chart or step, with SDIRK2."""

    solver: NonlinearSolver = field(default_factory=_newton)
    order: ClassVar[int] = 2
    made_for: ClassVar[type] = ArticulatedSystem
    works: ClassVar[tuple[str, ...]] = ("motors",)

    def step(self, system: ArticulatedSystem, state: State, h: float, memory: History | None = None) -> Step:
        q, v = system.tree.reparameterise(state.q, state.v)
        if memory is None or memory.h != h or not np.array_equal(memory.q, q):
            return self._start(system, State(q, v, state.t), h)
        c = 2.0 / 3.0 * h
        base = (4.0 * q - memory.previous_q) / 3.0
        target = base + c * (4.0 * v - memory.previous_v) / 3.0
        new = _solve(self.solver, ReducedStage(system, c, target, base, state.t + h, q), q + h * v)
        work = {"motors": 0.5 * h * (memory.impulses.power + new.impulses.power)}
        history = History(q, v, new.q, h, new.impulses)
        return Step(State(new.q, new.v, state.t + h), history, (new.report,), work=work)

    def _start(self, system: ArticulatedSystem, state: State, h: float) -> Step:
        q, c = state.q, ALPHA * h
        v = consistent_velocity(system, state)
        a = _solve(self.solver, ReducedStage(system, c, q + c * v, q, state.t + c, q), q + c * v)
        base = q + (1.0 - ALPHA) * h * a.v
        target = q + (2.0 * ALPHA - 1.0) * h * v + (2.0 - 2.0 * ALPHA) * h * a.v
        stage = ReducedStage(system, c, target, base, state.t + h, a.q)
        new = _solve(self.solver, stage, a.q + (1.0 - ALPHA) * h * a.v)
        history = History(q, v, new.q, h, new.impulses)
        work = {"motors": h * ((1.0 - ALPHA) * a.impulses.power + ALPHA * new.impulses.power)}
        return Step(State(new.q, new.v, state.t + h), history, (a.report, new.report), work=work)


class _Root(NamedTuple):
    """Where a stage is zero, with the constraint forces there."""

    q: Array
    v: Array
    impulses: Impulses
    report: SolveReport


def _solve(solver: NonlinearSolver, stage: ReducedStage, guess: Array) -> _Root:
    if not stage.system.constraints:
        solution = solver.solve(stage, guess)
        none = Impulses((), np.zeros(0), stage.c)
        return _Root(solution.z, stage.velocity(solution.z), none, solution.report)
    closed = ClosedStage(stage)
    solution = solver.solve(closed, closed.joined(guess))
    q, multipliers = closed.split(solution.z)
    acted = Impulses.of(closed.rows(q)[1], multipliers / stage.c, stage.c)
    return _Root(q, stage.velocity(q), acted, solution.report)
