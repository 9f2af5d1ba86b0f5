"""Free motion in space: rotate, then translate along the turned axes."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.se3 import exp3, exp3_jacobian, exp3_jacobian_rate, frame, hat


@dataclass(frozen=True)
class FreeST:
    """Free motion in space: Q = exp[r] trans(p) with q = (r, p), S = [(S(r), -[p] S(r)), (0, I)]; see `Free3D`."""

    dof: ClassVar[int] = 6
    exponential: ClassVar[tuple[int, ...]] = (0,)

    def transform(self, q: Array) -> Array:
        R = exp3(q[..., :3])
        return frame(R, (R @ q[..., 3:, None])[..., 0])

    def subspace(self, q: Array) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 6), dtype=q.dtype)
        S[..., :3, :3] = exp3_jacobian(q[..., :3])
        S[..., 3:, :3] = -hat(q[..., 3:]) @ S[..., :3, :3]
        S[..., 3:, 3:] = np.eye(3)
        return S

    def subspace_rate(self, q: Array, v: Array) -> Array:
        S = np.zeros((*q.shape[:-1], 6, 6), dtype=np.result_type(q, v))
        rate = exp3_jacobian_rate(q[..., :3], v[..., :3])
        S[..., :3, :3] = rate
        S[..., 3:, :3] = -hat(v[..., 3:]) @ exp3_jacobian(q[..., :3]) - hat(q[..., 3:]) @ rate
        return S
