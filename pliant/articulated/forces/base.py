"""What a force on an articulated system is."""

from typing import Protocol, Self

from pliant.articulated.loads import Loads
from pliant.articulated.quirks import Quirks
from pliant.articulated.tree import Kinematics, Tree


class ArticulatedForce(Protocol):
    """Adds itself, with its derivatives, to the loads; maximal or reduced as suits it.

    ``bind`` returns the same force with its link names resolved, at construction of the system.
    """

    def bind(self, tree: Tree) -> Self: ...

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None: ...

    def potential(self, kin: Kinematics, t: float, quirks: Quirks) -> float:
        """Its energy, zero if it has none."""
        ...
