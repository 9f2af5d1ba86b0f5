"""Motion on a spline patch of frames [Lee2008]."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.joints.bspline import blend
from pliant.articulated.se3 import ad, adjoint, exp6
from pliant.errors import SceneError

_TWISTS = np.roll(np.eye(6), 3, axis=0)  # translations x, y, z, then rotations x, y, z
_ORDERS = (((2, 0), (1, 1)), ((1, 1), (0, 2)))  # derivative orders in (q1, q2) of d2/dq_i dq_j


@dataclass(frozen=True)
class SplineSurface:
    """Sliding on a spline surface, Q = prod_k exp(e_k c_k(q)): six motions by one bicubic B-spline patch.

    ``controls (..., 4, 4, 6)`` are the coordinates (x, y, z, rotations about x, y, z); the first index runs with q2,
    the second with q1, both in [0, 1].
    """

    controls: Array
    dof: ClassVar[int] = 2
    exponential: ClassVar[tuple[int, ...]] = ()

    def __post_init__(self) -> None:
        c = np.asarray(self.controls, dtype=float)
        if c.shape[-3:] != (4, 4, 6):
            raise SceneError(f"controls of shape {c.shape}", where="SplineSurface", remedy="give one patch (4, 4, 6)")
        object.__setattr__(self, "controls", c)

    def _coordinates(self, q: Array, n1: int = 0, n2: int = 0) -> Array:
        """d^(n1+n2) c / dq1^n1 dq2^n2 (..., 6)."""
        return np.einsum("...i,...ijk,...j->...k", blend(q[..., 1], n2), self.controls, blend(q[..., 0], n1))

    def transform(self, q: Array) -> Array:
        c = self._coordinates(q)
        Q = exp6(_TWISTS[0] * c[..., :1])
        for k in range(1, 6):
            Q = Q @ exp6(_TWISTS[k] * c[..., k, None])
        return Q

    def _derivatives(self, q: Array) -> tuple[Array, Array]:
        """S (..., 6, 2) and dS_i/dq_j (..., 6, 2, 2) by the recursion of `SplineCurve` with partial derivatives."""
        c, first = self._coordinates(q), (self._coordinates(q, 1, 0), self._coordinates(q, 0, 1))
        second = [[self._coordinates(q, *orders) for orders in row] for row in _ORDERS]
        S = np.zeros((*q.shape[:-1], 6, 2), dtype=q.dtype)
        dS = np.zeros((*q.shape[:-1], 6, 2, 2), dtype=q.dtype)
        for k in range(6):
            e = _TWISTS[k]
            A = adjoint(exp6(-e * c[..., k, None]))
            for i in range(2):
                bracket = ad(S[..., i]) @ e
                for j in range(2):
                    inner = dS[..., i, j] + bracket * first[j][..., k, None]
                    dS[..., i, j] = e * second[i][j][..., k, None] + (A @ inner[..., None])[..., 0]
                S[..., i] = e * first[i][..., k, None] + (A @ S[..., i, None])[..., 0]
        return S, dS

    def subspace(self, q: Array) -> Array:
        return self._derivatives(q)[0]

    def subspace_rate(self, q: Array, v: Array) -> Array:
        return (self._derivatives(q)[1] @ v[..., None, :, None])[..., 0]
