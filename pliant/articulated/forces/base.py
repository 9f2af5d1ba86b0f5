"""What a force on an articulated system is."""

from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from pliant.arrays import IntArray
from pliant.articulated.loads import Loads
from pliant.articulated.quirks import Quirks
from pliant.articulated.tree import Kinematics, Tree
from pliant.errors import SceneError, require_numbers


class ArticulatedForce(Protocol):
    """Adds itself, with its derivatives, to the loads; maximal or reduced as suits it.

    ``bind`` returns the same force with its link names resolved, at construction of the system.
    """

    def bind(self, tree: Tree) -> Self: ...

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None: ...

    def potential(self, kin: Kinematics, t: float, quirks: Quirks) -> float:
        """Its energy, zero if it has none."""
        ...


@runtime_checkable
class Driving(Protocol):
    """A force that may supply energy: its work is in the ledger under "drives", not as damping."""

    drives: ClassVar[bool]


@runtime_checkable
class Settling(Protocol):
    """A force with lengths that depend on the initial configuration: ``at`` fills them in."""

    def at(self, kin: Kinematics) -> Any: ...


@runtime_checkable
class Joining(Protocol):
    """A force or constraint that says which links it makes depend on each other, apart from parents and children."""

    def joins(self) -> IntArray | None:
        """Pairs of links (m, 2), -1 for the world; None where that is not known."""
        ...


def joins_nothing(force: object) -> IntArray:
    """The ``joins`` of forces that act on single joints or bodies."""
    return np.empty((0, 2), dtype=np.int64)


def stores_nothing(force: object, kin: Kinematics, t: float, quirks: Quirks) -> float:
    """The ``potential`` of forces that have none."""
    return 0.0


def require_passive(where: str, **given: Any) -> None:
    """Refuse constants by which springs and dampers would add energy."""
    for name, value in given.items():
        numbers = require_numbers(value, f"{where}: {name}", "give a number")
        if not (np.isfinite(numbers).all() and (numbers >= 0.0).all()):
            remedy = "give finite numbers >= 0: negative ones add energy"
            raise SceneError(f"{name} is {value}", where=where, remedy=remedy)


def joined_links(thing: Any) -> IntArray | None:
    """The pairs of links (m, 2) that a bound force or constraint joins; None where it does not say."""
    return thing.joins() if isinstance(thing, Joining) else None
