"""Lagrangian cloth as a body of any scene: membrane and bending as ordinary energies, for every integrator."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.cloth.material import ClothMaterial
from pliant.energies.base import Energy
from pliant.energies.bending import QuadraticBending
from pliant.energies.membrane import Membrane
from pliant.errors import MaterialError
from pliant.maps.pins import Pin
from pliant.mesh import Mesh, lumped_mass


@dataclass(frozen=True, eq=False)
class Cloth:
    """Triangles flat at rest, of a ``fabric`` given per area; ``thickness`` [m] is that of its contact."""

    mesh: Mesh
    fabric: ClothMaterial = field(default_factory=ClothMaterial)
    thickness: float = 1e-3
    pins: Sequence[Pin] | Pin = ()
    damping: Any = None
    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    name: str = "cloth"

    def __post_init__(self) -> None:
        object.__setattr__(self, "pins", (self.pins,) if isinstance(self.pins, Pin) else tuple(self.pins))
        if not (np.isfinite(self.thickness) and self.thickness > 0):
            raise MaterialError(
                f"thickness = {self.thickness} m", where=f"{self.name}.thickness", remedy="use a positive thickness"
            )

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
