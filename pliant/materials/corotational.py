"""Corotational elasticity: linear elasticity in the element's own rotating frame, F = R S.

psi = mu ||F - R||^2 + lam/2 (tr S - 3)^2
P   = 2 mu (F - R) + lam (tr S - 3) R
"""

from dataclasses import dataclass
from typing import ClassVar

from pliant.arrays import Array
from pliant.kernels.device import Floats, device
from pliant.kernels.isotropic import principal
from pliant.kernels.specialise import Density
from pliant.materials import base


@device
def energy(s0: float, s1: float, s2: float, p: Floats) -> float:
    mu, lam = p[0], p[1]
    tr = s0 + s1 + s2 - 3.0
    return mu * ((s0 - 1.0) ** 2 + (s1 - 1.0) ** 2 + (s2 - 1.0) ** 2) + 0.5 * lam * tr * tr


@device
def stress(s0: float, s1: float, s2: float, p: Floats) -> Floats:
    mu, lam = p[0], p[1]
    t = lam * (s0 + s1 + s2 - 3.0) - 2.0 * mu
    return 2.0 * mu * s0 + t, 2.0 * mu * s1 + t, 2.0 * mu * s2 + t


@device
def spectral(s0: float, s1: float, s2: float, p: Floats) -> Floats:
    """Only the twists can be negative; they are singular where two stretches cancel, hence the guard."""
    mu, lam = p[0], p[1]
    t = 2.0 * lam * (s0 + s1 + s2 - 3.0) - 4.0 * mu
    k = 2.0 * mu
    return (
        k + lam, lam, lam, k + lam, lam, k + lam,
        k + t / max(s1 + s2, 1e-6), k + t / max(s0 + s2, 1e-6), k + t / max(s0 + s1, 1e-6), k, k, k,
    )  # fmt: skip


DENSITY = Density("Corotational", __file__, principal(energy, stress, spectral))


@dataclass(frozen=True, eq=False)
class Corotational:
    """Linear elasticity in the frame of each element: cheap, for moderate strains and large rotations.

    Young's modulus ``E`` [Pa] and Poisson's ratio ``nu``, each a number or one per element (m,).
    """

    E: base.Parameter = 1e5
    nu: base.Parameter = 0.45

    rotation_invariant: ClassVar[bool] = True
    allows_inversion: ClassVar[bool] = True

    psi, piola, tangent, __add__ = base.psi, base.piola, base.tangent, base.plus
    young, plane_stress, in_axes = base.young, base.elastic_plane_stress, base.same_in_axes

    def __post_init__(self) -> None:
        base.set_fields(self, E=base.positive(self.E, "E", "Pa"), nu=base.poisson(self.nu))

    def terms(self) -> tuple[tuple[Density, Array], ...]:
        return ((DENSITY, base.rows(*base.lame(self.E, self.nu))),)
