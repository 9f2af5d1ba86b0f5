"""What an energy is: a scalar function of all coordinates with its derivatives."""

from typing import Any, Protocol, runtime_checkable

import scipy.sparse as sp

from pliant.arrays import Array, IntArray


class Energy(Protocol):
    """A potential W(x) [J] of the flat coordinates ``x (N,)``; the force is -gradient.

    ``hessian`` returns a full symmetric CSR matrix with sorted indices. When the pattern is constant (all but contact),
    every call returns the same ``indptr`` and ``indices`` objects and only ``data`` is new: systems rely on that to
    skip all index work. ``psd=True`` asks for the projection onto positive semidefinite element blocks.
    """

    name: str

    def value(self, x: Array) -> float: ...

    def gradient(self, x: Array) -> Array: ...

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix: ...


@runtime_checkable
class ConstantLoad(Protocol):
    """An energy that is linear in x: its force ``load (N,)`` [N] never changes (gravity)."""

    load: Array


@runtime_checkable
class MarchingEnergy(Protocol):
    """An energy with a compiled loop over many explicit steps."""

    def march(
        self, x: Array, v: Array, inverse_mass: Array, load: Array, h: float, steps: int
    ) -> tuple[Array, Array]: ...


@runtime_checkable
class Internal(Protocol):
    """An energy of the shape of bodies (elements, springs, hinges, glue): moving all of a body costs nothing.

    What is not internal has its counterpart outside the bodies: gravity, attachments, contacts, tugs.
    """

    internal: bool


@runtime_checkable
class Deforming(Protocol):
    """An energy of elements with a deformation gradient; ``elements.nodes`` are their vertices."""

    material: Any
    elements: Any

    def deformation(self, x: Array) -> Array: ...

    def det(self, x: Array) -> Array:
        """det F (m,) of every element."""
        ...


@runtime_checkable
class Stressed(Deforming, Protocol):
    """A `Deforming` energy that knows the stress in its elements."""

    def stress(self, x: Array) -> Array:
        """Cauchy stress (m, 3, 3) [Pa]."""
        ...

    def von_mises(self, x: Array) -> Array:
        """Equivalent stress (m,) [Pa]."""
        ...

    def density(self, x: Array) -> Array:
        """Energy density (m,) [J/m^3]."""
        ...


@runtime_checkable
class Layered(Protocol):
    """An elastic energy that reports the stiffness and the fibres of every element."""

    def young(self) -> Array:
        """Young's modulus (m,) [Pa]."""
        ...

    def fibres(self, x: Array) -> Array:
        """Unit vectors (m, 3) along the fibres as they are at x; zero where there are none."""
        ...


@runtime_checkable
class Majorised(Protocol):
    """An energy that knows a matrix L (n, n) that majorises its Hessian in every coordinate alike, at x."""

    def laplacian(self, x: Array) -> sp.csr_matrix: ...


@runtime_checkable
class Directed(Protocol):
    """An energy of springs whose Hessian falls into a part along their directions and one across them."""

    def material_hessian(self, x: Array) -> sp.csr_matrix:
        """The part along them, positive semidefinite."""
        ...


@runtime_checkable
class Conserving(Protocol):
    """An energy that has a discrete gradient."""

    def between(self, x0: Array, x1: Array) -> Array:
        """g (N,) with g . (x1 - x0) = W(x1) - W(x0) exactly; internal energies have no torque about (x0 + x1)/2."""
        ...


@runtime_checkable
class Limiting(Protocol):
    """An energy that is infinite beyond some configurations."""

    def limit(self, x: Array, dx: Array) -> float:
        """The largest s for which x + s dx is admissible; inf when there is no limit."""
        ...


@runtime_checkable
class Guarding(Protocol):
    """A `Limiting` energy that also checks the path from the start of a stage to its first guess."""

    def begin(self, x: Array, guess: Array, free: IntArray) -> Array:
        """The guess, held back where the path to it would cross something."""
        ...


@runtime_checkable
class Pairing(Protocol):
    """An energy of contacts, which couple bodies that touch."""

    def persistent_hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        """The Hessian without the blocks that couple the two sides of a contact [QLB2021, sec. 3.3]."""
        ...


@runtime_checkable
class Pressing(Energy, Protocol):
    """An energy of contacts with normal forces."""

    def loads(self, x: Array) -> tuple[Any, Array]:
        """Contacts and their normal forces (c,) [N]."""
        ...

    def pushes(self, x: Array) -> Any:
        """The forces of every contact on its vertices, as `ContactForces`; they sum to minus the gradient."""
        ...


@runtime_checkable
class LinearPressing(Protocol):
    """A `Pressing` energy that tells its contacts apart in a step that is linearised once, too."""

    def linear_pushes(self, x: Array, way: Array) -> Any:
        """As ``pushes``, after displacements ``way (3n,)`` [m]: they sum to -gradient - hessian(psd=True) way."""
        ...
