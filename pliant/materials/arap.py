"""As rigid as possible: the corotational energy without its volume term, psi = mu ||F - R||^2.

It is the corotational density of Poisson's ratio 0, and shares its device functions.
"""

from dataclasses import dataclass
from typing import ClassVar

from pliant.arrays import Array
from pliant.kernels.specialise import Density
from pliant.materials import base
from pliant.materials.corotational import DENSITY


@dataclass(frozen=True, eq=False)
class ARAP:
    """As rigid as possible: the corotational material without resistance to change of volume.

    Young's modulus ``E`` = 2 mu [Pa], a number or one per element (m,); Poisson's ratio is 0.
    """

    E: base.Parameter = 1e5

    rotation_invariant: ClassVar[bool] = True
    allows_inversion: ClassVar[bool] = True

    psi, piola, tangent, __add__ = base.psi, base.piola, base.tangent, base.plus
    young, plane_stress, in_axes = base.young, base.same_in_plane, base.same_in_axes

    def __post_init__(self) -> None:
        base.set_fields(self, E=base.positive(self.E, "E", "Pa"))

    def terms(self) -> tuple[tuple[Density, Array], ...]:
        return ((DENSITY, base.rows(*base.lame(self.E, 0.0))),)
