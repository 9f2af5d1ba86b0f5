"""What an integrator is: data plus a declared order that the tests check."""

from typing import Any, ClassVar, Protocol, runtime_checkable

from pliant.errors import SceneError, require_part
from pliant.solvers.base import NonlinearSolver
from pliant.solvers.newton import Newton
from pliant.state import State, Step
from pliant.systems.base import Reshaping, System
from pliant.systems.elastodynamics import Elastodynamics

default_solver: NonlinearSolver = Newton()


class Integrator(Protocol):
    """A time stepping method as a frozen dataclass; ``order`` is what the observed order is compared with.

    ``step`` is pure: history, frozen factors and caches come in as ``memory`` (None at the start) and go out with the
    Step. Memory is made of dicts, tuples, frozen dataclasses, arrays and numbers, so that checkpoints can save it;
    objects with a true ``transient`` attribute are rebuilt instead of saved. ``made_for`` is the class of systems that
    it steps, or a tuple of them; `Smooth` stands for all that have a stage. Without it, that is elastic bodies.
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


def fits(integrator: Any, kind: type) -> bool:
    """Whether an integrator steps systems of a class; those whose mesh changes only if it names them."""
    made_for = getattr(integrator, "made_for", Elastodynamics)
    named = made_for if isinstance(made_for, tuple) else (made_for,)
    return kind in named or (issubclass(kind, named) and not issubclass(kind, Reshaping))


def require_fit(integrator: Any, kind: type | None, choices: tuple[type, ...]) -> None:
    """Refuse an integrator for another kind of system than ``kind`` (None: elastic bodies); ``choices`` would do."""
    require_part(integrator, "step", "scene.integrator", "give an object, such as BDF2()")
    solver = getattr(integrator, "solver", default_solver)
    require_part(solver, "solve", "scene.integrator.solver", "give an object, such as BDF2(solver=QLB())")
    if fits(integrator, kind or Elastodynamics):
        return
    names = [c.__name__ for c in choices]
    raise SceneError(
        f"{type(integrator).__name__} does not step {kind.__name__ if kind else 'elastic bodies'}",
        where="scene.integrator",
        remedy=f"use {', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else f"use {names[0]}",
    )
