"""What an integrator is: data plus a declared order that the tests check."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, runtime_checkable

from pliant.abilities import able
from pliant.arrays import IntArray
from pliant.errors import SceneError, require_part
from pliant.solvers.base import NonlinearSolver
from pliant.solvers.newton import Newton
from pliant.state import State, Step
from pliant.systems.base import System
from pliant.systems.eigenfit import EigenFit
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.isolated import with_momenta
from pliant.systems.observed import Reshaping
from pliant.systems.stepped import Correcting, Stepping

default_solver: NonlinearSolver = Newton()


class Integrator(Protocol):
    """A time stepping method as a frozen dataclass; ``order`` is its declared order, which the tests verify.

    ``step`` is pure: history, frozen factors and caches are passed in as ``memory`` (None at the start) and returned
    with the Step. Memory consists of dicts, tuples, frozen dataclasses, arrays and numbers, so that checkpoints can
    save it; objects with a true ``transient`` attribute are rebuilt instead of saved. ``made_for`` is the class of
    systems that it steps, or a tuple of them; `Smooth` stands for all that have a stage. Without it, these are elastic
    bodies, including fitted ones. The ``system`` of ``step`` is annotated with what the method asks of it.
    """

    order: ClassVar[int]

    def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step: ...


def advance(integrator: Any, system: System, state: State, h: float, memory: Any = None) -> Step:
    """One step of an integrator, and what the system corrects after it."""
    step: Step = integrator.step(system, state, h, memory)
    now = system if step.system is None else step.system
    if not able(now, Correcting):
        return step
    after = now.corrected(state, step.state)
    return step if after is step.state else replace(step, state=after)


def isolated(step: Step, system: System, before: State) -> Step:
    """A step with the momenta that there were ``before`` it."""
    after = with_momenta(system if step.system is None else step.system, before, step.state)
    memory = step.memory.moved(after) if able(step.memory, Recalling) else step.memory
    return replace(step, state=after, memory=memory)


@runtime_checkable
class Booking(Protocol):
    """An integrator that computes some forces itself and reports their work: ``works`` are the names in `Step.work`."""

    works: ClassVar[tuple[str, ...]]


@runtime_checkable
class Wrapping(Protocol):
    """An integrator that steps with another one, and does something else besides."""

    @property
    def integrator(self) -> Any: ...


@runtime_checkable
class Recalling(Protocol):
    """A memory that knows the state its integrator has led to, and goes on from no other."""

    def moved(self, state: State) -> Any:
        """The same memory after velocities were changed by less than the errors of a step."""
        ...


@runtime_checkable
class Landing(Protocol):
    """An integrator that chooses where its steps end, and can be given times at which they must."""

    def landing(self, times: Sequence[float]) -> Any:
        """The same integrator, which ends a step at each of these times [s]."""
        ...


@runtime_checkable
class Special(Protocol):
    """An integrator that says which classes of systems it steps; the others step elastic bodies."""

    made_for: ClassVar[Any]


@runtime_checkable
class Leading(Protocol):
    """An integrator in whose steps some vertices lead and all others follow."""

    def leading(self, system: System, memory: Any) -> IntArray:
        """Those that led in the last step, with the patches they stand for."""
        ...


@runtime_checkable
class Staged(Protocol):
    """An integrator whose states are solved stages."""

    @property
    def solver(self) -> Any: ...


@runtime_checkable
class Extrapolating(Protocol):
    """A `Staged` integrator whose new state lies beyond the solved stage, where barriers do not watch."""

    extrapolates: ClassVar[bool]


def solved(integrator: Any) -> bool:
    """Whether its states are roots of stages, which see every contact that they meet."""
    return able(integrator, Staged) and not able(integrator, Extrapolating)


def fits(integrator: Any, kind: type) -> bool:
    """Whether an integrator, or a class of them, steps systems of a class; those whose mesh changes only if it names
    them, or steps parts that prepare their own blocks.
    """
    made_for = integrator.made_for if isinstance(integrator, Special) else (Elastodynamics, EigenFit)
    named = made_for if isinstance(made_for, tuple) else (made_for,)
    return kind in named or (issubclass(kind, named) and (Stepping in named or not issubclass(kind, Reshaping)))


def require_fit(integrator: Any, kinds: Mapping[type, str], choices: Sequence[type]) -> None:
    """Refuse an integrator that does not step one of some classes of systems, by the bodies they stand for; name those
    ``choices`` that do.
    """
    require_part(integrator, "step", "scene.integrator", "give an object, such as BDF2()")
    if able(integrator, Staged):
        remedy = "give an object, such as BDF2(solver=QLB())"
        require_part(integrator.solver, "solve", "scene.integrator.solver", remedy)
    missed = [kind for kind in kinds if not fits(integrator, kind)]
    if not missed:
        return
    names = [c.__name__ for c in choices if all(fits(c, kind) for kind in kinds)]
    raise SceneError(
        f"{type(integrator).__name__} does not step {kinds[missed[0]]}",
        where="scene.integrator",
        remedy=f"use {', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else f"use {''.join(names)}",
    )
