"""Loads: forces of a scene that are given as functions of time. [ConJac2020, Table 1; Chen2019, sec. 6.4.6]"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.bodies import Placed
from pliant.errors import SceneError
from pliant.forces.base import Force
from pliant.units import read_fields


class Load(Protocol):
    """A load on one body (its name or number)."""

    @property
    def body(self) -> int | str: ...

    def force(self, placed: Placed) -> Force: ...


@dataclass(frozen=True, eq=False)
class Tug:
    """A force [N] on ``vertices``, shared by mass: rising linearly from ``start`` to ``full``, gone at ``end`` [s]."""

    vertices: IntArray
    value: tuple[float, ...]
    start: float
    full: float
    end: float
    body: int | str = 0
    units: ClassVar[dict[str, str]] = {"value": "N", "start": "s", "full": "s", "end": "s"}

    def __post_init__(self) -> None:
        read_fields(self)
        if not self.start <= self.full <= self.end:
            what = f"it starts at {self.start:g}, is full at {self.full:g} and ends at {self.end:g} s"
            raise SceneError(what, where="Tug", remedy="give times in this order")

    def at(self, t: float) -> Array:
        """The total force (3,) [N] at time t."""
        part = np.clip((t - self.start) / max(self.full - self.start, 1e-300), 0.0, 1.0) if t < self.end else 0.0
        return float(part) * np.asarray(self.value)

    def force(self, placed: Placed) -> "TimedForce":
        vertices = np.asarray(self.vertices) + placed.first
        if not len(vertices) or vertices.min() < placed.first or vertices.max() > placed.T.max():
            remedy = "give numbers of vertices of that body"
            raise SceneError(f"vertices {self.vertices}", where="Tug.vertices", remedy=remedy)
        m = placed.nodal_mass
        share = np.zeros(len(m))
        share[vertices] = m[vertices] / m[vertices].sum()
        return TimedForce("tugs", share, self.at, placed.X.shape[1])


@dataclass(frozen=True)
class Wind:
    """The acceleration mean + swing sin(2 pi t / period) [m/s^2, m/s^2, s] of all masses of a body: the drag of a
    body whose parts are equally thick. It does not depend on the velocity, so it damps nothing.
    """

    mean: tuple[float, ...] = (0.0, 0.0, 0.0)
    swing: tuple[float, ...] = (0.0, 0.0, 0.0)
    period: float = 1.0
    body: int | str = 0
    units: ClassVar[dict[str, str]] = {"mean": "m/s^2", "swing": "m/s^2", "period": "s"}

    def __post_init__(self) -> None:
        read_fields(self)

    def at(self, t: float) -> Array:
        """The acceleration (3,) [m/s^2] at time t."""
        return np.asarray(self.mean) + np.asarray(self.swing) * np.sin(2 * np.pi * t / self.period)

    def force(self, placed: Placed) -> "TimedForce":
        return TimedForce("wind", placed.nodal_mass, self.at, placed.X.shape[1])


LOADS = (Tug, Wind)


class TimedForce:
    """f_i = w_i a(t) with a weight ``w (n,)`` per vertex, the same for all positions and velocities."""

    def __init__(self, name: str, w: Array, a: "AtTime", dim: int) -> None:
        self.name, self._w, self._a, self._d = name, w, a, dim
        self._zero = sp.csr_matrix((dim * len(w), dim * len(w)))

    def force(self, x: Array, v: Array, t: float) -> Array:
        return (self._w[:, None] * self._a(t)[: self._d]).ravel()

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._zero

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._zero


class AtTime(Protocol):
    def __call__(self, t: float) -> Array: ...
