"""What a material is: an energy density psi(F) [J/m^3] with validated parameters and compiled device functions.

Parameters are numbers or one value per element. A density is written once, in its own file, as scalar device functions;
the functions `psi`, `piola` and `tangent` below evaluate any of them on batches through the very kernels that simulate.
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from pliant.arrays import Array, unit
from pliant.errors import MaterialError
from pliant.kernels import assembly
from pliant.kernels.elements import TET, Element
from pliant.kernels.layout import Layout, layout, pattern
from pliant.kernels.specialise import Choice, Density, kernels

Parameter = Any
"""A number, one value per element (m,), or a string with its unit; stored as a float or an array."""

Direction = Any
"""A vector (3,) or one per element (m, 3), anything NumPy reads; stored as unit vectors."""


class Material(Protocol):
    """A density or a sum of densities, as a frozen dataclass of physical parameters."""

    @property
    def rotation_invariant(self) -> bool:
        """psi(R F) = psi(F)."""
        ...

    @property
    def allows_inversion(self) -> bool:
        """psi is finite for det F <= 0."""
        ...

    def terms(self) -> tuple[tuple[Density, Array], ...]:
        """Each density with its device parameters (1 | m, k)."""
        ...

    def plane_stress(self) -> "Material":
        """The material whose plane strain response is this one's small-strain plane stress response."""
        ...

    def in_axes(self, axes: Array) -> "Material":
        """The material seen in element axes: rows of ``axes (m, 3, 3)``; only directions change."""
        ...

    def young(self) -> Parameter:
        """Young's modulus [Pa] by which a body's damping is measured."""
        ...

    def psi(self, F: Array) -> Array: ...

    def piola(self, F: Array) -> Array: ...

    def tangent(self, F: Array, psd: bool = False) -> Array: ...


@runtime_checkable
class Fibrous(Protocol):
    """A material of fibres with a rest ``direction`` (3,) or (m, 3)."""

    @property
    def direction(self) -> Array: ...


@runtime_checkable
class OfModulus(Protocol):
    """A material given by Young's modulus [Pa], and perhaps by more."""

    E: Parameter


@runtime_checkable
class Isotropic(Protocol):
    """A material given by Young's modulus [Pa] and Poisson's ratio."""

    E: Parameter
    nu: Parameter


@runtime_checkable
class Weighted(Protocol):
    """A density that is a squared distance to a set, w/2 |F - p|^2, and knows its weight w [Pa]."""

    def weight(self) -> Parameter: ...


@runtime_checkable
class OfTerms(Protocol):
    """What can be added to a material."""

    def terms(self) -> tuple[tuple[Density, Array], ...]: ...


def summands(material: Any) -> tuple[Any, ...]:
    """The materials that a sum is made of; a single one is itself."""
    return tuple(material.materials) if isinstance(material, Sum) else (material,)


M = TypeVar("M", bound=Any)


def parameter(value: Any, name: str, unit: str) -> Parameter:
    """A parameter as a float or an (m,) array; strings such as "100 kPa" are read in the given unit."""
    if isinstance(value, str | bool):
        from pliant.units import quantity

        value = quantity(value, unit, name)
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.array(np.nan)
    if array.ndim > 1 or array.size == 0 or not np.isfinite(array).all():
        raise MaterialError(
            f"{name} = {value!r:.60} is not a finite number or array (m,)", remedy=f"give {name} in {unit}"
        )
    return float(array) if array.ndim == 0 else array


def positive(value: Any, name: str, unit: str) -> Parameter:
    """A `parameter` greater than zero."""
    number = parameter(value, name, unit)
    require(np.asarray(number) > 0.0, number, name, "must be positive")
    return number


def poisson(value: Any) -> Parameter:
    """Poisson's ratio, strictly between -1 and 0.5."""
    nu = parameter(value, "nu", "1")
    require(
        (np.asarray(nu) > -1.0) & (np.asarray(nu) < 0.5),
        nu,
        "nu",
        "must lie in (-1, 0.5)",
        "0.45 is nearly incompressible",
    )
    return nu


def require(good: Any, value: Parameter, name: str, what: str, remedy: str = "") -> None:
    """Raise `MaterialError` for the first value that is not good, naming its element."""
    if not np.all(good):
        first = int(np.flatnonzero(~np.atleast_1d(good))[0])
        where = f"element {first}" if np.ndim(value) else ""
        raise MaterialError(f"{name} = {np.atleast_1d(value)[first]:g} {what}", where=where, remedy=remedy)


def direction(value: ArrayLike) -> Array:
    """A unit fibre direction (3,), or one per element (m, 3)."""
    a = np.asarray(value, dtype=np.float64)
    if a.ndim not in (1, 2) or a.shape[-1] != 3 or not np.isfinite(a).all():
        raise MaterialError(f"direction has shape {a.shape}", remedy="give a vector (3,) or one per element (m, 3)")
    length = np.linalg.norm(a, axis=-1)
    require(
        length > 1e-12, length, "|direction|", "is too short to be a fibre direction", "give a vector that is not zero"
    )
    return unit(a)


def components(a: Array) -> tuple[Array, Array, Array]:
    """Components of one direction or of one per element, for `rows`."""
    return a[..., 0], a[..., 1], a[..., 2]


def set_fields(material: Any, **values: Any) -> None:
    """Store the validated values of a frozen dataclass, from its ``__post_init__``; per-element ones of one length."""
    sizes = {name: len(v) for name, v in values.items() if np.ndim(v) == (2 if name == "direction" else 1)}
    if len(set(sizes.values())) > 1:
        raise MaterialError(f"per-element parameters of different lengths: {sizes}", where=type(material).__name__)
    for name, value in values.items():
        object.__setattr__(material, name, value)


def lame(E: Parameter, nu: Parameter) -> tuple[Any, Any]:
    """Lame's parameters (mu, lam) [Pa] from Young's modulus E [Pa] and Poisson's ratio nu."""
    return E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))


def rows(*columns: Any) -> Array:
    """Device parameters (1 | m, k) from numbers and per-element arrays."""
    return np.stack(np.broadcast_arrays(*(np.atleast_1d(c) for c in columns)), axis=1).astype(np.float64)


def elastic_plane_stress(material: M) -> M:
    """Material with E' = E (1 + 2 nu)/(1 + nu)^2 and nu' = nu/(1 + nu): plane strain of it is plane stress of ours."""
    E, nu = material.E, material.nu
    return replace(material, E=E * (1 + 2 * nu) / (1 + nu) ** 2, nu=nu / (1 + nu))


def young(material: Any) -> Parameter:
    return material.E


def same_in_plane(material: M) -> M:
    return material


def same_in_axes(material: M, axes: Array) -> M:
    return material


def turned(material: M, axes: Array) -> M:
    """The fibre material with its direction in element axes, projected onto the plane of the triangle."""
    a = np.einsum("mij,mj->mi", axes, np.broadcast_to(material.direction, (len(axes), 3)))
    a[:, 2] = 0.0
    return replace(material, direction=a)


def terms_of(material: Material, element: Element, place: Layout, *, where: str = "") -> tuple[assembly.Term, ...]:
    """Kernels and lane-blocked parameters of every density of a material, for the elements of a layout."""
    out = []
    for density, values in material.terms():
        if len(values) not in (1, place.m):
            raise MaterialError(
                f"{density.name} has parameters for {len(values)} elements, the mesh has {place.m}",
                where=where,
                remedy="give one value, or one per element",
            )
        out.append(assembly.Term(kernels(density, Choice(element, place.parallel)), *place.table(values)))
    return tuple(out)


# ---- evaluation on batches: m loose tetrahedra of unit weight whose edges are the columns of F


def _loose(F: Array) -> tuple[Layout, Array]:
    F = np.asarray(F, dtype=np.float64)
    m = len(F)
    x = np.zeros((m, 4, 3))
    x[:, 1:] = F.transpose(0, 2, 1)
    T = np.arange(4 * m, dtype=np.int64).reshape(m, 4)
    centers = np.arange(m, dtype=np.float64)[:, None]
    return layout(4 * m, 3, T, np.broadcast_to(np.eye(3), (m, 3, 3)), np.ones(m), centers), x.ravel()


def psi(material: Material, F: Array) -> Array:
    """Energy density (m,) [J/m^3] of deformation gradients F (m, 3, 3)."""
    place, x = _loose(F)
    return assembly.element_energies(place, terms_of(material, TET, place), x)


def piola(material: Material, F: Array) -> Array:
    """First Piola-Kirchhoff stress P = d psi/dF (m, 3, 3) [Pa]."""
    place, x = _loose(F)
    return assembly.element_stresses(place, terms_of(material, TET, place), x)


def tangent(material: Material, F: Array, psd: bool = False) -> Array:
    """d vec P / d vec F (m, 9, 9) [Pa], vec stacking columns; projected density by density when ``psd``."""
    place, x = _loose(F)
    data = assembly.hessian(place, pattern(place), terms_of(material, TET, place), x, psd)
    return data.reshape(-1, 12, 12)[:, 3:, 3:].copy()


@dataclass(frozen=True, eq=False)
class Sum:
    """Several densities acting on the same elements, psi = sum psi_k; each is projected on its own."""

    materials: tuple[Any, ...]

    psi = psi
    piola = piola
    tangent = tangent

    @property
    def rotation_invariant(self) -> bool:
        return all(material.rotation_invariant for material in self.materials)

    @property
    def allows_inversion(self) -> bool:
        return all(material.allows_inversion for material in self.materials)

    def terms(self) -> tuple[tuple[Density, Array], ...]:
        return tuple(term for material in self.materials for term in material.terms())

    def young(self) -> Parameter:
        """That of the first material, the body to which the others are added."""
        return self.materials[0].young()

    def plane_stress(self) -> "Sum":
        return Sum(tuple(material.plane_stress() for material in self.materials))

    def in_axes(self, axes: Array) -> "Sum":
        return Sum(tuple(material.in_axes(axes) for material in self.materials))

    def __add__(self, other: Any) -> "Sum":
        return plus(self, other)


def plus(material: Any, other: Any) -> Sum:
    """Sum of two materials, flat."""
    if not isinstance(other, OfTerms):
        raise MaterialError(f"{type(material).__name__} + {other!r}", remedy="add a material to a material")
    return Sum((*summands(material), *summands(other)))
