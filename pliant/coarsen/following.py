"""Modes followed from step to step, for any integrator on an EigenFit system.

A system remembers nothing, so EigenFit alone seeks its modes from those at rest whenever it is asked at a new q: exact
restarts, at the price of several blocks of solves. Memory belongs to integrators. This one hands the modes of the last
step to the next, which needs about one block, and a new factor only now and then. `simulate` uses it for every scene
of soft bodies some of which are fitted.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from pliant.integrators.base import Integrator
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.linear.threads import one_thread
from pliant.state import Counts, State, Step
from pliant.systems.base import System
from pliant.systems.eigenfit import EigenFit
from pliant.systems.eigenfit_modes import Start


@dataclass(frozen=True, eq=False)
class FollowedModes:
    """Where the search for the modes of every fitted body starts (none: at rest); the integrator's memory."""

    starts: tuple[Start, ...]
    inner: Any


@dataclass(frozen=True)
class Following:
    """``integrator`` on a system that can follow its modes (`EigenFit`); on any other it is the integrator itself.

    The report of the step's first solve includes what the modes cost.
    """

    integrator: Integrator = field(default_factory=LinearlyImplicit)
    order: ClassVar[int]

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", self.integrator.order)  # each has its integrator's

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        if memory is not None and not isinstance(memory, FollowedModes):  # of the integrator alone, from a checkpoint
            memory = FollowedModes((), memory)
        starts, inner = ((), None) if memory is None else (memory.starts, memory.inner)
        near = system.near(starts) if isinstance(system, EigenFit) else system
        step = self.integrator.step(near, state, h, inner)
        found = near.last if isinstance(near, EigenFit) else None
        if found is None:  # nothing to follow, or the modes are frozen
            return replace(step, memory=FollowedModes((), step.memory))
        return replace(step, memory=FollowedModes(found.starts, step.memory), reports=charged(step, found.counts))


def followed(integrator: Any, system: System) -> Any:
    """The integrator, following the modes of a fitted system from step to step; itself on any other."""
    return (
        Following(integrator) if isinstance(system, EigenFit) and not isinstance(integrator, Following) else integrator
    )


def charged(step: Step, counts: Counts) -> tuple[Any, ...]:
    """The reports with the work of the modes added to the first."""
    if not step.reports:
        return ()
    first, *others = step.reports
    return (replace(first, counts=first.counts + counts), *others)
