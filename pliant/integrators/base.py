"""What an integrator is: data plus a declared order that the tests check."""

from typing import Any, ClassVar, Protocol

from pliant.solvers.base import NonlinearSolver
from pliant.solvers.newton import Newton
from pliant.state import State, Step
from pliant.systems.base import System

default_solver: NonlinearSolver = Newton()


class Integrator(Protocol):
    """A time stepping method as a frozen dataclass; ``order`` is what the observed order is compared with.

    ``step`` is pure: history, frozen factors and caches come in as ``memory`` (None at the start) and go out with the
    Step. Memory is made of dicts, tuples, frozen dataclasses, arrays and numbers, so that checkpoints can save it;
    objects with a true ``transient`` attribute are rebuilt instead of saved.
    """

    order: ClassVar[int]

    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step: ...
