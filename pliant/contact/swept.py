"""Where fast vertices enter obstacles: what passes through a thin one in a step is outside again at its end.

Such a vertex meets the plane that touches the obstacle where it would enter, for the whole stage.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Contacts, obstacle_contacts
from pliant.contact.obstacles import Obstacle
from pliant.contact.pose import Passage
from pliant.contact.setting import Setting

MOST = 64  # places on a way that are looked at
TOUCHING, PRESSING = 1e-4, 0.1  # parts of the shortest way looked at: to be there, and to pass


@dataclass(frozen=True, eq=False)
class Entries:
    """Planes through ``point (c, 3)`` with unit ``normal (c, 3)`` outwards, which ``vertex (c,)`` may not pass.

    ``drift (c, 3)`` [m/s] is how fast the obstacle moves there, ``other (c,)`` is -1 - k for obstacle k.
    """

    vertex: IntArray
    point: Array
    normal: Array
    drift: Array
    other: IntArray

    def contacts(self, x: Array, margin: Array) -> Contacts:
        """The gaps beyond ``margin (n,)`` [m] at positions ``x (n, 3)``."""
        gaps = ((x[self.vertex] - self.point) * self.normal).sum(axis=1) - margin[self.vertex]
        return replace(obstacle_contacts(self.vertex, self.normal, gaps, self.drift, None, -1), other=self.other)

    def covers(self, contacts: Contacts) -> NDArray[np.bool_]:
        """Which contacts with obstacles (c,) are those of a vertex that has a plane there."""
        stride = 1 - min(self.other.min(), contacts.other.min(initial=0))
        return np.isin(contacts.nodes[:, 0] * stride - contacts.other, self.vertex * stride - self.other)


def entries(setting: Setting, passages: Sequence[Passage], x: Array, way: Array, reach: float) -> Entries | None:
    """Where vertices on straight ways from ``x (n, 3)`` pass into obstacles, seen from these; None where none does.

    Ways shorter than ``reach`` [m] are left to where they end; others are followed so much farther, as the others of a
    body may push.
    """
    found = []
    for k, (obstacle, passage) in enumerate(zip(setting.obstacles, passages, strict=True)):
        begin, end = passage.before.local(x[setting.skin]), passage.pose.local((x + way)[setting.skin])
        length = np.linalg.norm(end - begin, axis=1)
        fast = np.flatnonzero(length > reach)
        end[fast] += reach * (end[fast] - begin[fast]) / length[fast, None]
        begin[fast] = _outside(obstacle, begin[fast], TOUCHING * reach)
        fast, where = _met(obstacle, begin, end, fast, TOUCHING * reach)
        normal = obstacle.distance(where)[1]
        through = ((end[fast] - where) * normal).sum(axis=1) < -PRESSING * reach
        if through.any():
            point, owner = passage.pose.world(where[through]), np.full(int(through.sum()), -1 - k)
            drift, vertex = passage.velocity(point), setting.skin[fast[through]]
            found.append(Entries(vertex, point, passage.pose.turn(normal[through]), drift, owner))
    return Entries(*(np.concatenate([vars(f)[name] for f in found]) for name in vars(found[0]))) if found else None


def _outside(obstacle: Obstacle, x: Array, close: float) -> Array:
    """``x (p, 3)`` with those inside put ``close`` [m] above the surface that is nearest to them."""
    gap, normal = obstacle.distance(x)
    return x + np.where(gap > 0.0, 0.0, close - gap)[:, None] * normal


def _met(obstacle: Obstacle, begin: Array, end: Array, which: IntArray, close: float) -> tuple[IntArray, Array]:
    """Those of ``which`` whose ways, from outside, come ``close`` [m], and where (c, 3).

    Nothing is nearer than the distance says, so that much of a way can always be gone; just less, because normals are
    not known on the surface itself.
    """
    met, where = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 3))]
    s = np.zeros(len(which))
    for _ in range(MOST):
        ways = end[which] - begin[which]
        here = begin[which] + s[:, None] * ways
        gap = obstacle.distance(here)[0]
        there = gap <= close
        met.append(which[there])
        where.append(here[there])
        s = s + (gap - 0.5 * close) / np.linalg.norm(ways, axis=1)
        on = ~there & (s < 1.0)
        which, s = which[on], s[on]
        if not len(which):
            break
    return np.concatenate(met), np.concatenate(where)
