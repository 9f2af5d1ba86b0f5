"""A cloth scene: what `pliant.simulate` can run, record and restore although the mesh changes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.cloth.material import ClothMaterial
from pliant.cloth.sheet import Sheet
from pliant.cloth.step import EolStep
from pliant.cloth.system import EolCloth
from pliant.cloth.world import World
from pliant.errors import SceneError
from pliant.integrators.base import require_fit
from pliant.policy import read_policy, steps_of
from pliant.state import SolveReport, State


@dataclass(frozen=True, eq=False)
class Moment:
    """The cloth after a step; ``reports`` has one entry, more when the step was cut short."""

    cloth: EolCloth
    state: State
    reports: tuple[SolveReport, ...]

    @property
    def sheet(self) -> Sheet:
        return self.cloth.unpack(self.state.q, self.state.v)

    @property
    def energy(self) -> float:
        """Kinetic plus potential [J]."""
        return sum(self.cloth.energies(self.state.q, self.state.v, self.state.t).values())


@dataclass(frozen=True, eq=False)
class ClothScene:
    """A sheet of a material in a world, stepped for ``duration`` [s] with ``h`` [s].

    ``eulerian`` False makes it the Lagrangian cloth it is compared with: no vertex moves in the material.
    """

    sheet: Sheet
    material: ClothMaterial
    world: World
    integrator: EolStep
    h: float = 4e-3
    duration: float = 1.0
    eulerian: bool = True
    name: str = "cloth"
    on_failure: str = "substep"
    on_energy_gain: str = "ignore"  # bodies and handles do work on the cloth

    def __post_init__(self) -> None:
        read_policy(self)
        require_fit(self.integrator, [EolCloth], (EolStep,))
        length = float(np.ptp(self.sheet.X, axis=0).max())
        if length < 10 * self.world.thr and self.world.obstacles:
            raise SceneError(
                f"cloth of {length:.3g} m is smaller than ten contact thicknesses of {self.world.thr:.3g} m",
                where=self.name,
                remedy="reduce World.thr or enlarge the cloth",
            )
        for handle in self.world.handles:
            d = np.linalg.norm(self.sheet.X[self.sheet.fixed][None] - np.atleast_2d(handle.X)[:, None], axis=2)
            if d.shape[1] == 0 or d.min(axis=1).max() > 1e-9:
                raise SceneError(
                    "a handle is not at a kept vertex", where=self.name, remedy="pass its vertices as sheet(keep=...)"
                )

    @property
    def steps(self) -> int:
        return steps_of(self)

    def system(self) -> EolCloth:
        return EolCloth(self.sheet, self.material, self.world, eulerian=self.eulerian)

    def initial(self, system: EolCloth) -> State:
        return system.pack(self.sheet, 0.0)

    def after(self, happened: int) -> "ClothScene":
        return self

    def due(self, t: float) -> int:
        return 0

    def restored(self, topology: Sheet) -> EolCloth:
        """The system of a mesh that `EolCloth.topology` described."""
        return EolCloth(topology, self.material, self.world, eulerian=self.eulerian)

    def march(self) -> Iterator[Moment]:
        """Step without records or certificates: what tests and benchmarks measure on."""
        cloth = self.system()
        state, memory = self.initial(cloth), None
        for _ in range(self.steps):
            step = self.integrator.step(cloth, state, self.h, memory)
            cloth, state, memory = step.system or cloth, step.state, step.memory
            yield Moment(cloth, state, step.reports)

    def run(self, folder: str | Path, **options: Any) -> Any:
        """Record the whole scene into a run folder."""
        from pliant.record import record

        return record(self, folder, **options)


def moving(sheet: Sheet, velocity: Array | tuple[float, float, float]) -> Sheet:
    """The same sheet with all of it at ``velocity`` [m/s]."""
    return replace(sheet, v=np.tile(np.asarray(velocity, dtype=np.float64), (len(sheet.X), 1)))
