"""Inversion-safe fibres, psi = mu/2 (|F a| - sign)^2, sign that of a^T S a with the signed stretch S [Kim2019].

P = mu (1 - sign/|F a|) F a a^T; eigenvalues mu along the fibre, mu (1 - sign/|F a|) across it. A reflected fibre is
driven back, which costs the SVD that the sign needs. The uniaxial modulus at rest is mu = E.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from pliant.arrays import Array
from pliant.kernels.device import Floats, device
from pliant.kernels.fibre import fibre
from pliant.kernels.specialise import Density
from pliant.materials import base


@device
def law(I5: float, sign: float, p: Floats) -> tuple[float, float, float]:
    length = max(math.sqrt(I5), 1e-12)
    d = length - sign
    return 0.5 * p[0] * d * d, 0.5 * p[0] * d / length, 0.25 * p[0] * sign / (length * length * length)


DENSITY = Density("AnisotropicARAP", __file__, fibre(law, signed=True))


@dataclass(frozen=True, eq=False)
class AnisotropicARAP:
    """Fibres that resist a change of their length linearly; add it to a matrix material [Kim2019].

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
        return ((DENSITY, base.rows(self.E, 0.0, 0.0, *base.components(self.direction))),)
