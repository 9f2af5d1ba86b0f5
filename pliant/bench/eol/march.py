"""Stepping a cloth scene without records or certificates: what tests and benchmarks measure on."""

from collections.abc import Iterator
from dataclasses import dataclass

from pliant.cloth.sheet import Sheet
from pliant.cloth.system import EolCloth
from pliant.scene import Scene
from pliant.state import SolveReport, State


@dataclass(frozen=True, eq=False)
class ClothMoment:
    """The cloth after a step; ``reports`` has one entry, more when the step was cut short; ``work`` [J] was done on it
    by hands, obstacles and friction."""

    cloth: EolCloth
    state: State
    reports: tuple[SolveReport, ...]
    work: float = 0.0

    @property
    def sheet(self) -> Sheet:
        return self.cloth.unpack(self.state.q, self.state.v)

    @property
    def energy(self) -> float:
        """Kinetic plus potential [J]."""
        return sum(self.cloth.energies(self.state.q, self.state.v, self.state.t).values())


def march(scene: Scene) -> Iterator[ClothMoment]:
    """The moments after all steps of a scene of one cloth."""
    cloth = scene.system()
    state, memory = scene.initial(cloth), None
    for _ in range(scene.steps):
        step = scene.integrator.step(cloth, state, float(scene.h), memory)
        cloth, state, memory = step.system or cloth, step.state, step.memory
        yield ClothMoment(cloth, state, step.reports, sum(step.work.values()))
