"""Backward Euler, order 1: very stable, damps everything it cannot resolve. [Weidner2022, App. C.2]"""

from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.integrators.base import NonlinearSolver, default_solver
from pliant.linear.threads import one_thread
from pliant.stage import Stage, motor_work, solve_stage
from pliant.state import State, Step
from pliant.systems.base import Smooth, System


@dataclass(frozen=True)
class BDF1:
    """M (q - q_n - h v_n) = h^2 f(q, (q - q_n)/h, t + h),  v = (q - q_n)/h."""

    solver: NonlinearSolver = default_solver
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = Smooth

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        q, v, t = state.q, state.v, state.t + h
        target = q + h * v
        stage = Stage(system, h, target, base=q, t=t, frame=system.prescribe(target, t), start=state)
        q, report, memory = solve_stage(stage, self.solver, memory)
        return Step(State(q, stage.velocity(q), t), memory, (report,), work=motor_work((h, report)))
