"""Backward Euler, order 1: very stable, damps everything it cannot resolve. [Weidner2022, App. C.2]"""

from dataclasses import dataclass
from typing import Any, ClassVar

from pliant.closed_stage import closure_work
from pliant.integrators.base import NonlinearSolver, default_solver
from pliant.linear.threads import one_thread
from pliant.solve_stage import solve_stage
from pliant.stage import Stage
from pliant.state import State, Step
from pliant.systems.base import System
from pliant.systems.stepped import Pointwise, Smooth


@dataclass(frozen=True)
class BDF1:
    """Backward Euler: order 1, very stable, damps everything it cannot resolve [Weidner2022, App. C.2].

    M (q - q_n - h v_n) = h^2 f(q, (q - q_n)/h, t + h), v = (q - q_n)/h.

    With ``points`` this holds for the material points of links instead of their joint coordinates: J^T M (x - x_n - h
    x'_n) = h^2 f, and v are the rates that best fit (x - x_n)/h. A step is then the minimum of a potential for joints
    too. Use it with barriers where links rotate by up to half a radian per step.
    """

    solver: NonlinearSolver = default_solver
    points: bool = False
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = Smooth

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        q, v, t = state.q, state.v, state.t + h
        target = q + h * v
        acting = system.pointwise(state, h) if self.points and isinstance(system, Pointwise) else system
        stage = Stage(acting, h, target, base=q, t=t, frame=system.prescribe(target, t), start=state)
        q, report, memory = solve_stage(stage, self.solver, memory)
        v = stage.velocity(q)
        if self.points and isinstance(system, Pointwise):
            v = system.fitted(state.q, q, h)
        return Step(State(q, v, t), memory, (report,), work=closure_work((h, report)))
