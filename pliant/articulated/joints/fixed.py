"""No relative motion."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array


@dataclass(frozen=True)
class Fixed:
    """Welds the child to its parent: Q = I."""

    dof: ClassVar[int] = 0
    exponential: ClassVar[tuple[int, ...]] = ()

    def transform(self, q: Array) -> Array:
        return np.broadcast_to(np.eye(4, dtype=q.dtype), (*q.shape[:-1], 4, 4))

    def subspace(self, q: Array) -> Array:
        return np.zeros((*q.shape[:-1], 6, 0), dtype=q.dtype)

    def subspace_rate(self, q: Array, v: Array) -> Array:
        return self.subspace(q)
