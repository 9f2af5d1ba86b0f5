"""Linearly implicit Euler (Baraff-Witkin, VANILLA): one linear solve per step.

    (M - h D - beta h^2 K) v = M v_n + h (f - D v_n),    q = q_n + h v

beta = 1 is exactly one Newton step of backward Euler from q_n; beta = 1/2 is the least value that is stable for linear
forces at any h, and larger ones are pure damping. [Weidner2022, Eq. C.1; ConJac2020, Eq. 10; Chen2019, Eq. 2.10]
What moves on joints, slides through cloth or is coupled to others prepares its own block of the same equation.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Any, ClassVar, Literal

import numpy as np

from pliant.abilities import able
from pliant.clock import Clock
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.linear.base import LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.qp import QPSolver
from pliant.linear.staggered import Staggered
from pliant.linear.threads import one_thread
from pliant.state import Counts, SolveReport, State, Step
from pliant.systems.base import System
from pliant.systems.stepped import Direct, Stepping
from pliant.velocity_programme import SOLVED, VelocitySolution
from pliant.velocity_step import Block, Linearisation, MatrixChoice, Telling, Trading, solve_block

_ONCE = Counts(1, 1, 0, 1, 1)
_NO_WORK: Mapping[str, float] = {"friction": 0.0, "motors": 0.0}


@dataclass(frozen=True, eq=False)
class StepMemory:
    """The memory of a velocity step: what the system keeps (joints: the impulses of their constraints), and the solver.

    A solver's memory is rebuilt or only a better start, so nothing is lost when the number of rows changes. ``span``
    [s] is that of `Linearisation`: how long steps have been.
    """

    part: Any = None
    solver: Any = None
    span: float = 0.0


@dataclass(frozen=True)
class LinearlyImplicit:
    """Linearly implicit Euler: order 1, one linear solve per step, for bodies of every kind.

    ``variant="A"`` linearises at q_n [Chen2019, Eq. 2.10]; "B" at q_n + h v_n, one Newton step on the velocities.

    Since nothing is iterated, the result depends on the matrix, and frozen or extrapolated factors must not be used
    here. ``matrix`` (in `pliant.articulated`) says how the matrix of joints is kept: `Dense`, `Sparse`, `MatrixFree`.
    With contacts, limits and closures the step is a quadratic program, solved by ``qp`` (None: what a part asks for,
    else Clarabel), and with ``friction`` at sliding contacts.

    A step that would break a mesh (the crease of Eulerian cloth moving across a face) is taken in two pieces, each
    solved on its own. Moving with the velocities of the whole step up to the break, and solving only for the rest,
    would let forces act on the first piece for the whole step.
    """

    beta: float = 1.0
    variant: Literal["A", "B"] = "A"
    psd: bool = True
    linear: LinearSolver = field(default_factory=Cholesky)
    matrix: MatrixChoice | None = None
    qp: QPSolver | None = None
    friction: Staggered = field(default_factory=Staggered)
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = Stepping
    works: ClassVar[tuple[str, ...]] = ("friction", "motors")

    def __post_init__(self) -> None:
        if not self.beta >= 0.0:
            remedy = "use 1, or 1/2 for the least damping that is stable for every h"
            raise SceneError(f"beta is {self.beta}", where="LinearlyImplicit.beta", remedy=remedy)

    @cached_property
    def how(self) -> Linearisation:
        """The options that the parts need to prepare their blocks."""
        return Linearisation(self.beta, self.psd, self.variant == "B", self.matrix, points=False)

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: StepMemory | None = None) -> Step:
        kept = memory or StepMemory()
        how = replace(self.how, span=max(h, kept.span))
        if able(system, Direct):
            begun = perf_counter()
            found = system.directly(state, h, how)
            if found is not None and found[2] <= SOLVED:
                after, part, residual = found
                report = SolveReport(True, 1, residual, SOLVED, _ONCE, {"solve": perf_counter() - begun})
                return Step(after, StepMemory(part, span=how.span_after(h)), (report,), work=_NO_WORK)
        if not able(system, Stepping):
            remedy = "give it prepare(state, h, memory, how), or use BDF1"
            raise SceneError(f"{type(system).__name__} prepares no step", where="LinearlyImplicit", remedy=remedy)
        clock = Clock()
        try:
            with clock("fill"):
                prepared = system.prepare(state, h, kept.part, how)
                block = prepared.block
            for phase, seconds in block.seconds.items():  # all within "fill"
                clock.seconds[phase] = clock.seconds.get(phase, 0.0) + seconds
                clock.seconds["fill"] -= seconds
            with clock("solve"):
                solution = solve_block(
                    block, linear=self.linear, qp=self.qp, friction=self.friction, memory=kept.solver
                )
        except NotPositiveDefinite as error:
            report = SolveReport(False, 1, float("nan"), 0.0, Counts(1, 1), clock.totals(), message=str(error))
            return Step(state, memory, (report,))
        report = _reported(solution, clock)
        if not np.isfinite(solution.u).all():
            return Step(state, memory, (report,))
        dt = prepared.reach(solution.u, h)
        if dt < h:
            return self._pieces(system, state, (dt, h - dt), replace(kept, span=how.span))
        moved = prepared.finish(solution.u, solution.equality, solution.inequality, h)
        work = {**moved.work, "friction": moved.work.get("friction", 0.0) + _rubbed(block, solution)}
        traded = prepared.exchanged(solution) if able(prepared, Trading) else {}
        carried = prepared.dragged(solution) if able(prepared, Trading) else _carried(block, solution)
        if "scripts" in work or carried != 0.0:
            work["scripts"] = work.get("scripts", 0.0) + carried
        if able(prepared, Telling):
            report = replace(report, acted=prepared.acted(solution))
        if moved.notes:
            report = replace(report, history=(dict(moved.notes),))
        kept = StepMemory(moved.memory, solution.memory, how.span_after(h))
        return Step(moved.state, kept, (report,), moved.system, moved.start, work, traded)

    def _pieces(self, system: System, state: State, pieces: tuple[float, float], memory: StepMemory) -> Step:
        """A step in two pieces, because a mesh would have broken; forces act for the duration of each."""
        first = self.step(system, state, pieces[0], memory)
        if not all(report.converged for report in first.reports):
            return first
        second = self.step(first.system or system, first.state, pieces[1], first.memory)
        changed = second.system or first.system
        start = first.start if second.system is None else None  # no state of the second mesh is that old
        return replace(
            second,
            reports=first.reports + second.reports,
            system=changed,
            start=start,
            work=_added(first.work, second.work),
            exchange=_added(first.exchange, second.exchange),
        )


def _added(a: Mapping[Any, float], b: Mapping[Any, float]) -> dict[Any, float]:
    return {name: a.get(name, 0.0) + b.get(name, 0.0) for name in {**a, **b}}


def _rubbed(block: Block, solution: VelocitySolution) -> float:
    """The work [J] of friction: impulses times slips."""
    if block.slip is None:
        return 0.0
    return float(solution.friction @ (block.slip.T @ solution.u - block.slip.drift))


def _carried(block: Block, solution: VelocitySolution) -> float:
    """The work [J] of what moves by itself and rubs: impulses times its own velocities."""
    return 0.0 if block.slip is None else float(solution.friction @ block.slip.drift)


def _reported(solution: VelocitySolution, clock: Clock) -> SolveReport:
    finite = bool(np.isfinite(solution.u).all())
    message = solution.report.message if finite else "velocities are not finite"
    counts = solution.report.counts + Counts(1, 1)
    found = replace(solution.report, counts=counts, seconds=clock.totals(), message=message)
    return replace(found, converged=found.converged and finite)
