"""Free motion in space: translate, then rotate."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.se3 import exp3, exp3_jacobian, exp3_jacobian_rate, frame, hat


@dataclass(frozen=True)
class Free3D:
    """Free motion in space: Q = trans(p) exp[r] with q = (p, r), S = [(0, R^T), (S(r), 0)].

    It behaves better than `FreeST` with Euler steps.
    """

    dof: ClassVar[int] = 6
    exponential: ClassVar[tuple[int, ...]] = (3,)

    def transform(self, q: Array) -> Array:
        return frame(exp3(q[..., 3:]), q[..., :3])

    def subspace(self, q: Array) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 6), dtype=q.dtype)
        S[..., 3:, :3] = exp3(-q[..., 3:])
        S[..., :3, 3:] = exp3_jacobian(q[..., 3:])
        return S

    def subspace_rate(self, q: Array, v: Array) -> Array:
        r, rdot = q[..., 3:], v[..., 3:]
        S = np.zeros((*q.shape[:-1], 6, 6), dtype=np.result_type(q, v))
        omega = (exp3_jacobian(r) @ rdot[..., None])[..., 0]
        S[..., 3:, :3] = -hat(omega) @ exp3(-r)
        S[..., :3, 3:] = exp3_jacobian_rate(r, rdot)
        return S
