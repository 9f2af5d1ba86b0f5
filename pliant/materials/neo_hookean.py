"""Neo-Hookean in the form of Bonet and Wood: infinite at det F = 0.

    psi = mu/2 (I_C - 3) - mu log J + lam/2 log^2 J
    P   = mu F + (lam log J - mu)/J cof F

psi is +inf for det F <= 0 (and P is not defined there): steps must stay below `Elastic.limit`.
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
    mu, lam = p[0], p[1]
    J = det(F)
    log = math.log(J if J > 0.0 else 1.0)
    return 0.5 * mu * (norm2(F) - 3.0) - mu * log + 0.5 * lam * log * log if J > 0.0 else math.inf


@device
def piola(F: Floats, p: Floats) -> Floats:
    mu, lam = p[0], p[1]
    J = det(F)
    return combine(mu, F, (lam * math.log(J) - mu) / J, cofactor(F))


@device
def spectral(s0: float, s1: float, s2: float, p: Floats) -> Floats:
    mu, lam = p[0], p[1]
    q = lam * math.log(s0 * s1 * s2) - mu
    k = lam - q
    i0 = 1.0 / s0
    i1 = 1.0 / s1
    i2 = 1.0 / s2
    c0 = q * i1 * i2
    c1 = q * i0 * i2
    c2 = q * i0 * i1
    return (
        mu + k * i0 * i0, lam * i0 * i1, lam * i0 * i2, mu + k * i1 * i1, lam * i1 * i2, mu + k * i2 * i2,
        mu + c0, mu + c1, mu + c2, mu - c0, mu - c1, mu - c2,
    )  # fmt: skip


DENSITY = Density("NeoHookean", __file__, isotropic(psi, piola, spectral))


@dataclass(frozen=True, eq=False)
class NeoHookean:
    """The classical compressible neo-Hookean material; its energy is infinite at zero volume, so it cannot invert.

    Young's modulus ``E`` [Pa] and Poisson's ratio ``nu``, each a number or one per element (m,).
    """

    E: base.Parameter = 1e5
    nu: base.Parameter = 0.45

    rotation_invariant: ClassVar[bool] = True
    allows_inversion: ClassVar[bool] = False

    psi, piola, tangent, __add__ = base.psi, base.piola, base.tangent, base.plus
    young, plane_stress, in_axes = base.young, base.elastic_plane_stress, base.same_in_axes

    def __post_init__(self) -> None:
        base.set_fields(self, E=base.positive(self.E, "E", "Pa"), nu=base.poisson(self.nu))

    def terms(self) -> tuple[tuple[Density, Array], ...]:
        return ((DENSITY, base.rows(*base.lame(self.E, self.nu))),)
