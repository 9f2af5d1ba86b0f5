"""Deformable bodies as a user describes them: mesh, material, density, damping and supports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.deformable import Damping, Deformable, OfMaterial, Placed, Thin
from pliant.energies.base import Energy
from pliant.energies.elastic import Elastic
from pliant.energies.springs import Springs
from pliant.errors import SceneError, require_part
from pliant.forces.base import Force
from pliant.forces.green import GreenDamping
from pliant.forces.rayleigh import RayleighForce
from pliant.maps.pins import Pin
from pliant.materials.base import parameter
from pliant.mesh import Mesh, consistent_mass, lumped_mass
from pliant.systems.condensed import Condensation
from pliant.units import components, read_fields


@runtime_checkable
class Peopled(Protocol):
    """A scene that has bodies."""

    @property
    def bodies(self) -> Sequence[Any]: ...


def bodies_of(scene: Any) -> Sequence[Any]:
    """The bodies of a scene; none where it is made of something else."""
    return scene.bodies if isinstance(scene, Peopled) else ()


@dataclass(frozen=True)
class Rayleigh:
    """Rayleigh damping f = -(alpha M + beta H) v with ``alpha`` [1/s] and ``beta`` [s].

    With H at rest, the usual and cheapest choice, rotation is damped as well: use it for bodies that hardly rotate.
    ``current=True`` uses H of the current state, which damps deformation only, as `Green` does.
    """

    alpha: float = 0.0
    beta: float = 0.0
    current: bool = False
    units: ClassVar[dict[str, str]] = {"alpha": "1/s", "beta": "s"}

    def __post_init__(self) -> None:
        read_fields(self)
        for name in ("alpha", "beta"):
            if not getattr(self, name) >= 0.0:
                raise SceneError(f"{getattr(self, name)} is negative: that would add energy", where=f"Rayleigh.{name}")

    def force(self, body: Deformable, placed: Placed, energies: Sequence[Energy]) -> Force:
        return RayleighForce(placed.X, placed.mass, energies, self.alpha, self.beta, current=self.current)


@dataclass(frozen=True)
class Green:
    """Strain-rate damping with viscosity mu_d = c E [Pa s], c [s] as in the tables of [Weidner2022] and [QLB2021]."""

    c: float
    units: ClassVar[dict[str, str]] = {"c": "s"}

    def __post_init__(self) -> None:
        read_fields(self)
        if not self.c >= 0.0:
            raise SceneError(f"{self.c} is negative: that would add energy", where="Green.c")

    def force(self, body: Deformable, placed: Placed, energies: Sequence[Energy]) -> Force:
        if not isinstance(body, OfMaterial):
            raise SceneError(f"{body.name} has no material", where="Green", remedy="use Rayleigh damping")
        thickness = body.thickness if isinstance(body, Thin) else None
        return GreenDamping(placed.X, placed.T, self.c * body.material.young(), thickness=thickness)


DAMPINGS = (Rayleigh, Green)


@dataclass(frozen=True, eq=False)
class Solid:
    """An elastic solid: tetrahedra in space or triangles in the plane (``plane`` "strain" or "stress").

    ``density`` [kg/m^3] ([kg/m^2] for planar solids) is one number or one per element; ``lumped=False`` uses the
    consistent mass matrix, with pins that move in BDF1, BDF2, SDIRK2, TRBDF2 and LinearlyImplicit only. ``velocity``
    [m/s] is the initial velocity of all vertices, ``positions (n, d)`` [m] are their initial positions (None: the rest
    shape). ``fit`` corrects its frequencies to those of a finer mesh (`Fitting`); ``reduction`` condenses it onto a few
    dynamic vertices (`Condensation`).
    """

    mesh: Mesh
    material: Any
    density: float | Array | str = 1000.0
    pins: Sequence[Pin] | Pin = ()
    damping: Damping | None = None
    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    lumped: bool = True
    plane: str | None = None
    positions: Array | None = None
    fit: Any = None
    reduction: Condensation | None = None
    name: str = "solid"

    def __post_init__(self) -> None:
        read_body(self, density="kg/m^2" if isinstance(self.mesh, Mesh) and self.mesh.dim == 2 else "kg/m^3")
        if self.plane is not None and (self.mesh.dim != 2 or self.plane not in ("strain", "stress")):
            what, remedy = f"plane is {self.plane!r} in {self.mesh.dim}-d", 'use "strain" or "stress" for planar meshes'
            raise SceneError(what, where=f"{self.name}.plane", remedy=remedy)
        if self.mesh.kind == "springs" or (self.mesh.kind == "triangles" and self.mesh.dim == 3):
            remedy = "use Membrane with its thickness" if self.mesh.kind == "triangles" else "use SpringNet"
            raise SceneError(f"a solid of {self.mesh.kind} in space", where=f"{self.name}.mesh", remedy=remedy)
        if self.reduction is not None:
            require_part(self.reduction, "nodes_in", f"{self.name}.reduction", "give Condensation(count=4), say")
            if self.fit is not None:
                what, remedy = "a body cannot be both fitted and condensed", "choose fit or reduction"
                raise SceneError(what, where=f"{self.name}.reduction", remedy=remedy)

    def masses(self) -> sp.csr_matrix:
        return _mass(self.mesh, self.density, self.lumped)

    def energies(self, placed: Placed) -> list[Energy]:
        name = "elastic" if self.name == "solid" else self.name
        return [Elastic(placed.X, placed.T, self.material, name=name, plane=self.plane)]

    def young(self) -> float:
        return float(np.mean(self.material.young()))

    def width(self) -> float:
        return float("nan")

    def alike(self) -> tuple[Any, ...]:
        return type(self), self.material, self.damping, self.plane, self.mesh.T.shape[1], self.fit is None


@dataclass(frozen=True, eq=False)
class Membrane:
    """An elastic sheet in space, without bending: triangles with ``thickness`` [m] and ``density`` [kg/m^3]."""

    mesh: Mesh
    material: Any
    thickness: Any  # a number [m] or a string such as "0.3 mm"
    density: float | Array | str = 1000.0
    pins: Sequence[Pin] | Pin = ()
    damping: Damping | None = None
    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    positions: Array | None = None
    name: str = "membrane"

    def __post_init__(self) -> None:
        read_body(self, density="kg/m^3", thickness="m")
        if self.mesh.kind != "triangles" or self.mesh.dim != 3:
            remedy = "use Solid" if self.mesh.kind != "springs" else "use SpringNet"
            what = f"a membrane of {self.mesh.kind} in {self.mesh.dim}-d"
            raise SceneError(what, where=f"{self.name}.mesh", remedy=remedy)

    def masses(self) -> sp.csr_matrix:
        return _mass(self.mesh, np.asarray(self.density) * self.thickness, True)

    def energies(self, placed: Placed) -> list[Energy]:
        return [Elastic(placed.X, placed.T, self.material, name=self.name, thickness=self.thickness)]

    def young(self) -> float:
        return float(np.mean(self.material.young()))

    def width(self) -> float:
        return float(self.thickness)

    def alike(self) -> tuple[Any, ...]:
        return type(self), self.material, self.damping, self.thickness


@dataclass(frozen=True, eq=False)
class SpringNet:
    """Point masses and springs: ``k`` [N/m] one number or one per spring, ``mass`` [kg] one or one per vertex."""

    mesh: Mesh
    k: Any
    mass: float | Array | str
    pins: Sequence[Pin] | Pin = ()
    damping: Damping | None = None
    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    positions: Array | None = None
    name: str = "springs"

    def __post_init__(self) -> None:
        read_body(self, k="N/m", mass="kg")
        if self.mesh.kind != "springs":
            remedy = "give pairs of vertices as elements, such as mesh.spring_net makes"
            raise SceneError(f"springs on {self.mesh.kind}", where=f"{self.name}.mesh", remedy=remedy)
        for name, count in (("k", len(self.mesh.T)), ("mass", len(self.mesh.X))):
            shape = np.shape(getattr(self, name))
            if shape not in ((), (count,)):
                remedy = f"give one number, or {count}"
                raise SceneError(f"{name} has shape {shape}", where=f"{self.name}.{name}", remedy=remedy)

    def masses(self) -> sp.csr_matrix:
        return sp.csr_matrix(sp.diags(np.broadcast_to(self.mass, (len(self.mesh.X),)).astype(np.float64)))

    def energies(self, placed: Placed) -> list[Energy]:
        return [Springs(placed.X, placed.T, self.k, name=self.name)]

    def young(self) -> float:
        return float("nan")

    def width(self) -> float:
        return float("nan")

    def alike(self) -> tuple[Any, ...]:
        return (id(self),)


def _mass(mesh: Mesh, density: Any, lumped: bool) -> sp.csr_matrix:
    if not lumped:
        return consistent_mass(mesh, density)
    return sp.csr_matrix(sp.diags(lumped_mass(mesh, density)))


def read_body(body: Any, *, pinned: Mesh | None = None, **units: str) -> None:
    """Check and convert the fields of a frozen body: pins, velocity, positions and positive quantities.

    Pins refer to the vertices of ``pinned`` where that is not the body's own mesh.
    """
    where, material = f"{body.name}.pins", f"{body.name}.material"
    if not isinstance(body.mesh, Mesh):
        raise SceneError(f"mesh is {body.mesh!r}", where=f"{body.name}.mesh", remedy="give a pliant.Mesh")
    if isinstance(body, OfMaterial):
        require_part(body.material, "terms", material, "give one such as StableNeoHookean(1e5, 0.45)")
    if body.damping is not None:
        require_part(body.damping, "force", f"{body.name}.damping", "give Rayleigh(beta=1e-3) or Green(1e-3), say")
    pins = (body.pins,) if isinstance(body.pins, Pin) else body.pins
    if not isinstance(pins, Sequence) or not all(isinstance(p, Pin) for p in pins):
        raise SceneError(f"pins are {body.pins!r}", where=where, remedy="give a Pin, or several in a list")
    for k, pin in enumerate(pins):
        pin.require_fit(len((pinned or body.mesh).X), f"{where}[{k}].vertices")
    object.__setattr__(body, "pins", tuple(pins))
    object.__setattr__(body, "velocity", components(body.velocity, "m/s", f"{body.name}.velocity"))
    if body.positions is not None:
        object.__setattr__(body, "positions", placed_at(body.positions, body.mesh.X, body.name))
    for name, unit in units.items():
        object.__setattr__(body, name, _positive(getattr(body, name), name, unit, f"{body.name}.{name}"))


def placed_at(positions: Any, X: Array, name: str) -> Array:
    """Initial positions of vertices that are at X (n, d) [m] at rest."""
    start = np.asarray(positions, dtype=np.float64)
    if start.shape != X.shape or not np.isfinite(start).all():
        remedy = f"give one finite row per vertex, shape {X.shape}"
        raise SceneError(f"positions have shape {start.shape}", where=f"{name}.positions", remedy=remedy)
    return start


def _positive(value: Any, name: str, unit: str, where: str) -> Any:
    """A quantity that must be positive and finite, by name."""
    number = parameter(value, name, unit)
    if not (np.isfinite(number).all() and (np.asarray(number) > 0.0).all()):
        raise SceneError(f"{name} is {value}", where=where, remedy=f"it must be positive [{unit}]")
    return number
