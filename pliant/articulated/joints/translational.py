"""Translation in all three directions; with a particle as its body, the joint of a mesh node or point mass."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.se3 import frame


@dataclass(frozen=True)
class Translational:
    """Translation in space: Q = trans(q), S = (0, I)."""

    dof: ClassVar[int] = 3
    exponential: ClassVar[tuple[int, ...]] = ()

    def transform(self, q: Array) -> Array:
        return frame(p=q)

    def subspace(self, q: Array) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 3), dtype=q.dtype)
        S[..., 3:, :] = np.eye(3)
        return S

    def subspace_rate(self, q: Array, v: Array) -> Array:
        return np.zeros((*q.shape[:-1], 6, 3), dtype=q.dtype)
