"""Contact after the step: vertices that have come to lie inside an obstacle are put back onto it. [Chen2019, sec. 4.5]

    x <- x + (margin - gap) n,    v <- v + max(-v_n, 0) n,    v_t <- max(1 - mu max(-v_n, 0) / |v_t|, 0) v_t

with velocities relative to the obstacle. This is a change of the state between two steps, so it serves methods that
know no contact of their own; those that remember earlier states would see a jump in them.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Contacts, joined
from pliant.contact.initial import admissible
from pliant.contact.setting import Setting, obstacle_gaps
from pliant.state import State
from pliant.systems.contact import Terms, Touch
from pliant.systems.penalty_contact import not_negative
from pliant.units import read_fields

CLOSED = 1e-6  # of the mean edge: gaps below this count as contact


@runtime_checkable
class Projecting(Protocol):
    """A contact model that corrects the state after each step, where the coordinates in ``free`` may move."""

    def projected(self, before: State, after: State, free: IntArray) -> State: ...


@dataclass(frozen=True)
class ProjectedContact:
    """Moves vertices inside an obstacle to its surface after each step, and removes their velocity of approach.

    ``margin`` [m] keeps them at a distance; friction reduces the tangential velocity by ``mu`` times the removed normal
    one. Bodies do not interact with each other. Momentum is transferred to the obstacles, no energy is stored, and the
    effect of the correction is part of the numerical dissipation in the ledger. Scripted vertices follow their script.
    """

    mu: float = 0.0
    margin: float = 0.0
    resolve_initial: bool = False
    safe: ClassVar[bool] = False
    units: ClassVar[dict[str, str]] = {"mu": "1", "margin": "m"}

    def __post_init__(self) -> None:
        read_fields(self)
        for name in ("mu", "margin"):
            not_negative(getattr(self, name), f"ProjectedContact.{name}")

    def model(self, setting: Setting) -> "ProjectedModel":
        return ProjectedModel(self, setting)


class ProjectedModel:
    """The projection of one scene. It has neither energies nor forces: stages and velocity steps do not see it."""

    force_names: tuple[str, ...] = ()

    def __init__(self, choice: ProjectedContact, setting: Setting) -> None:
        self.choice, self.setting = choice, setting
        self._closed = CLOSED * float(setting.edge_length.min())

    def initial(self, q: Array, fixed: IntArray) -> Array:
        """The positions to start from: overlaps refused, or resolved."""
        x, resolve = q.reshape(-1, 3), self.choice.resolve_initial
        return admissible(self.setting, x, gap=-self._closed, resolve=resolve, fixed=fixed // 3).ravel()

    def at(self, start: State, t: float, c: float = 0.0) -> Terms:
        return Terms((), ())

    def projected(self, before: State, after: State, free: IntArray) -> State:
        """``after`` with every vertex that lies inside an obstacle put onto it, one obstacle after the other."""
        x, v = after.q.reshape(-1, 3).copy(), after.v.reshape(-1, 3).copy()
        movable = np.zeros(x.shape, dtype=bool)
        movable.ravel()[free] = True
        skin = self.setting.skin
        for obstacle, way in zip(self.setting.obstacles, self.setting.passages(before.t, after.t), strict=True):
            gap, n = obstacle.distance(way.pose.local(x[skin]))
            inside = np.flatnonzero(gap < self.choice.margin)
            p, n = skin[inside], way.pose.turn(n[inside])
            x[p] += movable[p] * (self.choice.margin - gap[inside])[:, None] * n
            drift = way.velocity(x[p])
            u = v[p] - drift
            speed = (u * n).sum(axis=1, keepdims=True)
            lost = np.maximum(-speed, 0.0)
            tangential = u - speed * n
            size = np.linalg.norm(tangential, axis=1, keepdims=True)
            kept = 1.0 - np.minimum(self.choice.mu * lost / np.maximum(size, 1e-300), 1.0)
            v[p] = np.where(movable[p], drift + (speed + lost) * n + kept * tangential, v[p])
        return State(x.ravel(), v.ravel(), after.t)

    def _near(self, x: Array, t: float, reach: float) -> Contacts:
        found = obstacle_gaps(self.setting, self.setting.passages(t, t), x, self.choice.margin + reach)
        return joined([c.shifted(reach) for c in found])

    def touch(self, q: Array, v: Array, t: float) -> Touch:
        """Contacts that are closed now; no forces belong to them (NaN)."""
        x = q.reshape(-1, 3)
        c = self._near(x, t, self._closed)
        bodies = np.column_stack([self.setting.body[c.nodes[:, 0]], c.other])
        unknown = np.full(len(c), np.nan)
        points = x[c.nodes[:, 0]]
        return Touch(points, c.normals, c.gaps, unknown, np.full((len(c), 3), np.nan), bodies, c.nodes[:, 0])

    def distance(self, q: Array, t: float) -> float:
        """The smallest distance of a vertex from an obstacle, less the margin."""
        x = q.reshape(-1, 3)
        return float(self._near(x, t, float(self.setting.edge_length.max())).gaps.min(initial=np.inf))
