"""What the cloth is made of, per area."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.energies.membrane import lame
from pliant.errors import MaterialError
from pliant.materials.base import positive
from pliant.units import read_fields


@dataclass(frozen=True)
class ClothMaterial:
    """Membrane stiffness ``E`` [N/m] (modulus times thickness), ``nu``, bending ``beta`` [N m], area density ``rho``
    [kg/m^2]. The defaults are those of the released Eulerian-on-Lagrangian cloth."""

    E: float = 50.0
    nu: float = 0.01
    beta: float = 1e-5
    rho: float = 0.05
    units: ClassVar[dict[str, str]] = {"E": "N/m", "nu": "1", "beta": "N*m", "rho": "kg/m^2"}

    def __post_init__(self) -> None:
        read_fields(self)
        lame(self.E, self.nu)
        if not (np.isfinite(self.rho) and self.rho > 0):
            raise MaterialError(f"area density rho = {self.rho} kg/m^2", where="ClothMaterial", remedy="use rho > 0")
        if not (np.isfinite(self.beta) and self.beta >= 0):
            raise MaterialError(
                f"bending stiffness beta = {self.beta} N m", where="ClothMaterial", remedy="use beta >= 0"
            )


def from_fabric(modulus: float | str, nu: float, density: float | str, thickness: float | str) -> ClothMaterial:
    """A homogeneous sheet of Young's ``modulus`` [Pa], ``density`` [kg/m^3] and ``thickness`` [m].

    The plate stiffness D = E t^3 / (12 (1 - nu^2)) stores D/2 kappa^2 per area, the quadratic bending 3/4 beta kappa^2.
    """
    E, rho = positive(modulus, "modulus", "Pa"), positive(density, "density", "kg/m^3")
    t = positive(thickness, "thickness", "m")
    D = E * t**3 / (12 * (1 - nu * nu))
    return ClothMaterial(E=E * t, nu=nu, beta=2 / 3 * D, rho=rho * t)
