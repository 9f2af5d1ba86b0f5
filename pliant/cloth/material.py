"""What the cloth is made of, per area."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pliant.energies.membrane import lame
from pliant.errors import MaterialError
from pliant.materials.base import elastic_plane_stress, positive
from pliant.units import read_fields


@dataclass(frozen=True)
class ClothMaterial:
    """Membrane stiffness ``E`` [N/m] (modulus times thickness), ``nu``, bending ``beta`` [N m], area density ``rho``
    [kg/m^2]. The defaults are those of the released Eulerian-on-Lagrangian cloth.

    ``E`` and ``nu`` give Lame's parameters as in plane strain [Weidner2022, sec. 2.4.2]: a strip with free sides has
    the stiffness E/(1 - nu^2) [N/m] and contracts by nu/(1 - nu) of its strain. `from_fabric` takes those of a strip.
    """

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
    """A homogeneous sheet of Young's ``modulus`` [Pa], Poisson's ratio ``nu``, ``density`` [kg/m^3], ``thickness`` [m].

    A strip of it stretches and contracts as one of this material does: plane stress. The plate stiffness D = E t^3 /
    (12 (1 - nu^2)) stores D/2 kappa^2 per area, the quadratic bending 3/4 beta kappa^2.
    """
    E, rho = positive(modulus, "modulus", "Pa"), positive(density, "density", "kg/m^3")
    t = positive(thickness, "thickness", "m")
    membrane = of_strip(E * t, nu, rho=rho * t)
    return replace(membrane, beta=2 / 3 * E * t**3 / (12 * (1 - nu * nu)))


def of_strip(E: float, nu: float, *, rho: float, beta: float = 0.0) -> ClothMaterial:
    """The fabric whose strips, with free sides, have the stiffness ``E`` [N/m] and Poisson's ratio ``nu``."""
    if not -0.5 < nu < 0.5:
        raise MaterialError(f"Poisson's ratio nu = {nu}", where="fabric.nu", remedy="it must lie in (-0.5, 0.5)")
    return elastic_plane_stress(ClothMaterial(E=E, nu=nu, beta=beta, rho=rho))
