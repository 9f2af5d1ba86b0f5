"""A scene of one Eulerian-on-Lagrangian cloth: what `pliant.simulate` can run, record and restore."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pliant.cloth.body import Cloth
from pliant.cloth.sheet import Sheet
from pliant.cloth.step import EolStep
from pliant.cloth.system import EolCloth
from pliant.contact.sharp import Sharp
from pliant.errors import SceneError
from pliant.integrators.base import require_fit
from pliant.maps.motions import Vector
from pliant.policy import read_policy, steps_of
from pliant.state import State
from pliant.systems.row_contact import RowContact


@dataclass(frozen=True, eq=False)
class ClothScene:
    """One cloth with obstacles, stepped for ``duration`` [s] with ``h`` [s]."""

    bodies: Sequence[Cloth]
    integrator: EolStep = field(default_factory=EolStep)
    h: float = 4e-3
    duration: float = 1.0
    gravity: Vector = (0.0, 0.0, -9.81)
    contact: RowContact = RowContact()
    obstacles: Sequence[Sharp] = ()
    on_failure: str = "substep"
    on_energy_gain: str = "ignore"
    name: str = "cloth"

    def __post_init__(self) -> None:
        read_policy(self)
        require_fit(self.integrator, EolCloth, (EolStep,))
        if len(self.bodies) != 1:
            raise SceneError(f"{len(self.bodies)} bodies", where="scene.bodies", remedy="give one Cloth")
        self.system()

    @property
    def steps(self) -> int:
        return steps_of(self)

    def system(self) -> EolCloth:
        return self.bodies[0].part(self.gravity, self.obstacles, self.contact)

    def initial(self, system: EolCloth) -> State:
        return system.initial()

    def restore(self, topology: Sheet) -> EolCloth:
        """The system of a mesh that `EolCloth.topology` described."""
        return self.system().restored(topology)

    def run(self, folder: str | Path, **options: Any) -> Any:
        """Record the whole scene into a run folder."""
        from pliant.record import record

        return record(self, folder, **options)
