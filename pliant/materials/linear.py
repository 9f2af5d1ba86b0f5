"""Linear elasticity, psi = mu ||e||^2 + lam/2 tr(e)^2 with e = sym(F) - I: constant tangent, not rotation invariant.

P = mu (F + F^T - 2 I) + lam tr(F - I) I. The oracle for solvers: Newton converges in one step.
"""

from dataclasses import dataclass
from typing import ClassVar

from pliant.arrays import Array
from pliant.kernels.device import Floats, device
from pliant.kernels.direct import direct
from pliant.kernels.specialise import Density
from pliant.materials import base


@device
def psi(F: Floats, p: Floats) -> float:
    mu, lam = p[0], p[1]
    d0 = F[0] - 1.0
    d1 = F[4] - 1.0
    d2 = F[8] - 1.0
    e01 = F[1] + F[3]
    e02 = F[2] + F[6]
    e12 = F[5] + F[7]
    tr = d0 + d1 + d2
    return mu * (d0 * d0 + d1 * d1 + d2 * d2 + 0.5 * (e01 * e01 + e02 * e02 + e12 * e12)) + 0.5 * lam * tr * tr


@device
def piola(F: Floats, p: Floats) -> Floats:
    mu, lam = p[0], p[1]
    t = lam * (F[0] + F[4] + F[8] - 3.0) - 2.0 * mu
    e01 = mu * (F[1] + F[3])
    e02 = mu * (F[2] + F[6])
    e12 = mu * (F[5] + F[7])
    return (2.0 * mu * F[0] + t, e01, e02, e01, 2.0 * mu * F[4] + t, e12, e02, e12, 2.0 * mu * F[8] + t)


@device
def pair(F: Floats, p: Floats, g: Floats, h: Floats) -> Floats:
    """mu ((g.h) I + h g^T) + lam g h^T"""
    mu, lam = p[0], p[1]
    c = mu * (g[0] * h[0] + g[1] * h[1] + g[2] * h[2])
    k = mu + lam
    return (
        c + k * g[0] * h[0], lam * g[0] * h[1] + mu * h[0] * g[1], lam * g[0] * h[2] + mu * h[0] * g[2],
        lam * g[1] * h[0] + mu * h[1] * g[0], c + k * g[1] * h[1], lam * g[1] * h[2] + mu * h[1] * g[2],
        lam * g[2] * h[0] + mu * h[2] * g[0], lam * g[2] * h[1] + mu * h[2] * g[1], c + k * g[2] * h[2],
    )  # fmt: skip


DENSITY = Density("Linear", __file__, direct(psi, piola, pair))


@dataclass(frozen=True, eq=False)
class Linear:
    """Small-strain linear elasticity: exact for small motion, grows under rotation.

    Young's modulus ``E`` [Pa] and Poisson's ratio ``nu``, each a number or one per element (m,).
    """

    E: base.Parameter = 1e5
    nu: base.Parameter = 0.45

    rotation_invariant: ClassVar[bool] = False
    allows_inversion: ClassVar[bool] = True

    psi, piola, tangent, __add__ = base.psi, base.piola, base.tangent, base.plus
    young, plane_stress, in_axes = base.young, base.elastic_plane_stress, base.same_in_axes

    def __post_init__(self) -> None:
        base.set_fields(self, E=base.positive(self.E, "E", "Pa"), nu=base.poisson(self.nu))

    def terms(self) -> tuple[tuple[Density, Array], ...]:
        return ((DENSITY, base.rows(*base.lame(self.E, self.nu))),)
