"""Loop closures: two bodies share a hinge, or a point."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated.constraints.rows import ConstraintRows
from pliant.articulated.quirks import Quirks
from pliant.articulated.se3 import gamma, hat
from pliant.articulated.tree import Kinematics, Tree


@dataclass(frozen=True)
class LoopClosure:
    """A hinge that closes a loop, between point x1 of one link and x2 of another (None is the world): two rows.

    The rows are B^T [R1 Gamma1, -R2 Gamma2]; B are two world directions orthogonal to ``axis`` (3,), the hinge axis in
    the body frame of the first link. The other directions are redundant in a planar mechanism; use `BallClosure` for
    all three.
    """

    first: int | str
    x1: Array
    second: int | str | None
    x2: Array
    axis: Array
    inequality: ClassVar[bool] = False

    def bind(self, tree: Tree) -> "LoopClosure":
        return _bound(self, tree, axis=np.asarray(self.axis, dtype=float))

    def joins(self) -> IntArray:
        return np.array([[_id(self.first), _id(self.second)]])

    def rows(self, kin: Kinematics, t: float, quirks: Quirks) -> ConstraintRows:
        a = kin.frame(int(self.first))[:3, :3] @ self.axis
        return _closure(kin, self, orthogonal(a))


@dataclass(frozen=True)
class BallClosure:
    """A ball joint that closes a loop, between point x1 of a link and x2 of another (None is the world): three rows."""

    first: int | str | None
    x1: Array
    second: int | str | None
    x2: Array
    inequality: ClassVar[bool] = False

    def bind(self, tree: Tree) -> "BallClosure":
        return _bound(self, tree)

    def joins(self) -> IntArray:
        return np.array([[_id(self.first), _id(self.second)]])

    def rows(self, kin: Kinematics, t: float, quirks: Quirks) -> ConstraintRows:
        return _closure(kin, self, np.eye(3))


def orthogonal(a: Array) -> Array:
    """Two unit vectors (3, 2) orthogonal to a, varying smoothly while its smallest component stays the same."""
    e = np.eye(3)[int(np.argmin(np.abs(a)))]
    unit = lambda v: v / np.sqrt(v @ v)  # not a norm: also for complex steps
    v2 = unit(np.cross(a, e))
    return np.stack([unit(np.cross(v2, a)), v2], axis=1)


def _bound(closure: Any, tree: Tree, **changes: Any) -> Any:
    x1, x2 = np.asarray(closure.x1, dtype=float), np.asarray(closure.x2, dtype=float)
    return replace(closure, first=tree.body(closure.first), second=tree.body(closure.second), x1=x1, x2=x2, **changes)


def _closure(kin: Kinematics, c: LoopClosure | BallClosure, B: Array) -> ConstraintRows:
    """Rows along the world directions B (3, k), held fixed during the step."""
    G = np.zeros((B.shape[1], len(kin.tree), 6), dtype=kin.frames.dtype)
    acceleration = np.zeros(B.shape[1], dtype=kin.frames.dtype)
    for body, x, sign in ((_id(c.first), c.x1, 1.0), (_id(c.second), c.x2, -1.0)):
        if body < 0:
            continue
        R, w = kin.frame(body)[:3, :3], kin.twists[body, :3]
        G[:, body] += sign * B.T @ R @ gamma(x)
        acceleration -= sign * B.T @ R @ (hat(w) @ (gamma(x) @ kin.twists[body]))
    g = B.T @ (kin.point(_id(c.first), c.x1) - kin.point(_id(c.second), c.x2))
    return ConstraintRows(G.reshape(len(G), -1), True, g, np.zeros(len(g)), acceleration)


def _id(link: int | str | None) -> int:
    return -1 if link is None else int(link)
