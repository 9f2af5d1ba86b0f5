"""A ball joint in exponential coordinates."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.se3 import exp3, exp3_jacobian, exp3_jacobian_rate, frame


@dataclass(frozen=True)
class Spherical:
    """A ball joint: Q = exp[r], S = (S(r), 0); reparameterised when |r| > 1.5 pi."""

    dof: ClassVar[int] = 3
    exponential: ClassVar[tuple[int, ...]] = (0,)

    def transform(self, q: Array) -> Array:
        return frame(exp3(q))

    def subspace(self, q: Array) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 3), dtype=q.dtype)
        S[..., :3, :] = exp3_jacobian(q)
        return S

    def subspace_rate(self, q: Array, v: Array) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 3), dtype=np.result_type(q, v))
        S[..., :3, :] = exp3_jacobian_rate(q, v)
        return S
