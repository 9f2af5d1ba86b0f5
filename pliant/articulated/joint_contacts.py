"""The implicit contacts inside frictional joints, fixed in the child's frame [Weidner2022, sec. 3.3.2].

No collision detection: a hinge is a cylinder touched at both ends, a slider a box touched at its corners, a ball a
sphere touched on its axes. Each contact point has normals (whose multipliers bound the friction) and tangents.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated.blocks import PairRows
from pliant.articulated.constraints.loops import LoopClosure
from pliant.articulated.joints import Prismatic, Revolute
from pliant.articulated.se3 import gamma, rotation
from pliant.articulated.tree import Kinematics, Tree
from pliant.errors import SceneError, require_numbers

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


@dataclass(frozen=True)
class PatchGroup:
    """Patches of one layout, stacked: child, parent, closure (p,), points (p, k, 3), normals, tangents (p, k, ., 3).

    ``mu (p,)`` is nan where the method's coefficient applies.
    """

    child: IntArray
    parent: IntArray
    closure: IntArray
    points: Array
    normals: Array
    tangents: Array
    mu: Array

    def rows(self, kin: Kinematics, directions: Array) -> Array:
        """Rows (p, k d, 12) along ``directions`` (p, k, d, 3): on the child, opposite on its parent."""
        p, k, d = directions.shape[:3]
        N = np.zeros((p, k, d, 12))
        N[..., :6] = directions @ gamma(self.points)
        E, P = kin.frames[self.child], kin.frames[np.maximum(self.parent, 0)]
        Pt = np.swapaxes(P[:, :3, :3], 1, 2)
        Rt = np.swapaxes(Pt @ E[:, :3, :3], 1, 2)[:, None]
        points = self.points @ Rt[:, 0] + (Pt @ (E[:, :3, 3] - P[:, :3, 3])[:, :, None])[:, None, :, 0]
        N[..., 6:] = np.where((self.parent < 0)[:, None, None, None], 0.0, -(directions @ Rt) @ gamma(points))
        return N.reshape(p, k * d, 12)

    def split_rows(self, kin: Kinematics) -> tuple[Array, Array]:
        """The rows along the normals and those along the tangents, from one evaluation."""
        p, k, m = self.normals.shape[:3]
        every = self.rows(kin, np.concatenate([self.normals, self.tangents], axis=2)).reshape(p, k, -1, 12)
        return every[:, :, :m].reshape(p, -1, 12), every[:, :, m:].reshape(p, -1, 12)

    def spread(self, rows: Array) -> PairRows:
        """Rows (p, r, 12) as rows over all maximal coordinates, patch by patch."""
        p, r = rows.shape[:2]
        bodies = np.repeat(np.stack([self.child, self.parent], axis=1), r, axis=0)
        return PairRows(bodies, np.ascontiguousarray(rows).reshape(p * r, 2, 6))


def grouped(patches: Sequence[Patch]) -> tuple[PatchGroup, ...]:
    """The patches stacked by layout."""
    layouts: dict[tuple[int, ...], list[Patch]] = {}
    for p in patches:
        layouts.setdefault((*p.normals.shape, *p.tangents.shape), []).append(p)
    return tuple(_stacked(members) for members in layouts.values())


def _stacked(patches: list[Patch]) -> PatchGroup:
    mu = np.array([np.nan if p.mu is None else p.mu for p in patches])
    child, parent, closure = (np.array(x) for x in zip(*((p.child, p.parent, p.closure) for p in patches), strict=True))
    points, normals, tangents = (
        np.array(x) for x in zip(*((p.points, p.normals, p.tangents) for p in patches), strict=True)
    )
    return PatchGroup(child, parent, closure, points, normals, tangents, mu)


@dataclass(frozen=True)
class DryFriction:
    """A joint with one coordinate that resists with at most ``force`` [N m or N], whatever its load."""

    link: int | str
    force: float

    def bind(self, tree: Tree) -> "DryFriction":
        where, remedy = f"DryFriction on '{self.link}'", "give a force >= 0 for a revolute or prismatic joint"
        link = tree.moved(self.link, where)
        force = require_numbers(self.force, f"{where}, force", "give a number [N m or N]")
        if tree.links[link].joint.dof != 1 or force.shape or not 0.0 <= force < np.inf:
            what = f"force {self.force} on a joint with {tree.links[link].joint.dof} coordinates"
            raise SceneError(what, where=where, remedy=remedy)
        return DryFriction(link, float(force))


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
        joint = tree.links[i].joint
        if not isinstance(joint, Revolute):
            what = f"its joint is {type(joint).__name__}, which has no axis to turn about"
            raise SceneError(what, where=f"CylinderContact on '{self.link}'", remedy="use a Revolute joint")
        return _cylinder(i, int(tree.parent[i]), tree.Eij[i], joint.axis, self)


@dataclass(frozen=True)
class ClosureContact:
    """The cylinder of the hinge that closes a loop; ``closure`` is the position of the LoopClosure in the list."""

    closure: int
    radius: float
    height: float
    mu: float | None = None

    def patch(self, tree: Tree, constraints: Sequence[Any]) -> Patch:
        c = constraints[self.closure]
        if not isinstance(c, LoopClosure):
            what = f"constraint {self.closure} is a {type(c).__name__}, which has no axis"
            raise SceneError(what, where="ClosureContact", remedy="give the position of a LoopClosure")
        E = np.eye(4)
        E[:3, 3] = c.x1
        return _cylinder(tree.body(c.first), tree.body(c.second), E, c.axis, self, closure=self.closure)


@dataclass(frozen=True)
class BoxJointContact:
    """A slider with a box of ``sides`` (3,) [m]: 8 corners, two inward normals each, the axis as tangent."""

    link: int | str
    sides: Array
    mu: float | None = None

    def patch(self, tree: Tree, constraints: Sequence[Any]) -> Patch:
        i = tree.body(self.link)
        joint = tree.links[i].joint
        if not isinstance(joint, Prismatic):
            what = f"its joint is {type(joint).__name__}, which has no axis to slide along"
            raise SceneError(what, where=f"BoxJointContact on '{self.link}'", remedy="use a Prismatic joint")
        A = np.diag(np.asarray(self.sides, dtype=float)) @ _turn(joint.axis)
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


JOINT_CONTACTS = (CylinderContact, ClosureContact, BoxJointContact, BallContact)


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
