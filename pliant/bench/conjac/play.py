"""What the tables of this folder share: stepping a scene bare, energies above rest, CPU time by phase."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import process_time
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.certificate import smallest_det
from pliant.integrators import Quasistatic
from pliant.linear.cholesky import Cholesky
from pliant.scene import Scene
from pliant.solvers import Newton, Tolerance
from pliant.state import State, Step


@dataclass(frozen=True, eq=False)
class ShownStep:
    """The scene after a step."""

    system: Any
    state: State
    step: Step
    scene: Any  # after the events so far
    start: State | None = None  # of a step that began with an event, in the coordinates after it

    @property
    def energies(self) -> dict[str, float]:
        return self.system.energies(self.state.q, self.state.v, self.state.t)

    @property
    def energy(self) -> float:
        """Kinetic plus potential [J]."""
        return sum(self.energies.values())

    @property
    def det(self) -> float:
        """The smallest det F; negative where an element is inside out."""
        found = smallest_det(self.system, self.state.q)
        return float("nan") if found is None else found

    @property
    def sound(self) -> bool:
        """Whether the step converged to finite numbers."""
        return all(r.converged for r in self.step.reports) and bool(np.isfinite(self.energy))


def march(scene: Scene, steps: int | None = None, start: State | None = None) -> Iterator[ShownStep]:
    """Step without certificates and ledger, from ``start`` if given; stops at the first step that is not sound."""
    system = scene.system()
    state, memory = start or scene.initial(system), None
    now, happened = scene, 0
    with np.errstate(all="ignore"):
        for _ in range(scene.steps if steps is None else steps):
            due, begun = scene.due(state.t), None
            if due > happened:
                now, begun = now.happen(happened, due, state)
                system, state, memory, happened = now.system(), begun, None, due
            step = scene.integrator.step(system, state, float(scene.h), memory)
            system, state, memory = step.system or system, step.state, step.memory
            moment = ShownStep(system, state, step, now, begun)
            yield moment
            if not moment.sound:
                return


def equilibrium(system: Any, start: State) -> Array:
    """Static positions by Newton's method on the full mesh, forces as at the time of ``start``."""
    solver = Newton(tolerance=Tolerance(1e-12, 1e-14), max_iterations=200)
    return Quasistatic(solver).step(system, start, 1e-3).state.q


@dataclass
class Stopwatch:
    """A linear solver that notes the CPU seconds of its factorizations and solves."""

    linear: Cholesky = field(default_factory=Cholesky)
    factoring: float = 0.0
    solving: float = 0.0

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> "TimedFactor":
        start = process_time()
        factor = self.linear.factor(A, memory)
        self.factoring += process_time() - start
        return TimedFactor(factor, self)


class TimedFactor:
    """A factor whose solves are noted."""

    def __init__(self, factor: Any, watch: Stopwatch) -> None:
        self._factor, self._watch = factor, watch
        self.memory, self.analysed, self.inner = factor.memory, factor.analysed, factor.inner

    def solve(self, b: Array) -> Array:
        start = process_time()
        x = self._factor.solve(b)
        self._watch.solving += process_time() - start
        return x


@contextmanager
def cpu_clocks() -> Iterator[None]:
    """Phases in reports as CPU time instead of wall time: on a busy machine only that means anything."""
    with patch("pliant.clock.perf_counter", process_time):
        yield
