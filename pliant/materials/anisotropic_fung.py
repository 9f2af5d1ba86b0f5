"""Exponential fibres with muscle activation: flesh that stiffens as it stretches.

    psi = mu/k^2 (exp(k (I5 - 1)) - k (I5 - 1) - 1) + activation tension/2 (I5 - 1),      I5 = |F a|^2

k = 1 is the form of [Kim2019]. The uniaxial modulus at rest is 4 mu, so mu = E/4. The active part is a line tension,
P = activation tension F a a^T. Beyond the exponent 30 the exponential continues as its own parabola: no overflow.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.kernels.device import Floats, device
from pliant.kernels.fibre import fibre
from pliant.kernels.specialise import Density
from pliant.materials import base


@device
def law(I5: float, sign: float, p: Floats) -> tuple[float, float, float]:
    mu, k, active = p[0], p[1], p[2]
    y = k * (I5 - 1.0)
    e = math.exp(min(y, 30.0))
    d = max(y - 30.0, 0.0)
    return (
        mu / (k * k) * (e * (1.0 + d + 0.5 * d * d) - y - 1.0) + 0.5 * active * (I5 - 1.0),
        mu / k * (e * (1.0 + d) - 1.0) + 0.5 * active,
        mu * e,
    )


DENSITY = Density("AnisotropicFung", __file__, fibre(law))


@dataclass(frozen=True, eq=False)
class AnisotropicFung:
    """Fibres that stiffen exponentially and may be activated like muscle; add it to a matrix material [Kim2019].

    Rest fibre ``direction`` (3,) or (m, 3), fibre modulus ``E`` [Pa], exponent ``k``; numbers or one per element.

    ``activation`` (0 relaxed, 1 full) scales the active ``tension`` [Pa]. To follow a signal in time make a new
    material and `Elastic.with_material`, which keeps everything but the parameter table.
    """

    direction: base.Direction
    E: base.Parameter = 1e5
    k: base.Parameter = 1.0
    activation: base.Parameter = 0.0
    tension: base.Parameter = 1e5

    rotation_invariant: ClassVar[bool] = True
    allows_inversion: ClassVar[bool] = True

    psi, piola, tangent, __add__ = base.psi, base.piola, base.tangent, base.plus
    young, plane_stress, in_axes = base.young, base.same_in_plane, base.turned

    def __post_init__(self) -> None:
        base.set_fields(
            self,
            direction=base.direction(self.direction),
            E=base.positive(self.E, "E", "Pa"),
            k=base.positive(self.k, "k", "1"),
            activation=base.parameter(self.activation, "activation", "1"),
            tension=base.parameter(self.tension, "tension", "Pa"),
        )
        active = np.asarray(self.activation) * np.asarray(self.tension)
        base.require(active >= 0.0, active, "activation * tension", "must not be negative", "fibres can only pull")

    def terms(self) -> tuple[tuple[Density, Array], ...]:
        active = self.activation * self.tension
        return ((DENSITY, base.rows(0.25 * self.E, self.k, active, *base.components(self.direction))),)
