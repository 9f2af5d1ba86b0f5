"""What the comparisons of this folder share: states in mid-motion, their exact stage, and timed attempts at it."""

from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.integrators import BDF1, XPBD
from pliant.scene import Scene
from pliant.solvers import PD, QLB, Newton, Tolerance
from pliant.stage import Stage
from pliant.state import State

EXACT = Tolerance(relative=1e-11, absolute=1e-15)
NEVER = Tolerance(relative=0.0, absolute=0.0)


@dataclass(frozen=True, eq=False)
class ContestMoment:
    """A scene in mid-motion: one implicit Euler stage of a frame, and its root."""

    scene: Scene
    system: Any
    state: State
    stage: Any
    root: Array

    def error(self, q: Array) -> float:
        """Distance to the root over the distance of the prediction to it, in the norm of the mass."""
        m = self.system.nodal_mass
        far = self.stage.frame - self.root
        return float(np.sqrt(m @ (q - self.root) ** 2 / (m @ far**2)))


def moment(scene: Scene, frames: int) -> ContestMoment:
    """The stage that follows ``frames`` exact steps of a scene."""
    system = scene.system()
    state, memory, h = scene.initial(system), None, float(scene.h)
    integrator = BDF1(QLB(tolerance=Tolerance(1e-8, 1e-12)))
    for _ in range(frames):
        step = integrator.step(system, state, h, memory)
        state, memory = step.state, step.memory
    target = state.q + h * state.v
    stage: Any = Stage(system, h, target, state.q, state.t + h, system.prescribe(target, state.t + h), state)
    guess = stage.frame[system.free]
    root = Newton(tolerance=EXACT, project="on_demand").solve(stage, guess).z
    return ContestMoment(scene, system, state, stage, stage.embed(root))


METHODS: dict[str, Callable[[int], Any]] = {
    "XPBD": lambda k: XPBD(substeps=1, iterations=k),
    "PD": lambda k: PD(m=0, fixed=k),
    "PD + L-BFGS": lambda k: PD(m=5, fixed=k),
    "QLB": lambda k: QLB(max_iterations=k, tolerance=NEVER),
    "Newton": lambda k: Newton(max_iterations=k, tolerance=NEVER, project="on_demand"),
}


def attempt(now: ContestMoment, method: str, iterations: int, repeats: int = 2) -> tuple[float, float]:
    """(error, CPU seconds) of a number of iterations on the stage, analyses and constant matrices made before."""
    choice = METHODS[method](iterations)
    guess, memory = now.stage.frame[now.system.free], None
    best, q = np.inf, now.stage.frame
    for _ in range(repeats + 1):
        start = process_time()
        if isinstance(choice, XPBD):
            step = choice.step(now.system, now.state, now.stage.c, memory)
            q, memory = step.state.q, step.memory
        else:
            solution = choice.solve(now.stage, guess, memory)
            q, memory = now.stage.embed(solution.z), solution.memory
        best = min(best, process_time() - start)
    return now.error(q), best


def iterations_to(now: ContestMoment, method: str, error: float, most: int) -> int | None:
    """The first count of 1, 2, 3, 5, 8, 13, ... that brings the error below a bound, or None."""
    a, b = 1, 2
    while a <= most:
        if attempt(now, method, a, repeats=0)[0] <= error:
            return a
        a, b = b, a + b
    return None


def simulate(scene: Scene, integrator: Any, h: float, duration: float) -> tuple[State, float, Any]:
    """The state after the duration, CPU seconds, and the system; the first step is not timed (it compiles)."""
    system = scene.system()
    state, memory, spent = scene.initial(system), None, 0.0
    steps = round(duration / h)
    for k in range(steps):
        start = process_time()
        step = integrator.step(system, state, h, memory)
        spent += process_time() - start if k else 0.0
        state, memory = step.state, step.memory
    return state, spent * steps / max(steps - 1, 1), system
