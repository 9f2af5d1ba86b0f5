"""The implicit contacts inside frictional joints, fixed in the child's frame [Weidner2022, sec. 3.3.2; card R-I].

No collision detection: a hinge is a cylinder touched at both ends, a slider a box touched at its corners, a ball a
sphere touched on its axes. Each contact point has normals (whose multipliers bound the friction) and tangents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pliant.arrays import Array
from pliant.articulated.se3 import gamma, rotation
from pliant.articulated.tree import Kinematics, Tree
from pliant.errors import SceneError

_Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Patch:
    """Contact points of one joint between ``child`` and ``parent``, in the child's body frame.

    ``points (k, 3)``, ``normals (k, m, 3)``, ``tangents (k, s, 3)``; ``mu`` None takes the method's coefficient;
    ``closure`` is the position of the loop closure it belongs to, -1 for a joint of the tree.
    """

    child: int
    parent: int
    points: Array
    normals: Array
    tangents: Array
    mu: float | None = None
    closure: int = -1

    def rows(self, kin: Kinematics, directions: Array) -> Array:
        """Relative velocity rows (k d, 12) along ``directions`` (k, d, 3): on the child, and opposite on the parent."""
        G = directions @ gamma(self.points)
        k, d = directions.shape[:2]
        N = np.zeros((k, d, 12))
        N[..., :6] = G
        if self.parent >= 0:
            E, P = kin.frames[self.child], kin.frames[self.parent]
            R = P[:3, :3].T @ E[:3, :3]
            points = self.points @ R.T + P[:3, :3].T @ (E[:3, 3] - P[:3, 3])
            N[..., 6:] = -(directions @ R.T) @ gamma(points)
        return N.reshape(k * d, 12)


class JointContact(Protocol):
    """A choice of joint geometry; ``patch`` places its contact points."""

    def patch(self, tree: Tree, constraints: Sequence[Any]) -> Patch: ...


@dataclass(frozen=True)
class CylinderContact:
    """A hinge of ``radius`` and ``height`` [m]: 4 angles at both ends, each with a radial and an axial normal."""

    link: int | str
    radius: float
    height: float
    mu: float | None = None

    def patch(self, tree: Tree, constraints: Sequence[Any]) -> Patch:
        i = tree.body(self.link)
        axis = getattr(tree.links[i].joint, "axis", None)
        if axis is None:
            raise SceneError(
                "its joint has no axis", where=f"CylinderContact on '{self.link}'", remedy="use a Revolute joint"
            )
        return _cylinder(i, int(tree.parent[i]), tree.Eij[i], axis, self)


@dataclass(frozen=True)
class ClosureContact:
    """The cylinder of the hinge that closes a loop; ``closure`` is the position of the LoopClosure in the list."""

    closure: int
    radius: float
    height: float
    mu: float | None = None

    def patch(self, tree: Tree, constraints: Sequence[Any]) -> Patch:
        c = constraints[self.closure]
        if not hasattr(c, "axis"):
            raise SceneError(
                f"constraint {self.closure} has no axis", where="ClosureContact", remedy="name a LoopClosure"
            )
        E = np.eye(4)
        E[:3, 3] = c.x1
        return _cylinder(int(c.first), int(c.second), E, c.axis, self, closure=self.closure)


@dataclass(frozen=True)
class BoxJointContact:
    """A slider with a box of ``sides`` (3,) [m]: 8 corners, two inward normals each, the axis as tangent."""

    link: int | str
    sides: Array
    mu: float | None = None

    def patch(self, tree: Tree, constraints: Sequence[Any]) -> Patch:
        i = tree.body(self.link)
        axis = getattr(tree.links[i].joint, "axis", None)
        if axis is None:
            raise SceneError(
                "its joint has no axis", where=f"BoxJointContact on '{self.link}'", remedy="use a Prismatic joint"
            )
        A = np.diag(np.asarray(self.sides, dtype=float)) @ _turn(axis)
        E = tree.Eij[i]
        corners = np.array([[x, y, z] for z in (-0.5, 0.5) for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
        normals = np.zeros((8, 2, 3))
        normals[:, 0, 0], normals[:, 1, 1] = -np.sign(corners[:, 0]), -np.sign(corners[:, 1])
        unit = lambda w: w / np.linalg.norm(w, axis=-1, keepdims=True)
        to_body = lambda w: unit(w @ A.T) @ E[:3, :3].T
        points = corners @ A.T @ E[:3, :3].T + E[:3, 3]
        tangents = np.broadcast_to(to_body(_Z), (8, 1, 3))
        return Patch(i, int(tree.parent[i]), points, to_body(normals), tangents, self.mu)


@dataclass(frozen=True)
class BallContact:
    """A ball of ``radius`` [m]: 6 points on its axes with one normal and two tangents each."""

    link: int | str
    radius: float
    mu: float | None = None

    def patch(self, tree: Tree, constraints: Sequence[Any]) -> Patch:
        i = tree.body(self.link)
        E = tree.Eij[i]
        axes = np.concatenate([np.eye(3), -np.eye(3)])
        turned = np.stack([np.roll(axes, 1, axis=1), np.roll(axes, 2, axis=1)], axis=1)
        points = self.radius * axes @ E[:3, :3].T + E[:3, 3]
        return Patch(i, int(tree.parent[i]), points, -axes[:, None] @ E[:3, :3].T, turned @ E[:3, :3].T, self.mu)


def _turn(axis: Array) -> Array:
    """A rotation that takes z to the line of ``axis``."""
    lean = np.cross(axis, _Z)
    if np.linalg.norm(lean) < 1e-12:
        return np.eye(3)
    return rotation(lean, float(np.arccos(np.clip(axis @ _Z, -1.0, 1.0))))


def _cylinder(
    child: int, parent: int, E: Array, axis: Array, shape: CylinderContact | ClosureContact, closure: int = -1
) -> Patch:
    A = E[:3, :3] @ _turn(np.asarray(axis, dtype=float))
    angle = np.repeat(0.5 * np.pi * np.arange(4), 2)
    end = np.tile([-1.0, 1.0], 4)
    c, s, zero = np.cos(angle), np.sin(angle), np.zeros(8)
    radial, tangent = np.stack([c, s, zero], axis=1), np.stack([-s, c, zero], axis=1)
    points = shape.radius * radial + 0.5 * shape.height * end[:, None] * _Z
    normals = np.stack([-radial, -end[:, None] * _Z], axis=1)
    return Patch(child, parent, points @ A.T + E[:3, 3], normals @ A.T, tangent[:, None] @ A.T, shape.mu, closure)
