"""The time step of Eulerian-on-Lagrangian cloth alone, and of the Lagrangian cloth beside it."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pliant.clock import Clock
from pliant.cloth.active_set import ActiveSet
from pliant.cloth.impulses import solve
from pliant.cloth.system import EolCloth
from pliant.linear.qp import QPSolver
from pliant.state import State, Step


@dataclass(frozen=True)
class EolStep:
    """Linearly implicit cloth step: min 1/2 v^T (M - h^2 K) v - v^T (M v0 + h f) under contact rows.

    [Weidner2022, Eq. 2.12]. How the cloth meets features and is remeshed is its own choice, `Eulerian`.
    """

    qp: QPSolver = ActiveSet()
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = EolCloth
    works: ClassVar[tuple[str, ...]] = ("friction",)

    def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step:
        clock = Clock()
        prepared = system.prepare(state, h, memory)
        clock.seconds.update(prepared.seconds)
        with clock("solve"):
            solution = solve(prepared.block, prepared.expected, prepared.bound.pushes.vertex, self.qp)
        u, equality, inequality = solution.u, solution.equality, solution.inequality
        dt = prepared.reach(u, h, inequality)
        moved = prepared.finish(u, equality, inequality, dt)
        report = replace(solution.report, seconds=clock.totals(), history=(dict(moved.notes),))
        new = Step(moved.state, moved.memory, (report,), moved.system, moved.start, moved.work)
        return new if dt == h else self.rest(new, system, h - dt)

    def rest(self, first: Step, system: EolCloth, h: float) -> Step:
        """The remainder of a step that was cut short because the crease would have run over a face."""
        second = self.step(first.system or system, first.state, h, first.memory)
        changed = second.system or first.system
        start = first.start if second.system is None else None  # no state of the second mesh is that old
        work = {name: first.work[name] + done for name, done in second.work.items()}
        return Step(second.state, second.memory, first.reports + second.reports, changed, start, work)
