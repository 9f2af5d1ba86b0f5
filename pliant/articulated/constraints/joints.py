"""Constraints on joint coordinates: limits, coupled angles, prescribed motion."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated.constraints.rows import ConstraintRows
from pliant.articulated.forces.joint import one_in_time, wrench_map
from pliant.articulated.forces.stops import limited_link
from pliant.articulated.quirks import Quirks
from pliant.articulated.tree import Kinematics, Tree
from pliant.errors import SceneError, require_numbers

Function = Callable[[float], float]


def _no_function(t: float) -> float:
    return 0.0


@dataclass(frozen=True)
class JointLimit:
    """A joint limit, lower <= q <= upper for one coordinate; active only at or beyond a limit.

    Velocity steps meet it as an inequality. In a scene with any other integrator it is a spring (`JointStop`), as stiff
    as the step of the scene resolves, or of ``stiffness`` [N m/rad or N/m].
    """

    link: int | str
    lower: float = -np.inf
    upper: float = np.inf
    coordinate: int = 0
    stiffness: float | None = None
    inequality: ClassVar[bool] = True

    def bind(self, tree: Tree) -> "JointLimit":
        return replace(self, link=limited_link(self, tree))

    def rows(self, kin: Kinematics, t: float, quirks: Quirks) -> ConstraintRows | None:
        k = kin.tree.slice(self.link).start + self.coordinate
        q = float(kin.q[k])
        if self.lower < q < self.upper:
            return None
        sign = 1.0 if q <= self.lower else -1.0
        gap = q - self.lower if sign > 0 else self.upper - q
        if sign < 0 and quirks.upper_limit_flipped:
            gap = -gap
        G = np.zeros((1, kin.tree.dof))
        G[0, k] = sign
        return ConstraintRows(G, False, np.array([gap]), np.zeros(1), np.zeros(1), inequality=True)


@dataclass(frozen=True)
class CoupledJoints:
    """Gears and mimic joints: ratio q_first - q_second = offset."""

    first: int | str
    second: int | str
    ratio: float = 1.0
    offset: float = 0.0
    inequality: ClassVar[bool] = False

    def bind(self, tree: Tree) -> "CoupledJoints":
        where = f"CoupledJoints of {self.first!r} and {self.second!r}"
        first, second = (tree.moved(link, where, coordinates=1) for link in (self.first, self.second))
        if first == second:
            raise SceneError("both are the same joint", where=where, remedy="name two joints")
        require_numbers((self.ratio, self.offset), where, "give numbers as ratio and offset")
        return replace(self, first=first, second=second)

    def joins(self) -> IntArray:
        return np.array([[self.first, self.second]], dtype=np.int64)

    def rows(self, kin: Kinematics, t: float, quirks: Quirks) -> ConstraintRows:
        G = np.zeros((1, kin.tree.dof))
        G[0, kin.tree.slice(self.first).start] = self.ratio
        G[0, kin.tree.slice(self.second).start] -= 1.0
        return ConstraintRows(G, False, G @ kin.q - self.offset, np.zeros(1), np.zeros(1))


@dataclass(frozen=True)
class PrescribedJoint:
    """A motor with prescribed rate, qdot = rate(t), at a joint with one coordinate; follows position(t) if given.

    The multiplier over h is the motor force. ``maximal`` writes the row on the two bodies, so that BISP treats the
    motor as an external constraint.
    """

    link: int | str
    rate: float | Function
    position: float | Function | None = None
    acceleration: Function = _no_function
    maximal: bool = False
    inequality: ClassVar[bool] = False

    def bind(self, tree: Tree) -> "PrescribedJoint":
        where = f"PrescribedJoint on {self.link!r}"
        link = tree.moved(self.link, where, coordinates=1)
        position = None if self.position is None else one_in_time(self.position, f"{where}, position")
        return replace(self, link=link, rate=one_in_time(self.rate, f"{where}, rate"), position=position)

    def joins(self) -> IntArray:
        return np.array([[self.link, self.link]], dtype=np.int64)

    def rows(self, kin: Kinematics, t: float, quirks: Quirks) -> ConstraintRows:
        k = kin.tree.slice(self.link).start
        assert callable(self.rate)  # bound
        g = np.array([kin.q[k] - self.position(t) if callable(self.position) else 0.0])
        rate, acceleration = np.array([self.rate(t)]), np.array([self.acceleration(t)])
        feedback, positional = not quirks.no_rate_feedback, self.position is not None
        if not self.maximal:
            G = np.zeros((1, kin.tree.dof))
            G[0, k] = 1.0
            return ConstraintRows(G, False, g, rate, acceleration, rate_feedback=feedback, positional=positional)
        bodies, W = wrench_map(kin, int(self.link))
        M = np.zeros((len(kin.tree), 6), dtype=kin.frames.dtype)
        for body, w in zip(bodies, W[:, 0].reshape(-1, 6), strict=True):
            if body >= 0:
                M[body] += w
        # W turns with the bodies: along the joint the row measures qdot exactly, so its bias is Jdot's.
        acceleration = acceleration + M.ravel() @ kin.bias.ravel()
        G = M.reshape(1, -1)
        return ConstraintRows(G, True, g, rate, acceleration, rate_feedback=feedback, positional=positional)


@dataclass(frozen=True)
class PrescribedBody:
    """Prescribes some components of a body's twist: phi[components] = target.

    ``twist(t, E, phi)`` returns (target, its derivative), each (6,), for the body's world frame E and twist phi.
    """

    link: int | str
    components: tuple[int, ...]
    twist: Callable[[float, Array, Array], tuple[Array, Array]]
    inequality: ClassVar[bool] = False

    def bind(self, tree: Tree) -> "PrescribedBody":
        return replace(self, link=tree.moved(self.link, f"PrescribedBody on {self.link!r}"))

    def joins(self) -> IntArray:
        return np.array([[self.link, self.link]], dtype=np.int64)

    def rows(self, kin: Kinematics, t: float, quirks: Quirks) -> ConstraintRows:
        i, c = int(self.link), list(self.components)
        phi, phidot = self.twist(t, kin.frame(i).real, kin.twists[i].real)  # a target, not differentiated
        G = np.zeros((len(c), len(kin.tree), 6))
        G[np.arange(len(c)), i, c] = 1.0
        feedback = not quirks.no_rate_feedback
        rows = G.reshape(len(c), -1)
        return ConstraintRows(rows, True, np.zeros(len(c)), phi[c], phidot[c], rate_feedback=feedback, positional=False)
