"""Modes followed from step to step, for any integrator on an EigenFit system.

A system remembers nothing, so EigenFit alone seeks its modes from those at rest whenever it is asked at a new q: exact
restarts, at the price of several blocks of solves. Memory belongs to integrators. This one hands the modes of the last
step to the next, which needs about one block, and a new factor only now and then. `simulate` uses it for every scene
with fitted bodies alone.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from pliant.arrays import Array
from pliant.integrators.base import Integrator
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.linear.threads import one_thread
from pliant.state import Counts, State, Step, Transient
from pliant.systems.base import System
from pliant.systems.eigenfit import EigenFit
from pliant.systems.eigenfit_modes import Start


@dataclass(frozen=True, eq=False)
class FollowedModes:
    """The modes of the last step and where the factor for the next was made (None: not yet); the integrator's memory.

    The factor itself is made again after a restart.
    """

    U: Array | None
    q: Array | None
    inner: Any
    factor: Transient = Transient(None)


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
            memory = FollowedModes(None, None, memory)
        inner = None if memory is None else memory.inner
        if not isinstance(system, EigenFit):
            step = self.integrator.step(system, state, h, inner)
            return replace(step, memory=FollowedModes(None, None, step.memory))
        near = system.near(start_of(system, memory))
        step = self.integrator.step(near, state, h, inner)
        found = near.last
        if found is None or found.start is None:  # the modes are frozen
            return replace(step, memory=FollowedModes(None, None, step.memory))
        kept = FollowedModes(found.start.U, found.start.q, step.memory, Transient(found.start.factor))
        return replace(step, memory=kept, reports=charged(step, found.counts))


def followed(integrator: Any, system: System) -> Any:
    """The integrator, following the modes of a fitted system from step to step; itself on any other."""
    return (
        Following(integrator) if isinstance(system, EigenFit) and not isinstance(integrator, Following) else integrator
    )


def start_of(system: EigenFit, memory: FollowedModes | None) -> Start | None:
    if memory is None or memory.U is None or memory.q is None:
        return None
    factor = memory.factor.value if memory.factor else system.factor(memory.q)
    return Start(memory.U, memory.q, factor)


def charged(step: Step, counts: Counts) -> tuple[Any, ...]:
    """The reports with the work of the modes added to the first."""
    if not step.reports:
        return ()
    first, *others = step.reports
    return (replace(first, counts=first.counts + counts), *others)
