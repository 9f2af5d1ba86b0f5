"""Translation in the xy plane of the joint frame."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.se3 import frame


@dataclass(frozen=True)
class Planar:
    """Translation in the xy plane: Q = trans(q1, q2, 0), S = unit columns in the rows of nu_x, nu_y."""

    dof: ClassVar[int] = 2
    exponential: ClassVar[tuple[int, ...]] = ()

    def transform(self, q: Array) -> Array:
        return frame(p=np.concatenate([q, np.zeros_like(q[..., :1])], axis=-1))

    def subspace(self, q: Array) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 2), dtype=q.dtype)
        S[..., 3, 0] = S[..., 4, 1] = 1.0
        return S

    def subspace_rate(self, q: Array, v: Array) -> Array:
        return np.zeros((*q.shape[:-1], 6, 2), dtype=q.dtype)
