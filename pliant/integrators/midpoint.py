"""Implicit midpoint: order 2, no numerical damping, keeps quadratic invariants. [Chen2019, Eq. 2.11, corrected]"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.closed_stage import closure_work, consistent, require_flat
from pliant.integrators.base import NonlinearSolver, default_solver
from pliant.linear.threads import one_thread
from pliant.solve_stage import solve_stage
from pliant.stage import Stage
from pliant.state import State, Step
from pliant.systems.base import System
from pliant.systems.stepped import Smooth


@dataclass(frozen=True)
class ImplicitMidpoint:
    """Implicit midpoint rule: order 2, no numerical damping [Chen2019, Eq. 2.11, corrected].

    One backward Euler step of h/2 to the midpoint m, then q = 2 m - q_n and v = 2 v_m - v_n. A run begins with
    velocities that agree with ties: others would change their sign in every step.
    """

    solver: NonlinearSolver = default_solver
    order: ClassVar[int] = 2
    made_for: ClassVar[type] = Smooth
    extrapolates: ClassVar[bool] = True  # the new state lies beyond the solved stage, where barriers do not watch

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        require_flat(system, state, "ImplicitMidpoint")
        state = consistent(system, state) if memory is None else state
        q, v, t = state.q, state.v, state.t
        c = 0.5 * h
        target = q + c * v
        end = system.prescribe(q + h * v, t + h)
        frame = 0.5 * (q + end)  # so that scripted coordinates arrive exactly at t + h
        stage = Stage(system, c, target, base=q, t=t + c, frame=frame, start=state)
        middle, report, memory = solve_stage(stage, self.solver, memory)
        q_end = 2.0 * middle - q
        v_end = 2.0 * stage.velocity(middle) - v
        scripted = np.delete(np.arange(len(q)), system.free)
        v_end[scripted] = (end - q)[scripted] / h  # 2 v_m - v_n would ring where a script starts or stops
        end_state = State(system.prescribe(q_end, t + h), v_end, t + h)
        return Step(end_state, memory, (report,), work=closure_work((h, report)))
