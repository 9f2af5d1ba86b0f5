"""BDF2: order 2, L-stable, one solve per step; needs the previous state. [Weidner2022, Eq. C.6]"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.integrators.base import NonlinearSolver, default_solver
from pliant.integrators.sdirk2 import two_stages
from pliant.linear.threads import one_thread
from pliant.stage import Stage, consistent, motor_work, solve_stage
from pliant.state import SolveReport, State, Step
from pliant.systems.base import Smooth, System


@dataclass(frozen=True, eq=False)
class History:
    """The last two states as this integrator left them, the step between them, and the solver's memory.

    ``power`` [W] is what motors put in at the end of that step.
    """

    q: Array
    v: Array
    previous_q: Array
    previous_v: Array
    h: float
    solver: Any
    power: float = 0.0

    def continues(self, state: State, h: float) -> bool:
        """Whether a step of size h from ``state`` may use this history: nobody changed the state or the step size."""
        same = self.h == h and self.q.shape == state.q.shape
        return same and np.array_equal(self.q, state.q) and np.array_equal(self.v, state.v)

    def moved(self, state: State) -> "History":
        """The history of a state whose velocities were changed by less than the errors of a step."""
        return replace(self, v=state.v)


@dataclass(frozen=True)
class BDF2:
    """c = 2h/3, base = (4 q_n - q_{n-1})/3; starts, and restarts after any discontinuity, with one SDIRK2 step."""

    solver: NonlinearSolver = default_solver
    order: ClassVar[int] = 2
    made_for: ClassVar[type] = Smooth

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        if memory is None or not memory.continues(state, h):
            state = consistent(system, state)
            first = two_stages(self.solver, system, state, h, None if memory is None else memory.solver)
            history = self._history(first.state, state, h, first.memory, first.reports[-1])
            return Step(first.state, history, first.reports, work=first.work)
        q, v, t = state.q, state.v, state.t + h
        c = 2.0 / 3.0 * h
        base = (4.0 * q - memory.previous_q) / 3.0
        target = base + c * (4.0 * v - memory.previous_v) / 3.0
        stage = Stage(system, c, target, base, t=t, frame=system.prescribe(q + h * v, t), start=state)
        q, report, solver = solve_stage(stage, self.solver, memory.solver)
        after = State(q, stage.velocity(q), t)
        work = {name: 0.5 * (h * memory.power + done) for name, done in motor_work((h, report)).items()}
        return Step(after, self._history(after, state, h, solver, report), (report,), work=work)

    @staticmethod
    def _history(after: State, before: State, h: float, solver: Any, report: SolveReport) -> History:
        power = 0.0 if report.reactions is None else report.reactions.power
        return History(after.q, after.v, before.q, before.v, h, solver, power)
