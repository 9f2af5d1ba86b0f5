"""Two joints in series with no body between them."""

from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array
from pliant.articulated.joints.base import Joint
from pliant.articulated.se3 import ad, adjoint, inverse


@dataclass(frozen=True)
class Composite:
    """Two joints in series, which may be composites themselves: Q = Q1 Q2, S = [A(Q2^-1) S1, S2]."""

    first: Joint
    second: Joint

    @property
    def dof(self) -> int:
        return self.first.dof + self.second.dof

    @property
    def exponential(self) -> tuple[int, ...]:
        return self.first.exponential + tuple(self.first.dof + i for i in self.second.exponential)

    def transform(self, q: Array) -> Array:
        n = self.first.dof
        return self.first.transform(q[..., :n]) @ self.second.transform(q[..., n:])

    def subspace(self, q: Array) -> Array:
        n = self.first.dof
        A = adjoint(inverse(self.second.transform(q[..., n:])))
        return np.concatenate([A @ self.first.subspace(q[..., :n]), self.second.subspace(q[..., n:])], axis=-1)

    def subspace_rate(self, q: Array, v: Array) -> Array:
        n = self.first.dof
        A = adjoint(inverse(self.second.transform(q[..., n:])))
        S2 = self.second.subspace(q[..., n:])
        twist = (S2 @ v[..., n:, None])[..., 0]
        first = A @ self.first.subspace_rate(q[..., :n], v[..., :n]) - ad(twist) @ A @ self.first.subspace(q[..., :n])
        return np.concatenate([first, self.second.subspace_rate(q[..., n:], v[..., n:])], axis=-1)
