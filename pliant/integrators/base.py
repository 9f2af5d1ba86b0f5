"""What an integrator is: data plus a declared order that the tests check."""

from typing import Any, ClassVar, Protocol, runtime_checkable

from pliant.errors import SceneError, require_part
from pliant.solvers.base import NonlinearSolver
from pliant.solvers.newton import Newton
from pliant.state import State, Step
from pliant.systems.base import System

default_solver: NonlinearSolver = Newton()


class Integrator(Protocol):
    """A time stepping method as a frozen dataclass; ``order`` is what the observed order is compared with.

    ``step`` is pure: history, frozen factors and caches come in as ``memory`` (None at the start) and go out with the
    Step. Memory is made of dicts, tuples, frozen dataclasses, arrays and numbers, so that checkpoints can save it;
    objects with a true ``transient`` attribute are rebuilt instead of saved. One that steps nothing but a certain class
    of systems names it in ``made_for``.
    """

    order: ClassVar[int]

    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step: ...


@runtime_checkable
class Booking(Protocol):
    """An integrator that finds forces itself and books what they do: ``works`` are their names in `Step.work`."""

    works: ClassVar[tuple[str, ...]]


@runtime_checkable
class Wrapping(Protocol):
    """An integrator that steps with another one, and does something else besides."""

    @property
    def integrator(self) -> Any: ...


@runtime_checkable
class Special(Protocol):
    """An integrator that steps nothing but one class of systems."""

    made_for: ClassVar[type]


def require_fit(integrator: Any, kind: type | None, choices: tuple[type, ...]) -> None:
    """Refuse an integrator for another kind of system than ``kind`` (None: elastic bodies); ``choices`` would do."""
    require_part(integrator, "step", "scene.integrator", "give an object, such as BDF2()")
    solver = getattr(integrator, "solver", default_solver)
    require_part(solver, "solve", "scene.integrator.solver", "give an object, such as BDF2(solver=QLB())")
    if getattr(integrator, "made_for", None) is kind or isinstance(integrator, choices):
        return
    names = [c.__name__ for c in choices]
    raise SceneError(
        f"{type(integrator).__name__} does not step {kind.__name__ if kind else 'elastic bodies'}",
        where="scene.integrator",
        remedy=f"use {', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else f"use {names[0]}",
    )
