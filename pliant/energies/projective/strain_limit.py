"""Strain limiting: the squared distance of F to the matrices whose singular values lie in [low, high].

    psi = k/2 sum_i (s_i - clamp(s_i, low, high))^2,      p = U diag(clamp(s)) V^T

With low = high = 1 it is ARAP. Inside the range it costs nothing. [Bouaziz2014; Ledwon2024, sec. 3.4]
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


@device
def excess(s: float, p: Floats) -> float:
    """s minus the nearest admissible stretch."""
    return s - min(max(s, p[1]), p[2])


@device
def energy(s0: float, s1: float, s2: float, p: Floats) -> float:
    return 0.5 * p[0] * (excess(s0, p) ** 2 + excess(s1, p) ** 2 + excess(s2, p) ** 2)


@device
def stress(s0: float, s1: float, s2: float, p: Floats) -> Floats:
    return p[0] * excess(s0, p), p[0] * excess(s1, p), p[0] * excess(s2, p)


@device
def slope(a: float, b: float, p: Floats) -> float:
    """Difference quotient of the excess over [a, b]; its derivative where a = b."""
    apart = abs(a - b) > 1e-9
    here = 1.0 if excess(a, p) != 0.0 else 0.0
    return p[0] * ((excess(a, p) - excess(b, p)) / ((a - b) if apart else 1.0) if apart else here)


@device
def turning(a: float, b: float, p: Floats) -> float:
    """Stiffness against the twist of two axes; singular where two stretches cancel, hence the guard."""
    return p[0] * (excess(a, p) + excess(b, p)) / max(a + b, 1e-6)


@device
def spectral(s0: float, s1: float, s2: float, p: Floats) -> Floats:
    z0 = p[0] if excess(s0, p) != 0.0 else 0.0
    z1 = p[0] if excess(s1, p) != 0.0 else 0.0
    z2 = p[0] if excess(s2, p) != 0.0 else 0.0
    return (
        z0, 0.0, 0.0, z1, 0.0, z2,
        turning(s1, s2, p), turning(s0, s2, p), turning(s0, s1, p),
        slope(s1, s2, p), slope(s0, s2, p), slope(s0, s1, p),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class StrainLimit:
    """Stiffness ``k`` [Pa] against stretches outside [``low``, ``high``], numbers or one value per element (m,)."""

    k: base.Parameter = 1e6
    low: base.Parameter = 0.95
    high: base.Parameter = 1.05

    rotation_invariant: ClassVar[bool] = True
    allows_inversion: ClassVar[bool] = True
    density: ClassVar[Density] = Density("StrainLimit", __file__, principal(energy, stress, spectral))

    psi, piola, tangent, __add__ = base.psi, base.piola, base.tangent, base.plus
    plane_stress, in_axes = base.same_in_plane, base.same_in_axes

    def __post_init__(self) -> None:
        base.set_fields(self, k=base.positive(self.k, "k", "Pa"))
        if not (np.all(np.asarray(self.low) > 0.0) and np.all(np.asarray(self.low) <= np.asarray(self.high))):
            raise MaterialError(
                f"stretches from {self.low} to {self.high}", where="StrainLimit", remedy="need 0 < low <= high"
            )

    def weight(self) -> base.Parameter:
        """Weight of the squared distance [Pa], a bound of the tangent."""
        return self.k

    young = weight

    def terms(self) -> tuple[tuple[Density, Array], ...]:
        return ((self.density, base.rows(self.k, self.low, self.high)),)
