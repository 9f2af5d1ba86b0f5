"""SDIRK2: diagonally implicit Runge-Kutta, order 2, L-stable, one-step, two solves. [Weidner2022, Eq. C.9-C.10]"""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, ClassVar

import numpy as np

from pliant.closed_stage import closure_work, require_flat
from pliant.integrators.base import NonlinearSolver, default_solver
from pliant.integrators.estimate import LocalError, Slopes, embedded
from pliant.linear.threads import one_thread
from pliant.solve_stage import solve_stage
from pliant.stage import Stage
from pliant.state import State, Step
from pliant.systems.acted import mean
from pliant.systems.base import System
from pliant.systems.stepped import Smooth

ALPHA = 1.0 - 1.0 / sqrt(2.0)
# Weights at the start, at alpha h and at h that integrate parabolas. They make the method of order 3 but for the term
# f' f' f, which J (k_2 - k_0) supplies: no weights alone would do.
B1 = 1.0 / (6.0 * ALPHA * (1.0 - ALPHA))
B2 = 0.5 - ALPHA * B1
COMPANION = np.array([1.0 - B1 - B2, B1 - (1.0 - ALPHA), B2 - ALPHA])
MISSING = (1.0 / 6.0 - B1 * ALPHA**2 - B2 * (2.0 * ALPHA - ALPHA**2)) * np.array([-1.0, 0.0, 1.0])


@dataclass(frozen=True)
class SDIRK2:
    """Diagonally implicit Runge-Kutta: order 2, L-stable, one-step, two solves [Weidner2022, Eq. C.9-C.10].

    Two backward-Euler-like stages with the same c = alpha h, at t + alpha h and t + h.
    """

    solver: NonlinearSolver = default_solver
    order: ClassVar[int] = 2
    made_for: ClassVar[type] = Smooth

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        require_flat(system, state, "SDIRK2")
        return two_stages(self.solver, system, state, h, memory)

    @one_thread()
    def estimated(
        self, system: System, state: State, h: float, memory: Any = None, analysis: Any = None
    ) -> tuple[Step, LocalError]:
        require_flat(system, state, "SDIRK2")
        return estimated_stages(self.solver, system, state, h, memory, analysis)


def two_stages(solver: NonlinearSolver, system: System, state: State, h: float, memory: Any = None) -> Step:
    """One step; BDF2 starts with it."""
    return _taken(solver, system, state, h, memory)[0]


def estimated_stages(
    solver: NonlinearSolver, system: System, state: State, h: float, memory: Any, analysis: Any
) -> tuple[Step, LocalError]:
    """One step, and its error by a companion of order 3."""
    step, (va, aa), a1 = _taken(solver, system, state, h, memory)
    start = system.acceleration(state.q, state.v, state.t)
    slopes = Slopes((state.v, va, step.state.v), (start, aa, a1), ALPHA * h)
    return step, embedded(system, step.state, slopes, analysis, h * COMPANION, h * h * MISSING)


def _taken(solver: NonlinearSolver, system: System, state: State, h: float, memory: Any) -> tuple[Step, Any, Any]:
    """The step; velocity and acceleration in its first stage; acceleration in its second."""
    q, v, t = state.q, state.v, state.t
    c = ALPHA * h
    target = q + c * v
    first = Stage(system, c, target, base=q, t=t + c, frame=system.prescribe(target, t + c), start=state)
    qa, report1, memory = solve_stage(first, solver, memory)
    va = first.velocity(qa)

    base = q + (1.0 - ALPHA) * h * va
    target = q + (2.0 * ALPHA - 1.0) * h * v + (2.0 - 2.0 * ALPHA) * h * va
    guess = qa + (1.0 - ALPHA) * h * va
    second = Stage(system, c, target, base, t=t + h, frame=system.prescribe(guess, t + h), start=State(qa, va, t + c))
    q, report2, memory = solve_stage(second, solver, memory)
    work = closure_work(((1.0 - ALPHA) * h, report1), (c, report2))
    report2 = replace(report2, acted=mean((1.0 - ALPHA, report1.acted), (ALPHA, report2.acted)))
    step = Step(State(q, second.velocity(q), t + h), memory, (report1, report2), work=work)
    return step, (va, first.acceleration(qa)), second.acceleration(q)
