"""Two rotations: about x, then about the turned y."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.se3 import exp3, frame

_X, _Y = np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class Universal:
    """A universal joint: Q = Rx(q1) Ry(q2), S = [(cos q2, 0, sin q2), (0, 1, 0)] in the rows of omega."""

    dof: ClassVar[int] = 2
    exponential: ClassVar[tuple[int, ...]] = ()

    def transform(self, q: Array) -> Array:
        return frame(exp3(_X * q[..., :1]) @ exp3(_Y * q[..., 1:]))

    def subspace(self, q: Array) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 2), dtype=q.dtype)
        S[..., 0, 0], S[..., 2, 0] = np.cos(q[..., 1]), np.sin(q[..., 1])
        S[..., 1, 1] = 1.0
        return S

    def subspace_rate(self, q: Array, v: Array) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 2), dtype=np.result_type(q, v))
        S[..., 0, 0], S[..., 2, 0] = -np.sin(q[..., 1]) * v[..., 1], np.cos(q[..., 1]) * v[..., 1]
        return S
