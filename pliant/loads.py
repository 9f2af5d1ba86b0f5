"""Loads: forces of a scene as functions of time. [ConJac2020, Table 1; Chen2019, sec. 6.4.6]"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray, indices, require_among
from pliant.deformable import Placed
from pliant.errors import SceneError
from pliant.forces.base import Force
from pliant.forces.surface_load import AirDrag, SurfacePressure
from pliant.forces.tension import FibreTension
from pliant.maps.signals import Signal, check_signal, times_of, value_at
from pliant.mesh.topology import boundary_facets
from pliant.units import read_fields


class Load(Protocol):
    """A load on one body (its name or index)."""

    @property
    def body(self) -> int | str: ...

    def force(self, placed: Placed) -> Force: ...


@dataclass(frozen=True, eq=False)
class Tug:
    """A force [N] on ``vertices``, shared by mass, over a limited time.

    It rises linearly from ``start`` to ``full`` and ends at ``end`` [s].
    """

    vertices: IntArray
    value: tuple[float, ...]
    start: float
    full: float
    end: float
    body: int | str = 0
    mask: int | None = field(default=None, init=False, repr=False)  # length of the mask that chose the vertices
    units: ClassVar[dict[str, str]] = {"value": "N", "start": "s", "full": "s", "end": "s"}

    def __post_init__(self) -> None:
        read_fields(self)
        _read_vertices(self, "Tug.vertices")
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
        return TimedForce("tugs", _by_mass(placed, self, "Tug.vertices"), self.at, placed.X.shape[1])


@dataclass(frozen=True, eq=False)
class Push:
    """A force on ``vertices``, shared by mass: ``values (k, 3)`` [N] at ``times (k,)`` [s], interpolated linearly.

    Applied to all vertices of a body, it is the total mass times a time-dependent acceleration.
    """

    vertices: IntArray
    times: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    body: int | str = 0
    mask: int | None = field(default=None, init=False, repr=False)  # length of the mask that chose the vertices
    units: ClassVar[dict[str, str]] = {"times": "s", "values": "N"}

    def __post_init__(self) -> None:
        read_fields(self)
        _read_vertices(self, "Push.vertices")
        times, values = np.asarray(self.times), np.asarray(self.values)
        if times.ndim != 1 or not len(times) or (np.diff(times) <= 0.0).any():
            raise SceneError(f"times are {self.times}", where="Push.times", remedy="give one or more, increasing")
        if values.ndim != 2 or len(values) != len(times) or not np.isfinite(values).all():
            what = f"values of shape {values.shape} for {len(times)} times"
            raise SceneError(what, where="Push.values", remedy="give one finite force per time")

    @property
    def corners(self) -> tuple[float, ...]:
        return tuple(float(t) for t in self.times)

    def at(self, t: float) -> Array:
        """The total force (3,) [N] at time t."""
        return np.array([np.interp(t, self.times, column) for column in np.asarray(self.values).T])

    def force(self, placed: Placed) -> "TimedForce":
        share = _by_mass(placed, self, "Push.vertices")
        return TimedForce("pushes", share, self.at, placed.X.shape[1])


@dataclass(frozen=True)
class Wind:
    """The acceleration mean + swing sin(2 pi t / period) [m/s^2, m/s^2, s] of all masses of a body.

    This is the drag on a body of uniform thickness. It does not depend on the velocity, so it does not damp; `Airflow`
    does.
    """

    mean: tuple[float, ...] = (0.0, 0.0, 0.0)
    swing: tuple[float, ...] = (0.0, 0.0, 0.0)
    period: float = 1.0
    body: int | str = 0
    units: ClassVar[dict[str, str]] = {"mean": "m/s^2", "swing": "m/s^2", "period": "s"}

    def __post_init__(self) -> None:
        read_fields(self)
        if not self.period > 0.0:
            raise SceneError(f"period is {self.period}", where="Wind.period", remedy="give a positive time [s]")

    def at(self, t: float) -> Array:
        """The acceleration (3,) [m/s^2] at time t."""
        return np.asarray(self.mean) + np.asarray(self.swing) * np.sin(2 * np.pi * t / self.period)

    def force(self, placed: Placed) -> "TimedForce":
        return TimedForce("wind", placed.nodal_mass, self.at, placed.X.shape[1])


@dataclass(frozen=True, eq=False)
class Activation:
    """A muscle: ``tension`` [Pa] times ``signal`` along the rest ``direction`` of a solid's fibres.

    ``direction`` is (3,) or one per element; ``signal`` is a function of time, or pairs (time [s], activation),
    interpolated linearly. Its work appears in the ledger as "activation".
    """

    direction: tuple[float, ...] | Array
    tension: float | Array
    signal: Signal
    body: int | str = 0
    units: ClassVar[dict[str, str]] = {"tension": "Pa"}

    def __post_init__(self) -> None:
        read_fields(self)
        if not (np.asarray(self.tension) >= 0.0).all():
            remedy = "fibres can only pull"
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
        value = value_at(self.signal, t)
        if not 0.0 <= value < np.inf:
            what = f"the signal is {value} at t = {t:g} s"
            raise SceneError(what, where="Activation.signal", remedy="fibres can only pull")
        return value

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
        tension = np.asarray(self.tension, dtype=np.float64)
        if tension.shape not in ((), (m,)):
            remedy = f"give one number, or {m}"
            raise SceneError(f"tension has shape {tension.shape}", where="Activation.tension", remedy=remedy)
        return FibreTension(placed.X, placed.T, along / length, np.broadcast_to(tension, (m,)), self.at)


@dataclass(frozen=True, eq=False)
class Pressure:
    """The pressure ``value`` [Pa] times ``signal`` on the surface of a solid, or on one side of a sheet.

    Of a sheet it is the side that the normals point to. The pressure follows the surface. ``vertices`` select a part of
    it: the triangles all of whose corners are among them.
    """

    value: float
    signal: Signal = ((0.0, 1.0),)
    vertices: IntArray | None = None
    body: int | str = 0
    mask: int | None = field(default=None, init=False, repr=False)  # length of the mask that chose the vertices
    units: ClassVar[dict[str, str]] = {"value": "Pa"}

    def __post_init__(self) -> None:
        read_fields(self)
        if self.vertices is not None:
            _read_vertices(self, "Pressure.vertices")
        check_signal(self.signal, "Pressure.signal")

    @property
    def corners(self) -> tuple[float, ...]:
        return times_of(self.signal)

    def at(self, t: float) -> float:
        """The pressure [Pa] at time t."""
        return value_at(self.signal, t) * self.value

    def force(self, placed: Placed) -> SurfacePressure:
        return SurfacePressure(
            len(placed.X), _surface(placed, None if self.vertices is None else self, "Pressure"), self.at
        )


@dataclass(frozen=True, eq=False)
class Airflow:
    """The drag of air of ``density`` [kg/m^3] that moves with ``velocity`` (3,) [m/s] times ``signal`` past a body.

    Each triangle stops the air that flows against it, on the outside of solids and on both sides of sheets: it drives
    the body and damps its motion.
    """

    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    density: float = 1.2
    signal: Signal = ((0.0, 1.0),)
    body: int | str = 0
    units: ClassVar[dict[str, str]] = {"velocity": "m/s", "density": "kg/m^3"}

    def __post_init__(self) -> None:
        read_fields(self)
        if self.density < 0.0:
            what = f"density is {self.density:g}"
            raise SceneError(what, where="Airflow.density", remedy="give 0 or more [kg/m^3]")
        check_signal(self.signal, "Airflow.signal")

    @property
    def corners(self) -> tuple[float, ...]:
        return times_of(self.signal)

    def at(self, t: float) -> Array:
        """The velocity (3,) [m/s] of the air at time t."""
        return value_at(self.signal, t) * np.asarray(self.velocity)

    def force(self, placed: Placed) -> AirDrag:
        return AirDrag(len(placed.X), _surface(placed, None, "Airflow"), self.density, self.at)


LOADS = (Tug, Push, Wind, Activation, Pressure, Airflow)


@runtime_checkable
class OnVertices(Protocol):
    """A load on some vertices of a body; ``mask`` is the length of the mask that chose them, if one did."""

    @property
    def vertices(self) -> Any: ...

    @property
    def mask(self) -> int | None: ...


def after_cut(load: Load, origin: IntArray) -> Load:
    """A load on a body that has the vertices ``origin (n,)`` of before: it acts on all copies of those it was on."""
    if not isinstance(load, OnVertices) or load.vertices is None:
        return load
    return replace(load, vertices=np.flatnonzero(np.isin(origin, load.vertices)))  # type: ignore[type-var]


def _read_vertices(load: OnVertices, where: str) -> None:
    """The field ``vertices`` of a frozen load becomes numbers."""
    vertices, mask = indices(load.vertices, where)
    object.__setattr__(load, "vertices", vertices)
    object.__setattr__(load, "mask", mask)
    if not len(vertices):
        raise SceneError("no vertices", where=where, remedy="choose some of the body's")


def _numbers_in(placed: Placed, load: OnVertices, where: str) -> IntArray:
    """The vertices of a load, each once, numbered as in the whole scene."""
    require_among(load.vertices, load.mask, int(placed.T.max()) + 1 - placed.first, where)
    return np.unique(load.vertices) + placed.first


def _by_mass(placed: Placed, load: OnVertices, where: str) -> Array:
    """What every vertex gets of a force that is shared by mass (n,)."""
    mine, m = _numbers_in(placed, load, where), placed.nodal_mass
    share = np.zeros(len(m))
    share[mine] = m[mine] / m[mine].sum()
    return share


def _surface(placed: Placed, chosen: OnVertices | None, load: str) -> IntArray:
    """The triangles (k, 3) of a body's surface, outward; those of some vertices only, where they are given."""
    if placed.X.shape[1] != 3 or placed.T.shape[1] < 3:
        raise SceneError("the body has no surface in space", where=f"{load}.body", remedy="name a solid or a sheet")
    F = boundary_facets(placed.T) if placed.T.shape[1] == 4 else placed.T
    if chosen is None:
        return F
    whole = np.isin(F, _numbers_in(placed, chosen, f"{load}.vertices")).all(axis=1)
    if not whole.any():
        remedy = "choose all three corners of at least one triangle"
        raise SceneError("no triangle has all its corners chosen", where=f"{load}.vertices", remedy=remedy)
    return F[whole]


class TimedForce:
    """f_i = w_i a(t) with a weight ``w (n,)`` per vertex, the same for all positions and velocities."""

    def __init__(self, name: str, w: Array, a: Callable[[float], Array], dim: int) -> None:
        self.name, self._w, self._a, self._d = name, w, a, dim
        self._zero = sp.csr_matrix((dim * len(w), dim * len(w)))

    def force(self, x: Array, v: Array, t: float) -> Array:
        return (self._w[:, None] * self._a(t)[: self._d]).ravel()

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._zero

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._zero
