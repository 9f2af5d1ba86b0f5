"""Contact of links with obstacles of any shape, as rows: for methods that know the friction in joints."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.constraints.contact import basis, contact_rows
from pliant.articulated.constraints.rows import ConstraintRows
from pliant.articulated.quirks import Quirks
from pliant.articulated.tree import Kinematics, Tree
from pliant.contact.obstacles import Obstacle
from pliant.errors import SceneError


@dataclass(frozen=True)
class ObstacleContact:
    """Spheres of ``radius`` around body points (m, 3) stay outside an ``obstacle`` that does not move.

    Omitted points are those of the link's surface, or the center of a sphere with its radius: what meets an edge
    between the points is not seen. ``mu`` None takes the coefficient of the friction method.
    """

    link: int | str
    obstacle: Obstacle
    points: Array | None = None
    radius: float | None = None
    mu: float | None = None
    inequality: ClassVar[bool] = True

    def bind(self, tree: Tree) -> "ObstacleContact":
        link = tree.body(self.link)
        body, where = tree.links[link].body, f"ObstacleContact on '{self.link}'"
        if self.obstacle.motion is not None:
            remedy = "give it to the scene, with contact=RowContact(), or let it stand still"
            raise SceneError(f"the obstacle {self.obstacle.name!r} moves", where=where, remedy=remedy)
        ball = self.points is None and body.radius > 0.0
        given = np.zeros((1, 3)) if ball else body.points if self.points is None else self.points
        points = np.atleast_2d(np.asarray(given, dtype=float))
        if not len(points):
            raise SceneError("the link has no surface", where=where, remedy="give points")
        radius = (body.radius if ball else 0.0) if self.radius is None else self.radius
        return replace(self, link=link, points=points, radius=float(radius))

    def rows(self, kin: Kinematics, t: float, quirks: Quirks) -> ConstraintRows | None:
        assert self.points is not None and self.radius is not None
        E = kin.frame(int(self.link))
        x = self.points @ E[:3, :3].T + E[:3, 3]
        gap, n = self.obstacle.distance(x)
        gap = gap - self.radius
        touching = np.flatnonzero(gap < 0.0)
        if not len(touching):
            return None
        feet = (x[touching] - self.radius * n[touching] - E[:3, 3]) @ E[:3, :3]
        N = np.stack([basis(normal) for normal in n[touching]])
        return contact_rows(kin, int(self.link), feet, N, gap[touching], self.mu)
