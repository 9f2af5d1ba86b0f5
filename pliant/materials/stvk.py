"""St. Venant-Kirchhoff: linear elasticity in the Green strain.

    psi = mu ||Eg||^2 + lam/2 tr(Eg)^2,     Eg = (F^T F - I)/2
    P   = F (2 mu Eg + lam tr(Eg) I)

Even in every stretch (an inverted element is at rest) and softening in compression: its tangent needs heavy clamping.
"""

from dataclasses import dataclass
from typing import ClassVar

from pliant.arrays import Array
from pliant.kernels.device import Floats, combine, device, norm2, times, times_transpose, transpose
from pliant.kernels.isotropic import isotropic
from pliant.kernels.specialise import Density
from pliant.materials import base


@device
def psi(F: Floats, p: Floats) -> float:
    mu, lam = p[0], p[1]
    C = times(transpose(F), F)
    e = 0.5 * (C[0] + C[4] + C[8] - 3.0)
    d0 = C[0] - 1.0
    d1 = C[4] - 1.0
    d2 = C[8] - 1.0
    strain2 = 0.25 * (d0 * d0 + d1 * d1 + d2 * d2) + 0.5 * (C[1] * C[1] + C[2] * C[2] + C[5] * C[5])
    return mu * strain2 + 0.5 * lam * e * e


@device
def piola(F: Floats, p: Floats) -> Floats:
    """F (mu C + t I) = mu (F F^T) F + t F with t = lam/2 (I_C - 3) - mu"""
    mu, lam = p[0], p[1]
    t = 0.5 * lam * (norm2(F) - 3.0) - mu
    return combine(t, F, mu, times(times_transpose(F, F), F))


@device
def spectral(s0: float, s1: float, s2: float, p: Floats) -> Floats:
    mu, lam = p[0], p[1]
    a = s0 * s0
    b = s1 * s1
    c = s2 * s2
    t = 0.5 * lam * (a + b + c - 3.0) - mu
    k = 3.0 * mu + lam
    return (
        t + k * a, lam * s0 * s1, lam * s0 * s2, t + k * b, lam * s1 * s2, t + k * c,
        t + mu * (b - s1 * s2 + c), t + mu * (a - s0 * s2 + c), t + mu * (a - s0 * s1 + b),
        t + mu * (b + s1 * s2 + c), t + mu * (a + s0 * s2 + c), t + mu * (a + s0 * s1 + b),
    )  # fmt: skip


DENSITY = Density("StVK", __file__, isotropic(psi, piola, spectral))


@dataclass(frozen=True, eq=False)
class StVK:
    """St. Venant-Kirchhoff: Hooke's law in the Green strain; softens in compression, use it for small strains.

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
