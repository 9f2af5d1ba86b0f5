"""Contact of bodies with a floor or with boxes: one row per touching point, with two friction directions."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.constraints.rows import ConstraintRows, Tangents
from pliant.articulated.quirks import Quirks
from pliant.articulated.se3 import gamma
from pliant.articulated.tree import Kinematics, Tree
from pliant.errors import SceneError


@dataclass(frozen=True)
class FloorContact:
    """Spheres of ``radius`` around body points (m, 3) stay above the xy plane of ``frame`` (4, 4).

    Radius 0 with the corners of a cuboid makes a box on the floor. Omitted points are the body center, an omitted
    radius is that of the body (sphere). ``mu`` None takes the coefficient of the friction method.
    """

    link: int | str
    points: Array | None = None
    radius: float | None = None
    frame: Array = field(default_factory=lambda: np.eye(4))
    mu: float | None = None
    inequality: ClassVar[bool] = True

    def bind(self, tree: Tree) -> "FloorContact":
        link = tree.body(self.link)
        radius = tree.links[link].body.radius if self.radius is None else self.radius
        if self.points is None and radius <= 0:
            raise SceneError(
                "neither points nor a radius", where=f"FloorContact on '{self.link}'", remedy="give points, or a sphere"
            )
        points = np.zeros((1, 3)) if self.points is None else np.atleast_2d(np.asarray(self.points, dtype=float))
        return replace(self, link=link, radius=radius, points=points, frame=np.asarray(self.frame, dtype=float))

    def rows(self, kin: Kinematics, t: float, quirks: Quirks) -> ConstraintRows | None:
        assert self.points is not None and self.radius is not None
        E, N = kin.frame(int(self.link)), self.frame[:3, :3]
        X = self.points @ E[:3, :3].T + E[:3, 3]
        gap = (X - self.frame[:3, 3]) @ N[:, 2] - self.radius
        touching = np.flatnonzero(gap < 0.0)
        if len(touching) == 0:
            return None
        feet = (X[touching] - self.radius * N[:, 2] - E[:3, 3]) @ E[:3, :3]  # in the body frame
        return contact_rows(kin, int(self.link), feet, np.broadcast_to(N, (len(feet), 3, 3)), gap[touching], self.mu)


@dataclass(frozen=True)
class BoxContact:
    """A sphere of ``radius`` at a body point stays outside a box of ``sides`` (3,) fixed in the world at ``frame``."""

    link: int | str
    sides: Array
    frame: Array
    point: Array = field(default_factory=lambda: np.zeros(3))
    radius: float | None = None
    mu: float | None = None
    inequality: ClassVar[bool] = True

    def bind(self, tree: Tree) -> "BoxContact":
        link = tree.body(self.link)
        radius = tree.links[link].body.radius if self.radius is None else self.radius
        if radius <= 0:
            raise SceneError(
                f"radius {radius}", where=f"BoxContact on '{self.link}'", remedy="give the sphere a radius"
            )
        sides, E = np.asarray(self.sides, dtype=float), np.asarray(self.frame, dtype=float)
        return replace(self, link=link, radius=radius, sides=sides, frame=E, point=np.asarray(self.point, dtype=float))

    def rows(self, kin: Kinematics, t: float, quirks: Quirks) -> ConstraintRows | None:
        assert self.radius is not None
        E, R = kin.frame(int(self.link)), self.frame[:3, :3]
        x = R.T @ (kin.point(int(self.link), self.point) - self.frame[:3, 3])
        half = 0.5 * self.sides
        nearest = np.clip(x, -half, half)
        d = x - nearest
        distance = float(np.linalg.norm(d))
        if distance > self.radius:
            return None
        if distance > 1e-12:
            n = d / distance
        else:  # the center is inside: leave through the nearest face
            face = int(np.argmin(half - np.abs(x)))
            n = np.eye(3)[face] * (1.0 if x[face] >= 0 else -1.0)
            distance = -float(half[face] - abs(x[face]))
        world = R @ n
        foot = E[:3, :3].T @ (kin.point(int(self.link), self.point) - self.radius * world - E[:3, 3])
        return contact_rows(
            kin, int(self.link), foot[None], basis(world)[None], np.array([distance - self.radius]), self.mu
        )


def basis(n: Array) -> Array:
    """Two tangents and the normal as columns."""
    e = np.eye(3)[int(np.argmin(np.abs(n)))]
    t = np.cross(n, e)
    t = t / np.linalg.norm(t)
    return np.stack([t, np.cross(n, t), n], axis=1)


def contact_rows(kin: Kinematics, body: int, feet: Array, N: Array, gap: Array, mu: float | None) -> ConstraintRows:
    """Rows n^T R Gamma(foot) >= -b gap, and the two tangents; N (m, 3, 3) has tangents and normal as columns."""
    P = np.swapaxes(N, 1, 2) @ (kin.frame(body)[:3, :3] @ gamma(feet))  # (m, 3, 6)
    m = len(feet)
    G, T = np.zeros((m, len(kin.tree), 6)), np.zeros((m, 2, len(kin.tree), 6))
    G[:, body] = P[:, 2]
    T[:, :, body] = P[:, :2]
    zero = np.zeros(m)
    return ConstraintRows(
        G.reshape(m, -1), True, gap, zero, zero, inequality=True, tangents=Tangents(T.reshape(2 * m, -1), mu)
    )
