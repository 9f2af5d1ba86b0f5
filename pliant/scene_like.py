"""What can be run: a scene, or anything else that can say the same things about itself."""

from typing import Any, Protocol, runtime_checkable

from pliant.errors import SceneError
from pliant.state import State
from pliant.systems.base import System


@runtime_checkable
class SceneLike(Protocol):
    """What can be run: `pliant.Scene`, or anything else that can say these things about itself."""

    @property
    def name(self) -> str: ...

    @property
    def integrator(self) -> Any: ...

    @property
    def on_failure(self) -> str: ...

    @property
    def on_energy_gain(self) -> str: ...

    @property
    def isolated(self) -> bool: ...

    @property
    def h(self) -> Any: ...

    @property
    def steps(self) -> int: ...

    def system(self) -> Any: ...

    def initial(self, system: System) -> State: ...

    def after(self, happened: int) -> Any: ...

    def due(self, t: float) -> int: ...


@runtime_checkable
class OnDevice(Protocol):
    """A scene that says on which device it is stepped, "cpu" or "cuda"."""

    @property
    def device(self) -> str: ...


@runtime_checkable
class Eventful(Protocol):
    """A scene that knows the times at which something changes at once."""

    def event_after(self, t: float) -> float:
        """The time [s] of its next event; inf without one."""
        ...

    def stops(self) -> tuple[float, ...]:
        """The times [s] of all events, and of corners of scripts and loads."""
        ...


@runtime_checkable
class Around(Protocol):
    """Something with a scene in it, such as one that was loaded with its output and origin."""

    scene: Any


def require_scene(thing: Any, where: str) -> None:
    """Refuse what cannot be run (see `SceneLike`)."""
    if not isinstance(thing, SceneLike):
        remedy = "give its .scene" if isinstance(thing, Around) else "give a pliant.Scene"
        raise SceneError(f"{type(thing).__name__} is not a scene", where=where, remedy=remedy)
