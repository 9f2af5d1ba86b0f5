"""Quasistatics: f(q) = 0 at every step, with the boundary moved to its place. [Weidner2022, App. C]"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.integrators.base import NonlinearSolver, default_solver
from pliant.linear.threads import one_thread
from pliant.solve_stage import solve_stage
from pliant.stage import Stage
from pliant.state import State, Step
from pliant.systems.base import System
from pliant.systems.rigid_modes import require_supported


@dataclass(frozen=True)
class Quasistatic:
    """A sequence of equilibria; velocities are reported as displacement per step, but no force depends on them.

    So there is no damping and no friction, and no kinetic energy in the ledger. A step starts from q + h v, the last
    displacement repeated [Weidner2022, Alg. 5.5], or from q with the boundary moved where the forces are smaller there:
    when a script reverses, or at the first step. A body that pins and attachments leave free to move rigidly has no
    equilibrium and is refused by name.
    """

    solver: NonlinearSolver = default_solver
    order: ClassVar[int] = 0

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        if memory is None:
            require_supported(system)
            memory = {"solver": None}
        stage = min(self._stages(system, state, h), key=unbalanced)
        after, report, solver = solve_stage(stage, self.solver, memory["solver"])
        velocity = np.asarray((after - state.q) / h)
        return Step(State(after, velocity, stage.t), {"solver": solver}, (report,))

    def _stages(self, system: System, state: State, h: float) -> list[Stage]:
        """The equilibrium to find, once for every guess."""
        q, t = state.q, state.t + h
        guesses = (q + h * state.v, q) if state.v.any() else (q,)
        return [Stage(system, 1.0, q, q, t, system.prescribe(g, t), start=state, inertia=0.0) for g in guesses]


def unbalanced(stage: Stage) -> float:
    """How far the guess of a stage is from equilibrium, in its norm; inf where elements have collapsed."""
    size = stage.norm(stage.residual(stage.frame[stage.system.free]))
    return size if np.isfinite(size) else np.inf
