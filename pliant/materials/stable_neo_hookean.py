"""Stable Neo-Hookean, the default flesh: smooth and resisting under inversion [Smith2018].

    psi = mu/2 (I_C - 3) + lam/2 (J - alpha)^2,        alpha = 1 + mu/lam
    P   = mu F + lam (J - alpha) cof F

with mu = mu_L and lam = lam_L + mu_L, so that the rest tangent is exactly linear elasticity of (E, nu); the rest energy
is subtracted. This is the form without the logarithm; `StableNeoHookeanLog` is the one with it.
"""

from dataclasses import dataclass
from typing import ClassVar

from pliant.arrays import Array
from pliant.kernels.device import Floats, cofactor, combine, det, device, norm2
from pliant.kernels.isotropic import isotropic
from pliant.kernels.specialise import Density
from pliant.materials import base


@device
def psi(F: Floats, p: Floats) -> float:
    mu, lam, alpha = p[0], p[1], p[2]
    d = det(F) - alpha
    rest = 1.0 - alpha
    return 0.5 * (mu * (norm2(F) - 3.0) + lam * (d * d - rest * rest))


@device
def piola(F: Floats, p: Floats) -> Floats:
    mu, lam, alpha = p[0], p[1], p[2]
    return combine(mu, F, lam * (det(F) - alpha), cofactor(F))


@device
def spectral(s0: float, s1: float, s2: float, p: Floats) -> Floats:
    mu, lam, alpha = p[0], p[1], p[2]
    J = s0 * s1 * s2
    c = lam * (J - alpha)
    k = lam * (2.0 * J - alpha)
    Z = mu + lam * (s1 * s2) ** 2, k * s2, k * s1, mu + lam * (s0 * s2) ** 2, k * s0, mu + lam * (s0 * s1) ** 2
    return (*Z, mu + c * s0, mu + c * s1, mu + c * s2, mu - c * s0, mu - c * s1, mu - c * s2)


DENSITY = Density("StableNeoHookean", __file__, isotropic(psi, piola, spectral))


@dataclass(frozen=True, eq=False)
class StableNeoHookean:
    """Rubber and flesh, the default choice: nearly incompressible, robust under inversion [Smith2018].

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
        mu, lam = base.lame(self.E, self.nu)
        return ((DENSITY, base.rows(mu, lam + mu, 1 + mu / (lam + mu))),)
