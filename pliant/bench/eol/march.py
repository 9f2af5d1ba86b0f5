"""Stepping a cloth scene without records or certificates: what tests and benchmarks measure on."""

from collections.abc import Iterator
from dataclasses import dataclass

from pliant.attempt import StepFailed, take
from pliant.checkpoint import Checkpoint
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
    """The moments after all steps of a scene of one cloth, taken as its policy says: those that fail, in pieces."""
    cloth = scene.system()
    state, memory = scene.initial(cloth), None
    for k in range(scene.steps):
        try:
            pieces, _ = take(scene, cloth, Checkpoint(k, state, memory), k, float(scene.h))
        except StepFailed:  # its report says so
            pieces = [scene.integrator.step(cloth, state, float(scene.h), memory)]
        for step in pieces:
            cloth, state, memory = step.system or cloth, step.state, step.memory
        reports = tuple(report for step in pieces for report in step.reports)
        yield ClothMoment(cloth, state, reports, sum(sum(step.work.values()) for step in pieces))
