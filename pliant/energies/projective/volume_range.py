"""Volume limiting: the squared distance of F to the matrices with det F in [low, high].

    psi = k/2 |s - p|^2,     p = argmin |s - p|^2  with  p_0 p_1 p_2 in [low, high]

The nearest stretches solve s - p = lam c(p), with c the gradient of the product; they are found by projecting onto the
linearised constraint again and again, D <- (c.D - C)/(c.c) c. [Bouaziz2014]
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.errors import MaterialError
from pliant.kernels.device import Floats, device
from pliant.kernels.isotropic import principal
from pliant.kernels.specialise import Density
from pliant.materials import base

ITERATIONS = 40  # a fixed number keeps the lanes together; each gains about a digit at 20 % volume error


@device
def nearest(s0: float, s1: float, s2: float, p: Floats) -> Floats:
    """The nearest stretches with admissible volume."""
    J = s0 * s1 * s2
    target = min(max(J, p[1]), p[2])
    d0 = 0.0
    d1 = 0.0
    d2 = 0.0
    for _ in range(ITERATIONS):
        a = s0 + d0
        b = s1 + d1
        c = s2 + d2
        g0 = b * c
        g1 = a * c
        g2 = a * b
        t = (g0 * d0 + g1 * d1 + g2 * d2 - (a * b * c - target)) / (g0 * g0 + g1 * g1 + g2 * g2 + 1e-300)
        d0 = t * g0
        d1 = t * g1
        d2 = t * g2
    return s0 + d0, s1 + d1, s2 + d2


@device
def energy(s0: float, s1: float, s2: float, p: Floats) -> float:
    a, b, c = nearest(s0, s1, s2, p)
    return 0.5 * p[0] * ((s0 - a) ** 2 + (s1 - b) ** 2 + (s2 - c) ** 2)


@device
def stress(s0: float, s1: float, s2: float, p: Floats) -> Floats:
    a, b, c = nearest(s0, s1, s2, p)
    return p[0] * (s0 - a), p[0] * (s1 - b), p[0] * (s2 - c)


@device
def scaling(a: float, b: float, c: float, lam: float) -> Floats:
    """I - dp/ds from the stationarity of the projection, A dp + n dlam = ds, n.dp = 0, with A = I + lam C''."""
    x = lam * c
    y = lam * b
    z = lam * a
    D = 1.0 + 2.0 * x * y * z - x * x - y * y - z * z  # det A, A = [[1, x, y], [x, 1, z], [y, z, 1]]
    i00 = (1.0 - z * z) / D
    i01 = (y * z - x) / D
    i02 = (x * z - y) / D
    i11 = (1.0 - y * y) / D
    i12 = (x * y - z) / D
    i22 = (1.0 - x * x) / D
    n0 = b * c
    n1 = a * c
    n2 = a * b
    m0 = i00 * n0 + i01 * n1 + i02 * n2
    m1 = i01 * n0 + i11 * n1 + i12 * n2
    m2 = i02 * n0 + i12 * n1 + i22 * n2
    w = 1.0 / (n0 * m0 + n1 * m1 + n2 * m2)
    return (
        1.0 - i00 + w * m0 * m0, w * m0 * m1 - i01, w * m0 * m2 - i02,
        1.0 - i11 + w * m1 * m1, w * m1 * m2 - i12, 1.0 - i22 + w * m2 * m2,
    )  # fmt: skip


@device
def quotient(a: float, b: float, sa: float, sb: float, limit: float) -> float:
    """(a - b)/(sa - sb), and its limit where the stretches coincide."""
    apart = abs(sa - sb) > 1e-7
    return (a - b) / ((sa - sb) if apart else 1.0) if apart else limit


@device
def spectral(s0: float, s1: float, s2: float, p: Floats) -> Floats:
    k = p[0]
    a, b, c = nearest(s0, s1, s2, p)
    e0 = s0 - a
    e1 = s1 - b
    e2 = s2 - c
    n2 = (b * c) ** 2 + (a * c) ** 2 + (a * b) ** 2
    lam = (e0 * b * c + e1 * a * c + e2 * a * b) / (n2 + 1e-300)
    J = s0 * s1 * s2
    on = 0.0 if p[1] <= J <= p[2] else k
    z = scaling(a, b, c, lam)
    return (
        on * z[0], on * z[1], on * z[2], on * z[3], on * z[4], on * z[5],
        on * (e1 + e2) / max(s1 + s2, 1e-6), on * (e0 + e2) / max(s0 + s2, 1e-6), on * (e0 + e1) / max(s0 + s1, 1e-6),
        on * quotient(e1, e2, s1, s2, z[3] - z[4]), on * quotient(e0, e2, s0, s2, z[0] - z[2]),
        on * quotient(e0, e1, s0, s1, z[0] - z[1]),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class VolumeRange:
    """Stiffness ``k`` [Pa] against volume ratios det F outside [``low``, ``high``]; for tetrahedra."""

    k: base.Parameter = 1e6
    low: base.Parameter = 1.0
    high: base.Parameter = 1.0

    rotation_invariant: ClassVar[bool] = True
    allows_inversion: ClassVar[bool] = True
    density: ClassVar[Density] = Density("VolumeRange", __file__, principal(energy, stress, spectral))

    psi, piola, tangent, __add__ = base.psi, base.piola, base.tangent, base.plus
    in_axes = base.same_in_axes

    def __post_init__(self) -> None:
        base.set_fields(self, k=base.positive(self.k, "k", "Pa"))
        if not (np.all(np.asarray(self.low) > 0.0) and np.all(np.asarray(self.low) <= np.asarray(self.high))):
            raise MaterialError(
                f"volume ratios from {self.low} to {self.high}", where="VolumeRange", remedy="need 0 < low <= high"
            )

    def plane_stress(self) -> "VolumeRange":
        raise MaterialError("a membrane has no volume to keep", where="VolumeRange", remedy="use tetrahedra")

    def weight(self) -> base.Parameter:
        """Weight of the squared distance [Pa], a bound of the tangent."""
        return self.k

    young = weight

    def terms(self) -> tuple[tuple[Density, Array], ...]:
        return ((self.density, base.rows(self.k, self.low, self.high)),)
