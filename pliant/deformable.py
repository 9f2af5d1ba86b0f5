"""What all deformable bodies have in common: protocols, and the place of a body in its scene."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.energies.base import Energy
from pliant.forces.base import Force
from pliant.maps.pins import Pin
from pliant.mesh import Mesh


@dataclass(frozen=True)
class Placed:
    """A body's place in the whole scene: rest positions of all vertices, its elements in global numbering, its mass."""

    X: Array
    T: IntArray
    first: int
    mass: sp.csr_matrix  # (N, N) over all coordinates, zero outside the body

    @property
    def nodal_mass(self) -> Array:
        """Lumped masses (n,) [kg] of all vertices, zero outside the body."""
        return np.asarray(self.mass.sum(axis=1)).ravel()[:: self.X.shape[1]]


class Damping(Protocol):
    """A choice of internal damping; ``force`` makes it for a body with all its energies: one force per body."""

    def force(self, body: "Deformable", placed: Placed, energies: Sequence[Energy]) -> Force: ...


@runtime_checkable
class OfMaterial(Protocol):
    """A body whose elements are of a material."""

    material: Any
    density: Any


@runtime_checkable
class Thin(Protocol):
    """A body that is a sheet of some ``thickness`` [m]."""

    thickness: Any


@runtime_checkable
class Deformable(Protocol):
    """A body whose coordinates are the positions of its vertices; indices are the body's own, the scene shifts them."""

    @property
    def mesh(self) -> Mesh: ...

    @property
    def pins(self) -> Any:
        """A tuple of pins."""
        ...

    @property
    def damping(self) -> Damping | None: ...

    @property
    def velocity(self) -> tuple[float, ...]: ...

    @property
    def positions(self) -> Array | None:
        """Where the vertices start (n, d) [m]; None: at rest."""
        ...

    @property
    def name(self) -> str:
        """What the body's energy is called in the ledger ("elastic" for a solid without a name of its own)."""
        ...

    def masses(self) -> sp.csr_matrix:
        """Mass matrix (n, n) [kg]."""
        ...

    def energies(self, placed: Placed) -> list[Energy]: ...

    def young(self) -> float:
        """Its mean Young's modulus [Pa], for the stiffness of contact; NaN where it has none."""
        ...

    def width(self) -> float:
        """The thickness of a sheet [m]; NaN for others."""
        ...

    def alike(self) -> tuple[Any, ...]:
        """What neighbours must share so that one energy can serve them all."""
        ...


@runtime_checkable
class Copying(Protocol):
    """A body whose mesh has several vertices in the place of one that its pins refer to."""

    def copies(self) -> list[Pin]:
        """The pins over the vertices of ``mesh``."""
        ...
