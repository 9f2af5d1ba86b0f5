"""Joint limits as springs, for methods that know forces only."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.forces.base import joins_nothing
from pliant.articulated.loads import Loads
from pliant.articulated.quirks import Quirks
from pliant.articulated.tree import Kinematics, Tree
from pliant.errors import SceneError, require_numbers


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
    joins = joins_nothing

    def bind(self, tree: Tree) -> "JointStop":
        where = f"JointStop on {self.link!r}"
        if not require_numbers(self.stiffness, f"{where}, stiffness", "give a number > 0") > 0.0:
            raise SceneError(f"stiffness {self.stiffness}", where=where, remedy="give a number > 0")
        return replace(self, link=limited_link(self, tree))

    def place(self, tree: Tree) -> int:
        """The place of its coordinate among those of the tree."""
        return int(tree.ptr[int(self.link)]) + self.coordinate

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        k = self.place(kin.tree)
        beyond = excess(kin.q[k], self.lower, self.upper)
        loads.f_r[k] -= self.stiffness * beyond
        if beyond != 0.0:
            loads.reduced_stiffness(np.array([k]), np.array([[-self.stiffness]]))

    def potential(self, kin: Kinematics, t: float, quirks: Quirks) -> float:
        beyond = excess(kin.q[self.place(kin.tree)], self.lower, self.upper)
        return 0.5 * self.stiffness * float(beyond) ** 2


def limited_link(limit: Any, tree: Tree) -> int:
    """The link of a `JointStop` or `JointLimit`, where its limits and its coordinate are possible."""
    where = f"{type(limit).__name__} on {limit.link!r}"
    link = tree.moved(limit.link, where)
    lower, upper = (require_numbers(end, where, "give numbers as limits") for end in (limit.lower, limit.upper))
    if not lower <= upper:
        what = f"lower limit {limit.lower} above upper limit {limit.upper}"
        raise SceneError(what, where=where, remedy="swap them")
    dof = tree.links[link].joint.dof
    if not 0 <= limit.coordinate < dof:
        what = f"coordinate {limit.coordinate}, but the joint has {dof} coordinates"
        raise SceneError(what, where=where, remedy="number them from 0, and choose a joint that moves")
    return link


def excess(q: Array, lower: Any, upper: Any) -> Array:
    """How far q is beyond its limits, negative below them; complex steps pass through."""
    return np.where(q.real < lower, q - lower, np.where(q.real > upper, q - upper, 0.0))
