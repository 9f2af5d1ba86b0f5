"""Springs between points of bodies: batches of zero rest length, and paths of finite length (cables, muscles)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated.forces.base import require_passive
from pliant.articulated.forces.joint import corners_of, one_in_time
from pliant.articulated.loads import Loads
from pliant.articulated.quirks import Quirks
from pliant.articulated.se3 import gamma, hat
from pliant.articulated.tree import WORLD, Kinematics, Tree
from pliant.errors import SceneError, require_numbers


@dataclass(frozen=True)
class PointSprings:
    """m zero-length springs k (m,) [N/m]: force k (x2 - x1) on body 1, the opposite on body 2.

    ``first``, ``second`` name the links (None is the world), ``x1``, ``x2`` (m, 3) are points in their body frames.
    """

    first: Sequence[int | str | None]
    x1: Array
    second: Sequence[int | str | None]
    x2: Array
    stiffness: float | Array = 1.0

    @cached_property
    def bodies(self) -> tuple[IntArray, IntArray]:
        """The links (m,), (m,) of both ends once they are bound, -1 for the world."""
        return _numbers(self.first), _numbers(self.second)

    def bind(self, tree: Tree) -> "PointSprings":
        x1, x2 = np.atleast_2d(np.asarray(self.x1, float)), np.atleast_2d(np.asarray(self.x2, float))
        counts = [len(self.first), len(x1), len(self.second), len(x2)]
        if len(set(counts)) > 1 or np.size(self.stiffness) not in (1, len(x1)):
            what = f"first, x1, second, x2 have {', '.join(map(str, counts))} entries"
            raise SceneError(
                what, where="PointSprings", remedy="give one of each per spring, and one stiffness or as many"
            )
        require_passive("PointSprings", stiffness=self.stiffness)
        k = np.broadcast_to(np.asarray(self.stiffness, float), len(x1))
        first, second = (_bound(tree, ends) for ends in (self.first, self.second))
        return replace(self, first=first, x1=x1, second=second, x2=x2, stiffness=k)

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        """K = -k Jp^T Jp + geometric part, Jp = [-R1 Gamma1, R2 Gamma2], symmetrised."""
        dx = self._extension(kin)
        k = np.asarray(self.stiffness)[:, None, None]
        P = [_point_rows(kin, body, x) for body, x in zip(self.bodies, (self.x1, self.x2), strict=True)]
        signs = (-1.0, 1.0)
        for a, (i, x) in enumerate(zip(self.bodies, (self.x1, self.x2), strict=True)):
            F = -signs[a] * k[:, 0] * dx
            loads.wrench(i, np.einsum("mri,mr->mi", P[a], F))
            loads.K.add(i, i, _geometric(kin, i, x, F) - k * np.einsum("mri,mrj->mij", P[a], P[a]))
            loads.K.add(i, self.bodies[1 - a], k * np.einsum("mri,mrj->mij", P[a], P[1 - a]))

    def _extension(self, kin: Kinematics) -> Array:
        return _points(kin, self.bodies[1], self.x2) - _points(kin, self.bodies[0], self.x1)

    def joins(self) -> IntArray:
        return np.column_stack(self.bodies)

    def potential(self, kin: Kinematics, t: float, quirks: Quirks) -> float:
        return 0.5 * float(np.sum(np.asarray(self.stiffness) * np.sum(self._extension(kin) ** 2, axis=1)))


@dataclass(frozen=True)
class Cable:
    """A cable through points of bodies with tension k (l - L (1 - act))/L + d ldot/L [N]; a slack one has no tension.

    ``path`` lists (link, point) pairs, L = ``rest`` is the initial length when omitted. ``activation`` act in [0, 1], a
    number, a function of time or rows (time, act), makes it a muscle. ``slack=False`` turns it into a spring-damper
    that also pushes. K and D keep the scalar part: K = -(k/L) j^T j with j the derivative of the length.
    """

    path: Sequence[tuple[int | str | None, Array]]
    stiffness: float
    damping: float = 0.0
    rest: float | None = None
    activation: float | Callable[[float], float] | Sequence[Sequence[float]] | None = None
    slack: bool = True

    @cached_property
    def bodies(self) -> IntArray:
        """The links of the path once it is bound, -1 for the world."""
        return _numbers([link for link, _ in self.path])

    @cached_property
    def points(self) -> Array:
        """The points (k, 3) of the path [m]."""
        return np.array([x for _, x in self.path], dtype=float)

    @property
    def corners(self) -> tuple[float, ...]:
        return () if self.activation is None else corners_of(self.activation)

    def bind(self, tree: Tree) -> "Cable":
        if len(self.path) < 2:
            raise SceneError(
                f"a path of {len(self.path)} points", where="Cable", remedy="give at least two (link, point) pairs"
            )
        require_passive("Cable", stiffness=self.stiffness, damping=self.damping)
        links = _bound(tree, [link for link, _ in self.path])
        points = require_numbers([x for _, x in self.path], "Cable.path", "give points of three components [m]")
        if points.shape != (len(links), 3):
            what, remedy = f"points of {points.shape[-1]} components", "give three [m]"
            raise SceneError(what, where="Cable.path", remedy=remedy)
        activation = None if self.activation is None else one_in_time(self.activation, "Cable.activation")
        return replace(self, path=list(zip(links, points, strict=True)), activation=activation)

    def at(self, kin: Kinematics) -> "Cable":
        """With the rest length taken from this configuration when none was given."""
        X = _points(kin, self.bodies, self.points)
        pieces = np.linalg.norm(np.diff(X, axis=0), axis=1)
        if not pieces.min() > 0.0:
            k = int(np.argmin(pieces))
            what, remedy = f"points {k} and {k + 1} of the path are at the same place", "move one of them"
            raise SceneError(what, where="Cable", remedy=remedy)
        if self.rest is not None and not self.rest > 0.0:
            raise SceneError(f"rest is {self.rest}", where="Cable", remedy="give a length > 0 [m], or leave it out")
        return replace(self, rest=float(self._length(kin)[0])) if self.rest is None else self

    def _length(self, kin: Kinematics) -> tuple[Array, Array]:
        """Length l and its derivative j (k, 6) with respect to the twists at the k path points."""
        X = _points(kin, self.bodies, self.points)
        d = X[1:] - X[:-1]
        lengths = np.sqrt(np.sum(d * d, axis=1))
        u = d / lengths[:, None]
        pull = np.zeros_like(X)
        pull[1:] += u
        pull[:-1] -= u
        return lengths.sum(), np.einsum("mri,mr->mi", _point_rows(kin, self.bodies, self.points), pull)

    def _tension(self, length: Array, t: float) -> Array:
        assert self.rest is not None
        act = 0.0 if self.activation is None else self._activated(t)
        return self.stiffness * (length - self.rest * (1.0 - act)) / self.rest

    def _activated(self, t: float) -> float:
        assert callable(self.activation)  # bound
        act = float(self.activation(t))
        if not 0.0 <= act <= 1.0:
            what, remedy = f"the activation is {act:g} at t = {t:g} s", "give 0 (relaxed) to 1"
            raise SceneError(what, where="Cable.activation", remedy=remedy)
        return act

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        assert self.rest is not None
        length, j = self._length(kin)
        tension = self._tension(length, t)
        if self.slack and tension.real <= 0.0:
            return
        loads.wrench(self.bodies, -tension * j)
        outer = np.outer(j, j)
        loads.K.add_coupling(self.bodies, -self.stiffness / self.rest * outer)
        if self.damping:
            loads.D.add_coupling(self.bodies, -self.damping / self.rest * outer)
            if loads.quirks.damper_adds_velocity:
                twists = np.where(self.bodies[:, None] >= 0, kin.twists[self.bodies], 0.0)
                loads.wrench(self.bodies, self.damping / self.rest * np.sum(j * twists) * j)

    def joins(self) -> IntArray:
        """All links of the path, one after the other: the tension depends on all of them, also across the world."""
        links = self.bodies[self.bodies >= 0]
        return np.column_stack([links[:-1], links[1:]])

    def potential(self, kin: Kinematics, t: float, quirks: Quirks) -> float:
        assert self.rest is not None
        tension = float(self._tension(self._length(kin)[0], t).real)
        if self.slack and tension <= 0.0:
            return 0.0
        energy = 0.5 * tension * tension * self.rest / self.stiffness
        return energy / self.rest if quirks.spring_energy_over_length else energy


def SpringDamper(
    first: tuple[int | str | None, Array],
    second: tuple[int | str | None, Array],
    stiffness: float,
    damping: float = 0.0,
    rest: float | None = None,
) -> Cable:
    """A straight spring with damper between two (link, point) pairs: a cable that also pushes."""
    return Cable((first, second), stiffness, damping, rest, slack=False)


def _bound(tree: Tree, links: Sequence[int | str | None]) -> list[int | None]:
    """Numbers instead of names; None is the world."""
    return [None if link is None else tree.body(link) for link in links]


def _numbers(links: Sequence[int | str | None]) -> IntArray:
    return np.array([WORLD if link is None else link for link in links], dtype=np.int64)


def _frames(kin: Kinematics, bodies: IntArray) -> Array:
    E = kin.frames[np.maximum(bodies, 0)]
    return np.where((bodies < 0)[:, None, None], np.eye(4), E)


def _points(kin: Kinematics, bodies: IntArray, x: Array) -> Array:
    """World positions (m, 3) of body points."""
    E = _frames(kin, bodies)
    return np.einsum("mij,mj->mi", E[:, :3, :3], x) + E[:, :3, 3]


def _point_rows(kin: Kinematics, bodies: IntArray, x: Array) -> Array:
    """R Gamma(x) (m, 3, 6): world velocity of the points per body twist."""
    return _frames(kin, bodies)[:, :3, :3] @ gamma(x)


def _geometric(kin: Kinematics, bodies: IntArray, x: Array, F: Array) -> Array:
    """Symmetrised derivative of the wrench of a fixed world force: rows ([x][f], [f]), columns of rotation."""
    f = np.einsum("mji,mj->mi", _frames(kin, bodies)[:, :3, :3], F)
    G = np.zeros((len(f), 6, 6), dtype=f.dtype)
    H = hat(f)
    G[:, :3, :3] = hat(x) @ H
    G[:, 3:, :3] = H
    return 0.5 * (G + np.swapaxes(G, 1, 2))
