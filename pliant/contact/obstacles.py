"""Obstacles with a formula: signed distance ``g`` (negative inside) and outward unit normal n = grad g.

Each is described in its own frame and moved by an optional rigid `Motion`. ``container`` marks those whose free side is
convex (a plane, a bowl): there a triangle is clear of the obstacle when its corners are. Several planes together make a
trough, a corner or a box seen from within. Those with sharp features have them by `features` (see
`pliant.contact.sharp`, where hulls, nails and wires are).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np

from pliant.arrays import Array, unit
from pliant.contact import distances as formulas
from pliant.contact.distances import DistanceFormula
from pliant.contact.sharp import NO_SURFACE, Features, Surface, flat_features, hull_features
from pliant.errors import SceneError
from pliant.maps.motions import Motion, Vector
from pliant.units import read_fields


class Obstacle(Protocol):
    """What contact asks of an obstacle; points are in its own frame."""

    container: ClassVar[bool]

    @property
    def motion(self) -> Motion | None: ...

    @property
    def name(self) -> str: ...

    def distance(self, x: Array) -> tuple[Array, Array]:
        """Signed distance (p,) [m] and outward unit normal (p, 3)."""
        ...

    def curvature(self, x: Array) -> Array | None:
        """The Hessian of the distance (p, 3, 3) [1/m]; None where it is zero everywhere."""
        ...

    def surface(self) -> Surface:
        """Vertices and outward triangles, for contact that needs them; empty for containers."""
        ...

    def inner_points(self) -> Array:
        """Points (k, 3) that lie inside the obstacle, to find it swallowed by a body; empty for unbounded ones."""
        ...


NO_POINTS = np.zeros((0, 3))


@dataclass(frozen=True)
class Plane:
    """The half-space below a plane through ``point`` with unit ``normal``; ``Plane()`` is a floor at z = 0."""

    point: Vector = (0.0, 0.0, 0.0)
    normal: Vector = (0.0, 0.0, 1.0)
    motion: Motion | None = None
    name: str = "plane"
    container: ClassVar[bool] = True
    units: ClassVar[dict[str, str]] = {"point": "m", "normal": "1"}

    distance, curvature = formulas.distance, formulas.curvature

    def __post_init__(self) -> None:
        read_fields(self)
        if np.shape(self.normal) != (3,) or np.shape(self.point) != (3,):
            what = f"normal is {self.normal}, point {self.point}"
            raise SceneError(what, where=f"{self.name}.point", remedy="give three numbers each")
        size = float(np.linalg.norm(self.normal))
        if not (np.isfinite(size) and size > 0.0 and np.isfinite(self.point).all()):
            raise SceneError(f"normal is {self.normal}, point {self.point}", where=f"{self.name}.normal")
        object.__setattr__(self, "normal", tuple(unit(np.asarray(self.normal)).tolist()))

    @property
    def formula(self) -> DistanceFormula:
        return DistanceFormula(formulas.plane, None, (*self.point, *self.normal))

    def surface(self) -> Surface:
        return NO_SURFACE

    def inner_points(self) -> Array:
        return NO_POINTS

    def features(self) -> Features:
        return flat_features(self.normal, float(np.dot(self.normal, self.point)))


@dataclass(frozen=True)
class Sphere:
    """A solid ball."""

    center: Vector = (0.0, 0.0, 0.0)
    radius: float = 1.0
    motion: Motion | None = None
    name: str = "sphere"
    container: ClassVar[bool] = False
    units: ClassVar[dict[str, str]] = {"center": "m", "radius": "m"}

    distance, curvature = formulas.distance, formulas.curvature

    def __post_init__(self) -> None:
        read_fields(self)
        _positive(self.radius, f"{self.name}.radius")

    @property
    def formula(self) -> DistanceFormula:
        return DistanceFormula(formulas.sphere, formulas.sphere_bend, (*self.center, self.radius))

    def surface(self) -> Surface:
        from pliant.contact.tessellate import icosphere

        X, F = icosphere(3)
        return X * self.radius + self.center, F

    def inner_points(self) -> Array:
        return np.array([self.center], dtype=np.float64)


@dataclass(frozen=True)
class Bowl:
    """The outside of a round vessel: a half ball of ``radius`` below ``center``, a vertical wall above it."""

    center: Vector = (0.0, 0.0, 0.0)
    radius: float = 1.0
    motion: Motion | None = None
    name: str = "bowl"
    container: ClassVar[bool] = True
    units: ClassVar[dict[str, str]] = {"center": "m", "radius": "m"}

    distance, curvature = formulas.distance, formulas.curvature

    def __post_init__(self) -> None:
        read_fields(self)
        _positive(self.radius, f"{self.name}.radius")

    @property
    def formula(self) -> DistanceFormula:
        return DistanceFormula(formulas.bowl, formulas.bowl_bend, (*self.center, self.radius))

    def surface(self) -> Surface:
        return NO_SURFACE

    def inner_points(self) -> Array:
        return NO_POINTS


@dataclass(frozen=True)
class Box:
    """A solid box with edges ``size`` along its own axes, turned about its center by the rotation vector ``turn``."""

    center: Vector = (0.0, 0.0, 0.0)
    size: Vector = (1.0, 1.0, 1.0)
    motion: Motion | None = None
    name: str = "box"
    turn: Vector = (0.0, 0.0, 0.0)
    container: ClassVar[bool] = False
    units: ClassVar[dict[str, str]] = {"center": "m", "size": "m", "turn": "1"}

    distance, curvature = formulas.distance, formulas.curvature

    def __post_init__(self) -> None:
        read_fields(self)
        for length in self.size:
            _positive(length, f"{self.name}.size")

    @property
    def formula(self) -> DistanceFormula:
        """Flat within every face's region, which is where penalties act."""
        half = (0.5 * length for length in self.size)
        return DistanceFormula(formulas.box, None, (*self.center, *half, *self._axes.T.ravel().tolist()))

    def surface(self) -> Surface:
        from pliant.contact.tessellate import cuboid

        return self._corners(), cuboid(np.zeros(3), np.ones(3))[1]

    def inner_points(self) -> Array:
        return np.array([self.center], dtype=np.float64)

    def features(self) -> Features:
        return hull_features(self._corners(), np.pi / 6, self.name)[0]

    def _corners(self) -> Array:
        signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=np.float64)
        return np.asarray(0.5 * signs * np.asarray(self.size) @ self._axes.T + np.asarray(self.center))

    @cached_property
    def _axes(self) -> Array:
        """Its own axes as columns (3, 3)."""
        from scipy.spatial.transform import Rotation

        return np.asarray(Rotation.from_rotvec(self.turn).as_matrix())


@dataclass(frozen=True)
class Cylinder:
    """A solid cylinder of ``radius`` and ``length`` along the unit ``axis`` through its middle ``center``."""

    center: Vector = (0.0, 0.0, 0.0)
    axis: Vector = (0.0, 0.0, 1.0)
    radius: float = 1.0
    length: float = 1.0
    motion: Motion | None = None
    name: str = "cylinder"
    container: ClassVar[bool] = False
    units: ClassVar[dict[str, str]] = {"center": "m", "axis": "1", "radius": "m", "length": "m"}

    distance, curvature = formulas.distance, formulas.curvature

    def __post_init__(self) -> None:
        read_fields(self)
        _positive(self.radius, f"{self.name}.radius")
        _positive(self.length, f"{self.name}.length")
        size = float(np.linalg.norm(self.axis))
        _positive(size, f"{self.name}.axis")
        object.__setattr__(self, "axis", tuple(unit(np.asarray(self.axis)).tolist()))

    @property
    def formula(self) -> DistanceFormula:
        parameters = (*self.center, *self.axis, self.radius, 0.5 * self.length)
        return DistanceFormula(formulas.cylinder, formulas.cylinder_bend, parameters)

    def surface(self) -> Surface:
        from pliant.contact.tessellate import rod

        return rod(np.asarray(self.center), np.asarray(self.axis), self.radius, self.length)

    def inner_points(self) -> Array:
        return np.array([self.center], dtype=np.float64)


def _positive(value: Any, where: str) -> None:
    if not (np.isfinite(value) and value > 0.0):
        raise SceneError(f"it is {value}", where=where, remedy="give a positive length [m]")
