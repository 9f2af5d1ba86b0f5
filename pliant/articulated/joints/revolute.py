"""One rotation about a fixed axis."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.joints.axis import unit_axis
from pliant.articulated.se3 import exp3, frame


@dataclass(frozen=True)
class Revolute:
    """A hinge about the unit axis a (..., 3): Q = rot(a, q), S = (a, 0), with q in radians."""

    axis: Array
    dof: ClassVar[int] = 1
    exponential: ClassVar[tuple[int, ...]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", unit_axis(self.axis, "Revolute"))

    def transform(self, q: Array) -> Array:
        return frame(exp3(self.axis * q))

    def subspace(self, q: Array) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 1), dtype=q.dtype)
        S[..., :3, 0] = self.axis
        return S

    def subspace_rate(self, q: Array, v: Array) -> Array:
        return np.zeros((*q.shape[:-1], 6, 1), dtype=q.dtype)
