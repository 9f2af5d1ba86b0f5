"""Forces on single bodies: world forces at a point, and viscous drag on twists."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.forces.base import joins_nothing, stores_nothing
from pliant.articulated.loads import Loads
from pliant.articulated.se3 import gamma
from pliant.articulated.tree import Kinematics, Tree


@dataclass(frozen=True)
class WorldForce:
    """A force F(t) (3,) [N] in world directions at a body point; its stiffness is ignored, it has no potential here."""

    link: int | str
    point: Array
    force: Array | Callable[[float], Array]
    drives: ClassVar[bool] = True
    joins, potential = joins_nothing, stores_nothing

    def bind(self, tree: Tree) -> "WorldForce":
        return replace(self, link=tree.body(self.link), point=np.asarray(self.point, dtype=float))

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        F = np.asarray(self.force(t) if callable(self.force) else self.force, dtype=float)
        R = kin.frame(int(self.link))[:3, :3]
        loads.f[int(self.link)] += gamma(self.point).T @ (R.T @ F)


@dataclass(frozen=True)
class BodyDamping:
    """Viscous damping of one link, or of all of them when ``link`` is None: wrench = -d phi."""

    damping: float
    link: int | str | None = None
    joins, potential = joins_nothing, stores_nothing

    def bind(self, tree: Tree) -> "BodyDamping":
        return self if self.link is None else replace(self, link=tree.body(self.link))

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        bodies = np.arange(len(kin.tree)) if self.link is None else np.array([int(self.link)])
        loads.D.add(bodies, bodies, np.broadcast_to(-self.damping * np.eye(6), (len(bodies), 6, 6)))
