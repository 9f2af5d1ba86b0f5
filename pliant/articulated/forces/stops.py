"""Joint limits as springs, for methods that know forces only."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated.loads import Loads
from pliant.articulated.quirks import Quirks
from pliant.articulated.tree import Kinematics, Tree
from pliant.errors import SceneError


@dataclass(frozen=True)
class JointStop:
    """A spring that starts where a joint has reached a limit, tau = k max(lower - q, 0) - k max(q - upper, 0).

    For one ``coordinate`` of the joint; ``stiffness`` k [N m/rad or N/m].
    """

    link: int | str
    lower: float = -np.inf
    upper: float = np.inf
    stiffness: float = 1e3
    coordinate: int = 0

    def bind(self, tree: Tree) -> "JointStop":
        where = f"JointStop on {self.link!r}"
        link = tree.moved(self.link, where)
        if not self.lower <= self.upper:
            what = f"lower limit {self.lower} above upper limit {self.upper}"
            raise SceneError(what, where=where, remedy="swap them")
        if not self.stiffness > 0.0:
            raise SceneError(f"stiffness {self.stiffness}", where=where, remedy="give a number > 0")
        if not 0 <= self.coordinate < tree.links[link].joint.dof:
            what = f"the joint has {tree.links[link].joint.dof} coordinates"
            raise SceneError(what, where=where, remedy="number them from 0")
        return replace(self, link=link)

    def place(self, tree: Tree) -> int:
        """The place of its coordinate among those of the tree."""
        return int(tree.ptr[int(self.link)]) + self.coordinate

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        k = self.place(kin.tree)
        beyond = excess(kin.q[k], self.lower, self.upper)
        loads.f_r[k] -= self.stiffness * beyond
        if beyond != 0.0:
            loads.reduced_stiffness(np.array([k]), np.array([[-self.stiffness]]))

    def joins(self) -> IntArray:
        return np.empty((0, 2), dtype=np.int64)

    def potential(self, kin: Kinematics, t: float, quirks: Quirks) -> float:
        beyond = excess(kin.q[self.place(kin.tree)], self.lower, self.upper)
        return 0.5 * self.stiffness * float(beyond) ** 2


def excess(q: Array, lower: Any, upper: Any) -> Array:
    """How far q is beyond its limits, negative below them; complex steps pass through."""
    return np.where(q.real < lower, q - lower, np.where(q.real > upper, q - upper, 0.0))
