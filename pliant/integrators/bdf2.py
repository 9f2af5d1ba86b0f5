"""BDF2: order 2, L-stable, one solve per step; needs the previous state. [Weidner2022, Eq. C.6; Hairer1993, III.5]"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.closed_stage import closure_work, consistent
from pliant.integrators.base import NonlinearSolver, default_solver
from pliant.integrators.estimate import LocalError
from pliant.integrators.sdirk2 import estimated_stages, two_stages
from pliant.linear.threads import one_thread
from pliant.solve_stage import solve_stage
from pliant.stage import Stage
from pliant.state import SolveReport, State, Step
from pliant.systems.base import System
from pliant.systems.stepped import Smooth

STEPPED, KEPT = 2, 3  # states: two for a step, one more to estimate its error
RATIO = 2.4  # of a step to the one before: from 1 + sqrt 2 on errors may grow [Hairer1993, III.5]


@dataclass(frozen=True, eq=False)
class History:
    """The last states as this integrator left them, newest first, the steps [s] between them, the solver's memory.

    ``motors`` and ``scripts`` [W] are what they put in at closures at the end of the last step.
    """

    states: tuple[State, ...]
    steps: tuple[float, ...]
    solver: Any
    motors: float = 0.0
    scripts: float = 0.0

    def continues(self, state: State, h: float, states: int = 2) -> bool:
        """Whether a step of size h from ``state`` may use this history: it has enough states, nobody changed the last
        one, and the step is not too long for it."""
        last = self.states[0]
        known = len(self.states) >= states and last.q.shape == state.q.shape and h <= RATIO * self.steps[0]
        return known and np.array_equal(last.q, state.q) and np.array_equal(last.v, state.v)

    def extrapolated(self, h: float) -> tuple[float, Array, Array]:
        """(c, base, velocity) of a step of size h: q = base + c v, and v would be this velocity without forces."""
        now, before = self.states[:2]
        r = h / self.steps[0]
        mixed = lambda new, old: ((1.0 + r) ** 2 * new - r * r * old) / (1.0 + 2.0 * r)
        return (1.0 + r) / (1.0 + 2.0 * r) * h, mixed(now.q, before.q), mixed(now.v, before.v)

    def moved(self, state: State) -> "History":
        """The history of a state whose velocities were changed by less than the errors of a step."""
        return replace(self, states=(state, *self.states[1:]))


@dataclass(frozen=True)
class BDF2:
    """Second-order backward differentiation: L-stable, little damping, one solve per step [Weidner2022, Eq. C.6].

    c = (1 + r)/(1 + 2 r) h, base = ((1 + r)^2 q_n - r^2 q_{n-1})/(1 + 2 r) with the ratio r of the last two steps.

    Equal steps have r = 1: c = 2h/3, base = (4 q_n - q_{n-1})/3. It starts with one SDIRK2 step, and does so again
    after any discontinuity and where a step is more than 2.4 times as long as the one before.
    """

    solver: NonlinearSolver = default_solver
    order: ClassVar[int] = 2
    made_for: ClassVar[type] = Smooth

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        if memory is not None and memory.continues(state, h):
            return self._continued(system, state, h, memory, STEPPED)
        state = consistent(system, state)
        first = two_stages(self.solver, system, state, h, None if memory is None else memory.solver)
        return _remembered(first, state, h, None, STEPPED)

    @one_thread()
    def estimated(
        self, system: System, state: State, h: float, memory: Any = None, analysis: Any = None
    ) -> tuple[Step, LocalError]:
        """The step and its error -c h (h + h') q[t_{n+1}, t_n, t_{n-1}, t_{n-2}], by Milne's device: a divided
        difference in place of q'''/6. The first two steps are SDIRK2's."""
        if memory is None or not memory.continues(state, h):
            state = consistent(system, state)
            solver = None if memory is None else memory.solver
            first, error = estimated_stages(self.solver, system, state, h, solver, analysis)
            return _remembered(first, state, h, None, KEPT), error
        if not memory.continues(state, h, KEPT):
            second, error = estimated_stages(self.solver, system, state, h, memory.solver, analysis)
            return _remembered(second, state, h, memory, KEPT), error
        step = self._continued(system, state, h, memory, KEPT)
        steps = (h, *memory.steps)
        r = steps[0] / steps[1]
        share = -(1.0 + r) / (1.0 + 2.0 * r) * h * h * (h + steps[1])
        states = (step.state, *memory.states)
        q, v = (share * third_difference([x(s) for s in states], steps) for x in (_position, _velocity))
        held = np.ones(len(q), dtype=bool)
        held[system.free] = False
        q[held] = v[held] = 0.0
        return step, LocalError(q, v, 3, RATIO, analysis)

    def _continued(self, system: System, state: State, h: float, memory: History, kept: int) -> Step:
        t = state.t + h
        c, base, v = memory.extrapolated(h)
        frame = system.prescribe(state.q + h * state.v, t)
        stage = Stage(system, c, base + c * v, base, t=t, frame=frame, start=state)
        q, report, solver = solve_stage(stage, self.solver, memory.solver)
        last = {"motors": memory.motors, "scripts": memory.scripts}
        work = {name: 0.5 * (h * last[name] + done) for name, done in closure_work((h, report)).items()}
        return _remembered(Step(State(q, stage.velocity(q), t), solver, (report,), work=work), state, h, memory, kept)


def _remembered(step: Step, before: State, h: float, memory: History | None, kept: int) -> Step:
    """The step with its history of ``kept`` states in the place of the solver's memory."""
    older, steps = ((before,), ()) if memory is None else (memory.states, memory.steps)
    report: SolveReport = step.reports[-1]
    powers = (0.0, 0.0) if report.reactions is None else (report.reactions.power, report.reactions.scripts)
    history = History((step.state, *older)[:kept], (h, *steps)[: kept - 1], step.memory, *powers)
    return Step(step.state, history, step.reports, work=step.work)


def third_difference(values: list[Array], steps: tuple[float, ...]) -> Array:
    """The divided difference of four values, newest first, over the three ``steps`` between them."""
    a, b, c = steps
    first = [(values[k] - values[k + 1]) / steps[k] for k in range(3)]
    second = (first[0] - first[1]) / (a + b), (first[1] - first[2]) / (b + c)
    return (second[0] - second[1]) / (a + b + c)


def _position(state: State) -> Array:
    return state.q


def _velocity(state: State) -> Array:
    return state.v
