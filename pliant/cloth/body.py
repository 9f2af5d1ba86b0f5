"""Lagrangian cloth as a body of any scene: membrane and bending as ordinary energies, for every integrator."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.bodies import read_body
from pliant.cloth.material import ClothMaterial
from pliant.energies.base import Energy
from pliant.energies.bending import QuadraticBending
from pliant.energies.membrane import Membrane
from pliant.errors import SceneError
from pliant.maps.pins import Pin
from pliant.mesh import Mesh, lumped_mass


@dataclass(frozen=True, eq=False)
class Cloth:
    """Triangles flat at rest, of a ``fabric`` given per area; ``thickness`` [m] is that of its contact."""

    mesh: Mesh
    fabric: ClothMaterial = field(default_factory=ClothMaterial)
    thickness: float | str = 1e-3
    pins: Sequence[Pin] | Pin = ()
    damping: Any = None
    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    positions: Array | None = None
    name: str = "cloth"

    def __post_init__(self) -> None:
        read_body(self, thickness="m")
        if not isinstance(self.fabric, ClothMaterial):
            remedy = "give a ClothMaterial, or from_fabric(...) for a homogeneous sheet"
            raise SceneError(f"fabric is {self.fabric!r}", where=f"{self.name}.fabric", remedy=remedy)
        if self.mesh.kind != "triangles" or self.mesh.dim != 3:
            what = f"a cloth of {self.mesh.kind} in {self.mesh.dim}-d"
            raise SceneError(what, where=f"{self.name}.mesh", remedy="give triangles in space")

    def young(self) -> float:
        """Per thickness: the fabric's own modulus is per length of its cut [N/m]."""
        return float(self.fabric.E) / float(self.thickness)

    def width(self) -> float:
        return float(self.thickness)

    def alike(self) -> tuple[Any, ...]:
        return (id(self),)

    def masses(self) -> sp.csr_matrix:
        """A third of the mass of its faces at each vertex (n, n) [kg]."""
        return sp.csr_matrix(sp.diags(lumped_mass(self.mesh, self.fabric.rho)))

    def energies(self, placed: Any) -> list[Energy]:
        """Corotated membrane and quadratic bending [Weidner2022, sec. 2.4.2]."""
        m = self.fabric
        return [
            Membrane(placed.X, placed.T, E=m.E, nu=m.nu, name=f"{self.name} membrane"),
            QuadraticBending(placed.X, placed.T, beta=m.beta, name=f"{self.name} bending"),
        ]
