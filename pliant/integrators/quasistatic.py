"""Quasistatics: f(q) = 0 at every step, with the boundary moved to its place. [Weidner2022, App. C]"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.integrators.base import NonlinearSolver, default_solver
from pliant.linear.threads import one_thread
from pliant.stage import Stage, solve_stage
from pliant.state import State, Step
from pliant.systems.base import System
from pliant.systems.rigid_modes import require_supported


@dataclass(frozen=True)
class Quasistatic:
    """Equilibrium after equilibrium; velocities are reported as displacement per step, but nothing feels them.

    A body that pins and attachments leave free to move rigidly has no equilibrium and is refused by name.
    """

    solver: NonlinearSolver = default_solver
    order: ClassVar[int] = 0

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        if memory is None:
            require_supported(system)
            memory = {"solver": None}
        q, t = state.q, state.t + h
        stage = Stage(system, 1.0, q, q, t, frame=system.prescribe(q, t), start=state, inertia=0.0)
        after, report, solver = solve_stage(stage, self.solver, memory["solver"])
        velocity = np.asarray((after - q) / h)
        return Step(State(after, velocity, t), {"solver": solver}, (report,))
