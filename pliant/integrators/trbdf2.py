"""TR-BDF2: trapezoidal rule to t + gamma h, then BDF2 to t + h; order 2, L-stable, one-step. [Weidner2022, App. C]"""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from pliant.closed_stage import closure_work
from pliant.integrators.base import NonlinearSolver, default_solver
from pliant.integrators.estimate import LocalError, Slopes, embedded
from pliant.linear.threads import one_thread
from pliant.solve_stage import acting_at, solve_stage
from pliant.stage import Stage
from pliant.state import State, Step
from pliant.systems.acted import mean
from pliant.systems.base import System
from pliant.systems.stepped import Smooth

GAMMA = 2.0 - sqrt(2.0)
W = sqrt(2.0) / 4.0
COMPANION = np.array([1.0 - W, 3.0 * W + 1.0, 0.5 * GAMMA]) / 3.0 - np.array([W, W, 0.5 * GAMMA])


@dataclass(frozen=True)
class TRBDF2:
    """Trapezoidal rule, then BDF2: order 2, L-stable, one-step, two solves [Weidner2022, App. C].

    Both stages have c = gamma h / 2; the stability function is that of SDIRK2, the error constant smaller.

    The same slopes with other weights are of order 3; the difference is the estimated error. [Hosea1996, Eq. 2.4]
    """

    solver: NonlinearSolver = default_solver
    order: ClassVar[int] = 2
    made_for: ClassVar[type] = Smooth

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        return self._taken(system, state, h, memory)[0]

    @one_thread()
    def estimated(
        self, system: System, state: State, h: float, memory: Any = None, analysis: Any = None
    ) -> tuple[Step, LocalError]:
        step, slopes = self._taken(system, state, h, memory)
        return step, embedded(system, step.state, slopes, analysis, h * COMPANION)

    def _taken(self, system: System, state: State, h: float, memory: Any) -> tuple[Step, Slopes]:
        q, v, t = state.q, state.v, state.t
        c, tg = 0.5 * GAMMA * h, t + GAMMA * h
        a = system.acceleration(q, v, t)
        target = q + 2.0 * c * v + c * c * a
        base = q + c * v
        first = Stage(system, c, target, base, t=tg, frame=system.prescribe(q + 2.0 * c * v, tg), start=state)
        qg, report1, memory = solve_stage(first, self.solver, memory)
        vg = first.velocity(qg)

        w = 1.0 / (GAMMA * (2.0 - GAMMA))
        base = w * qg - w * (1.0 - GAMMA) ** 2 * q
        vb = w * vg - w * (1.0 - GAMMA) ** 2 * v
        guess = qg + (1.0 - GAMMA) * h * vg
        second = Stage(
            system, c, base + c * vb, base, t=t + h, frame=system.prescribe(guess, t + h), start=State(qg, vg, tg)
        )
        q, report2, memory = solve_stage(second, self.solver, memory)
        share = 0.5 * h / (1.0 - GAMMA)  # the line through both ends, integrated over the step
        work = closure_work((share, report1), (h - share, report2))
        acted = mean((W, acting_at(system, state)), (W, report1.acted), (0.5 * GAMMA, report2.acted))
        report2 = replace(report2, acted=acted)
        after = State(q, second.velocity(q), t + h)
        slopes = Slopes((v, vg, after.v), (a, first.acceleration(qg), second.acceleration(q)), c)
        return Step(after, memory, (report1, report2), work=work), slopes
