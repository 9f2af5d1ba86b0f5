"""Where fast vertices enter obstacles: what passes through a thin one in a step is outside again at its end.

Such a vertex meets the plane that touches the obstacle where it would enter, for the whole stage.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Contacts
from pliant.contact.obstacles import Obstacle
from pliant.contact.places import SkinPoints
from pliant.contact.pose import Passage
from pliant.contact.setting import Setting

MOST = 64  # places on a way that are looked at
TOUCHING, PRESSING = 1e-4, 0.1  # parts of the shortest way looked at: to be there, and to pass


@dataclass(frozen=True, eq=False)
class Entries:
    """Planes through ``point (c, 3)`` with unit ``normal (c, 3)`` outwards, not to be passed by places ``which (c,)``.

    ``drift (c, 3)`` [m/s] is how fast the obstacle moves there, ``other (c,)`` is -1 - k for obstacle k.
    """

    places: SkinPoints
    which: IntArray
    point: Array
    normal: Array
    drift: Array
    other: IntArray

    def contacts(self, x: Array, margin: Array) -> Contacts:
        """The gaps beyond ``margin (n,)`` [m] at positions ``x (n, 3)``."""
        found = self.places.contacts(self.which, self.normal, np.zeros(len(self.which)), self.drift, None, self.other)
        gaps = ((found.relative(x) - self.point) * self.normal).sum(axis=1) - margin[self.places.first[self.which]]
        return replace(found, gaps=gaps)

    def others(self, met: Sequence[IntArray]) -> list[IntArray]:
        """Those of the places ``met`` at every obstacle that have no plane there."""
        return [np.setdiff1d(rows, self.which[self.other == -1 - k]) for k, rows in enumerate(met)]


def entries(
    setting: Setting,
    passages: Sequence[Passage],
    x: Array,
    way: Array,
    reach: float | Array,
    places: SkinPoints | None = None,
) -> Entries | None:
    """Where places on straight ways from ``x (n, 3)`` pass into obstacles, seen from these; None where none does.

    ``places`` are the vertices if not given. Ways shorter than ``reach`` [m], one or (p,), are left to where they end;
    others are followed so much farther, as the others of a body may push.
    """
    found = []
    places = setting.vertices if places is None else places
    least = np.broadcast_to(reach, len(places))
    for k, (obstacle, passage) in enumerate(zip(setting.obstacles, passages, strict=True)):
        begin, end = passage.before.local(places.at(x)), passage.pose.local(places.at(x + way))
        length = np.linalg.norm(end - begin, axis=1)
        fast = np.flatnonzero(length > least)
        end[fast] += (least[fast] / length[fast])[:, None] * (end[fast] - begin[fast])
        begin[fast] = _outside(obstacle, begin[fast], TOUCHING * least[fast])
        fast, where = _met(obstacle, begin, end, fast, TOUCHING * least)
        normal = obstacle.distance(where)[1]
        through = ((end[fast] - where) * normal).sum(axis=1) < -PRESSING * least[fast]
        if through.any():
            point, owner = passage.pose.world(where[through]), np.full(int(through.sum()), -1 - k)
            drift, which = passage.velocity(point), fast[through]
            found.append((which, point, passage.pose.turn(normal[through]), drift, owner))
    return Entries(places, *(np.concatenate(parts) for parts in zip(*found, strict=True))) if found else None


def _outside(obstacle: Obstacle, x: Array, close: Array) -> Array:
    """``x (p, 3)`` with those inside put ``close (p,)`` [m] above the surface that is nearest to them."""
    gap, normal = obstacle.distance(x)
    return x + np.where(gap > 0.0, 0.0, close - gap)[:, None] * normal


def _met(obstacle: Obstacle, begin: Array, end: Array, which: IntArray, close: Array) -> tuple[IntArray, Array]:
    """Those of ``which`` whose ways, from outside, come ``close (p,)`` [m], and where (c, 3).

    Nothing is nearer than the distance says, so that much of a way can always be gone; just less, because normals are
    not known on the surface itself.
    """
    met, where = [np.zeros(0, dtype=np.int64)], [np.zeros((0, 3))]
    s = np.zeros(len(which))
    for _ in range(MOST):
        ways = end[which] - begin[which]
        here = begin[which] + s[:, None] * ways
        gap = obstacle.distance(here)[0]
        there = gap <= close[which]
        met.append(which[there])
        where.append(here[there])
        s = s + (gap - 0.5 * close[which]) / np.linalg.norm(ways, axis=1)
        on = ~there & (s < 1.0)
        which, s = which[on], s[on]
        if not len(which):
            break
    return np.concatenate(met), np.concatenate(where)
