"""St. Venant-Kirchhoff fibres, psi = mu/2 (I5 - 1)^2 with I5 = |F a|^2 [Kim2019]; to be added to a body material.

P = 2 mu (I5 - 1) F a a^T. The uniaxial modulus at rest is 4 mu, so mu = E/4. A reflected fibre is at rest, and below
I5 = 1/3 the density pulls towards collapse; `AnisotropicARAP` does neither.
"""

from dataclasses import dataclass
from typing import ClassVar

from pliant.arrays import Array
from pliant.kernels.device import Floats, device
from pliant.kernels.fibre import fibre
from pliant.kernels.specialise import Density
from pliant.materials import base


@device
def law(I5: float, sign: float, p: Floats) -> tuple[float, float, float]:
    d = I5 - 1.0
    return 0.5 * p[0] * d * d, p[0] * d, p[0]


DENSITY = Density("AnisotropicStVK", __file__, fibre(law))


@dataclass(frozen=True, eq=False)
class AnisotropicStVK:
    """Fibres with an energy quadratic in I5 = |F a|^2; add it to a matrix material [Kim2019].

    Rest fibre ``direction`` (3,) or (m, 3), made unit length, and fibre modulus ``E`` [Pa] (number or (m,)).
    """

    direction: base.Direction
    E: base.Parameter = 1e5

    rotation_invariant: ClassVar[bool] = True
    allows_inversion: ClassVar[bool] = True

    psi, piola, tangent, __add__ = base.psi, base.piola, base.tangent, base.plus
    young, plane_stress, in_axes = base.young, base.same_in_plane, base.turned

    def __post_init__(self) -> None:
        base.set_fields(self, direction=base.direction(self.direction), E=base.positive(self.E, "E", "Pa"))

    def terms(self) -> tuple[tuple[Density, Array], ...]:
        return ((DENSITY, base.rows(0.25 * self.E, 0.0, 0.0, *base.components(self.direction))),)
