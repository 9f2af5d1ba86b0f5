"""Free motion in the xy plane."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.se3 import exp3, frame

_Z = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Free2D:
    """Free motion in a plane: Q = trans(q1, q2, 0) Rz(q3); the translation enters S in the rotated frame."""

    dof: ClassVar[int] = 3
    exponential: ClassVar[tuple[int, ...]] = ()

    def transform(self, q: Array) -> Array:
        p = np.concatenate([q[..., :2], np.zeros_like(q[..., :1])], axis=-1)
        return frame(exp3(_Z * q[..., 2:]), p)

    def subspace(self, q: Array) -> Array:
        c, s = np.cos(q[..., 2]), np.sin(q[..., 2])
        S = np.zeros((*q.shape[:-1], 6, 3), dtype=q.dtype)
        S[..., 3, 0], S[..., 3, 1] = c, s
        S[..., 4, 0], S[..., 4, 1] = -s, c
        S[..., 2, 2] = 1.0
        return S

    def subspace_rate(self, q: Array, v: Array) -> Array:
        c, s, w = np.cos(q[..., 2]), np.sin(q[..., 2]), v[..., 2]
        S = np.zeros((*q.shape[:-1], 6, 3), dtype=np.result_type(q, v))
        S[..., 3, 0], S[..., 3, 1] = -s * w, c * w
        S[..., 4, 0], S[..., 4, 1] = -c * w, -s * w
        return S
