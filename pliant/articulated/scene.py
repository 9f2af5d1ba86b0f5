"""An articulated system as a scene: where it starts, and how it is run."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant.articulated.bisp import BISP
from pliant.articulated.rk45 import RK45
from pliant.articulated.staggered import StaggeredProjections
from pliant.articulated.system import ArticulatedSystem
from pliant.integrators import BDF1, BDF2, RK4, SDIRK2, TRBDF2, ImplicitMidpoint, SymplecticEuler, Verlet
from pliant.integrators.base import require_fit
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.policy import read_policy, steps_of
from pliant.state import State

TREE_INTEGRATORS = (LinearlyImplicit, RK45, BISP, StaggeredProjections)  # for nothing else
SHARED = (BDF1, BDF2, SDIRK2, TRBDF2, ImplicitMidpoint, RK4, Verlet, SymplecticEuler)  # for all that have a stage


@dataclass(frozen=True)
class ArticulatedScene:
    """A model, where it starts (None: at its coordinates ``q``, at rest), the step ``h`` and ``duration`` [s].

    It can be given to `pliant.simulate` and recorded like any other scene.
    """

    model: ArticulatedSystem
    start: State = None  # type: ignore[assignment]  # set below
    h: float = 1e-2
    duration: float = 2.0
    integrator: Any = field(default_factory=LinearlyImplicit)
    name: str = "articulated"
    on_failure: str = "raise"
    on_energy_gain: str = "ignore"

    def __post_init__(self) -> None:
        read_policy(self)
        require_fit(self.integrator, ArticulatedSystem, (*TREE_INTEGRATORS, *SHARED))
        if self.start is None:
            object.__setattr__(self, "start", State(self.model.rest, np.zeros_like(self.model.rest)))

    @property
    def steps(self) -> int:
        return steps_of(self)

    def system(self) -> ArticulatedSystem:
        return self.model

    def initial(self, system: ArticulatedSystem) -> State:
        return self.start

    def after(self, happened: int) -> "ArticulatedScene":
        return self

    def due(self, t: float) -> int:
        return 0

    def run(self, folder: str | Path, **options: Any) -> Any:
        """Simulate and record into ``folder``; returns the run."""
        from pliant.record import record

        return record(self, folder, **options)
