"""Loads: forces of a scene that are given as functions of time. [ConJac2020, Table 1; Chen2019, sec. 6.4.6]"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.bodies import Placed
from pliant.errors import SceneError
from pliant.forces.base import Force
from pliant.forces.surface_load import AirDrag, SurfacePressure
from pliant.forces.tension import FibreTension
from pliant.maps.signals import Signal, check_signal, times_of, value_at
from pliant.mesh.topology import boundary_facets
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

    @property
    def corners(self) -> tuple[float, ...]:
        return self.start, self.full, self.end

    def at(self, t: float) -> Array:
        """The total force (3,) [N] at time t."""
        part = np.clip((t - self.start) / max(self.full - self.start, 1e-300), 0.0, 1.0) if t < self.end else 0.0
        return float(part) * np.asarray(self.value)

    def force(self, placed: Placed) -> "TimedForce":
        vertices = _numbers_in(placed, self.vertices, "Tug.vertices")
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


@dataclass(frozen=True, eq=False)
class Activation:
    """A muscle: ``tension`` [Pa] along the rest ``direction`` of a solid's fibres, (3,) or one per element, times a
    ``signal``: a function of time, or (time [s], activation) pairs with straight lines between them.

    What it puts into the motion is booked as the work of "activation".
    """

    direction: tuple[float, ...] | Array
    tension: float | Array
    signal: Signal
    body: int | str = 0
    units: ClassVar[dict[str, str]] = {"tension": "Pa"}

    def __post_init__(self) -> None:
        read_fields(self)
        if not (np.asarray(self.tension) >= 0.0).all():
            remedy = "fibres pull, they do not push"
            raise SceneError(f"tension is {self.tension}", where="Activation.tension", remedy=remedy)
        check_signal(self.signal, "Activation.signal")
        if not callable(self.signal) and min(value for _, value in self.signal) < 0.0:
            remedy = "activations are from 0 to 1"
            raise SceneError(f"signal is {self.signal}", where="Activation.signal", remedy=remedy)

    @property
    def corners(self) -> tuple[float, ...]:
        return times_of(self.signal)

    def at(self, t: float) -> float:
        """The activation at time t: 0 relaxed, 1 full."""
        return value_at(self.signal, t)

    def force(self, placed: Placed) -> FibreTension:
        m, d = len(placed.T), placed.X.shape[1]
        if placed.T.shape[1] != d + 1:
            what, remedy = "only solids have fibres through their volume", "name a Solid"
            raise SceneError(what, where="Activation.body", remedy=remedy)
        given = np.asarray(self.direction, dtype=np.float64)
        if given.shape not in ((3,), (d,), (m, 3), (m, d)):
            remedy = f"give {d} components, or {m} rows of them"
            raise SceneError(f"direction has shape {given.shape}", where="Activation.direction", remedy=remedy)
        along = np.broadcast_to(given[..., :d], (m, d))
        length = np.linalg.norm(along, axis=1, keepdims=True)
        if not (length > 0.0).all():
            raise SceneError("a direction is zero", where="Activation.direction", remedy="give unit vectors")
        tension = np.broadcast_to(np.asarray(self.tension, dtype=np.float64), (m,))
        return FibreTension(placed.X, placed.T, along / length, tension, self.at)


@dataclass(frozen=True, eq=False)
class PointForce:
    """The force ``value`` (3,) [N] times ``signal``, in equal parts on ``vertices``; its direction stays."""

    vertices: IntArray
    value: tuple[float, ...]
    signal: Signal = ((0.0, 1.0),)
    body: int | str = 0
    units: ClassVar[dict[str, str]] = {"value": "N"}

    def __post_init__(self) -> None:
        read_fields(self)
        check_signal(self.signal, "PointForce.signal")

    @property
    def corners(self) -> tuple[float, ...]:
        return times_of(self.signal)

    def at(self, t: float) -> Array:
        """The total force (3,) [N] at time t."""
        return value_at(self.signal, t) * np.asarray(self.value)

    def force(self, placed: Placed) -> "TimedForce":
        chosen = _numbers_in(placed, self.vertices, "PointForce.vertices")
        share = np.bincount(chosen, minlength=len(placed.X)) / len(chosen)
        return TimedForce("point forces", share, self.at, placed.X.shape[1])


@dataclass(frozen=True, eq=False)
class BodyForce:
    """The acceleration ``value`` (3,) [m/s^2] times ``signal`` of all masses of a body."""

    value: tuple[float, ...]
    signal: Signal = ((0.0, 1.0),)
    body: int | str = 0
    units: ClassVar[dict[str, str]] = {"value": "m/s^2"}

    def __post_init__(self) -> None:
        read_fields(self)
        check_signal(self.signal, "BodyForce.signal")

    @property
    def corners(self) -> tuple[float, ...]:
        return times_of(self.signal)

    def at(self, t: float) -> Array:
        """The acceleration (3,) [m/s^2] at time t."""
        return value_at(self.signal, t) * np.asarray(self.value)

    def force(self, placed: Placed) -> "TimedForce":
        return TimedForce("body forces", placed.nodal_mass, self.at, placed.X.shape[1])


@dataclass(frozen=True, eq=False)
class Pressure:
    """``value`` [Pa] times ``signal`` against the surface of a solid, or on the side of a sheet that its normals leave.

    It follows the surface. ``vertices`` choose a part: the triangles all of whose corners are among them.
    """

    value: float
    signal: Signal = ((0.0, 1.0),)
    vertices: IntArray | None = None
    body: int | str = 0
    units: ClassVar[dict[str, str]] = {"value": "Pa"}

    def __post_init__(self) -> None:
        read_fields(self)
        check_signal(self.signal, "Pressure.signal")

    @property
    def corners(self) -> tuple[float, ...]:
        return times_of(self.signal)

    def at(self, t: float) -> float:
        """The pressure [Pa] at time t."""
        return value_at(self.signal, t) * self.value

    def force(self, placed: Placed) -> SurfacePressure:
        return SurfacePressure(len(placed.X), _surface(placed, self.vertices, "Pressure"), self.at)


@dataclass(frozen=True, eq=False)
class Airflow:
    """Air of ``density`` [kg/m^3] that moves with ``velocity`` (3,) [m/s] times ``signal`` past the surface of a body.

    Each triangle stops what comes against it, on the outside of solids and on both sides of sheets: it drives, and it
    damps.
    """

    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    density: float = 1.2
    signal: Signal = ((0.0, 1.0),)
    body: int | str = 0
    units: ClassVar[dict[str, str]] = {"velocity": "m/s", "density": "kg/m^3"}

    def __post_init__(self) -> None:
        read_fields(self)
        check_signal(self.signal, "Airflow.signal")

    @property
    def corners(self) -> tuple[float, ...]:
        return times_of(self.signal)

    def at(self, t: float) -> Array:
        """The velocity (3,) [m/s] of the air at time t."""
        return value_at(self.signal, t) * np.asarray(self.velocity)

    def force(self, placed: Placed) -> AirDrag:
        return AirDrag(len(placed.X), _surface(placed, None, "Airflow"), self.density, self.at)


LOADS = (Tug, Wind, Activation, PointForce, BodyForce, Pressure, Airflow)


def _numbers_in(placed: Placed, vertices: IntArray, where: str) -> IntArray:
    """Vertices of a body, numbered as in the whole scene."""
    chosen = np.asarray(vertices, dtype=np.int64) + placed.first
    if not len(chosen) or chosen.min() < placed.first or chosen.max() > placed.T.max():
        raise SceneError(f"vertices {vertices}", where=where, remedy="give numbers of vertices of that body")
    return chosen


def _surface(placed: Placed, vertices: IntArray | None, load: str) -> IntArray:
    """The triangles (k, 3) of a body's surface, outward; those of some vertices only, where they are given."""
    if placed.X.shape[1] != 3 or placed.T.shape[1] < 3:
        raise SceneError("the body has no surface in space", where=f"{load}.body", remedy="name a solid or a sheet")
    F = boundary_facets(placed.T) if placed.T.shape[1] == 4 else placed.T
    if vertices is None:
        return F
    chosen = np.isin(F, _numbers_in(placed, vertices, f"{load}.vertices")).all(axis=1)
    if not chosen.any():
        remedy = "choose all three corners of at least one triangle"
        raise SceneError("no triangle has all its corners chosen", where=f"{load}.vertices", remedy=remedy)
    return F[chosen]


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
