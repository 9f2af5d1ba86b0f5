"""Stable Neo-Hookean with its logarithm, the full form of the paper [Smith2018].

    psi = mu/2 (I_C - 3) + lam/2 (J - alpha)^2 - mu/2 log(I_C + 1),      alpha = 1 + mu/lam - mu/(4 lam)
    P   = mu (1 - 1/(I_C + 1)) F + lam (J - alpha) cof F

mu = 4/3 mu_L and lam = lam_L + 5/6 mu_L make the rest tangent exactly linear elasticity of (E, nu); with the plain Lame
parameters P(I) would still vanish while the tangent is 18 % off. The rest energy is subtracted.
"""

import math
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
    I = norm2(F)
    d = det(F) - alpha
    rest = 1.0 - alpha
    return 0.5 * (mu * (I - 3.0 - math.log(0.25 * (I + 1.0))) + lam * (d * d - rest * rest))


@device
def piola(F: Floats, p: Floats) -> Floats:
    mu, lam, alpha = p[0], p[1], p[2]
    return combine(mu * (1.0 - 1.0 / (norm2(F) + 1.0)), F, lam * (det(F) - alpha), cofactor(F))


@device
def spectral(s0: float, s1: float, s2: float, p: Floats) -> Floats:
    mu, lam, alpha = p[0], p[1], p[2]
    i = 1.0 / (s0 * s0 + s1 * s1 + s2 * s2 + 1.0)
    a = mu * (1.0 - i)
    b = 2.0 * mu * i * i
    J = s0 * s1 * s2
    c = lam * (J - alpha)
    k = lam * (2.0 * J - alpha)
    return (
        a + b * s0 * s0 + lam * (s1 * s2) ** 2, b * s0 * s1 + k * s2, b * s0 * s2 + k * s1,
        a + b * s1 * s1 + lam * (s0 * s2) ** 2, b * s1 * s2 + k * s0, a + b * s2 * s2 + lam * (s0 * s1) ** 2,
        a + c * s0, a + c * s1, a + c * s2, a - c * s0, a - c * s1, a - c * s2,
    )  # fmt: skip


DENSITY = Density("StableNeoHookeanLog", __file__, isotropic(psi, piola, spectral))


@dataclass(frozen=True, eq=False)
class StableNeoHookeanLog:
    """Stable neo-Hookean material with its logarithmic term: a little stiffer in tension [Smith2018].

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
        mu_L, lam_L = base.lame(self.E, self.nu)
        mu, lam = 4 / 3 * mu_L, lam_L + 5 / 6 * mu_L
        return ((DENSITY, base.rows(mu, lam, 1 + 0.75 * mu / lam)),)
