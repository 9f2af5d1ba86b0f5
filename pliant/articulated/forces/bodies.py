"""Forces on single bodies: world forces at a point, and viscous drag on twists."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.forces.base import joins_nothing, require_passive, stores_nothing
from pliant.articulated.forces.joint import corners_of, in_time
from pliant.articulated.loads import Loads
from pliant.articulated.se3 import gamma
from pliant.articulated.tree import Kinematics, Tree
from pliant.errors import SceneError, require_numbers


@dataclass(frozen=True)
class WorldForce:
    """A force F(t) (3,) [N] in world directions at a body point; its stiffness is ignored, it has no potential here.

    ``force`` is a vector, a function of time, or rows (time, x, y, z), interpolated linearly.
    """

    link: int | str
    point: Array
    force: Array | Callable[[float], Array] | Sequence[Sequence[float]]
    drives: ClassVar[bool] = True
    joins, potential = joins_nothing, stores_nothing

    def bind(self, tree: Tree) -> "WorldForce":
        where = f"WorldForce on {self.link!r}"
        point = require_numbers(self.point, f"{where}, point", "give three numbers [m]")
        constant = not callable(self.force) and np.ndim(self.force) == 1
        force = self.force if constant else in_time(self.force, f"{where}, force")
        first = require_numbers(force(0.0) if callable(force) else force, f"{where}, force", "give three numbers [N]")
        if point.shape != (3,) or first.shape != (3,):
            what = f"a force of shape {first.shape} at a point of shape {point.shape}"
            raise SceneError(what, where=where, remedy="both have three components")
        return replace(self, link=tree.body(self.link), point=point, force=force if callable(force) else first)

    @property
    def corners(self) -> tuple[float, ...]:
        return corners_of(self.force)

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
        require_passive("BodyDamping", damping=self.damping)
        return self if self.link is None else replace(self, link=tree.body(self.link))

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        bodies = np.arange(len(kin.tree)) if self.link is None else np.array([int(self.link)])
        loads.D.add(bodies, bodies, np.broadcast_to(-self.damping * np.eye(6), (len(bodies), 6, 6)))
