"""A coarse space of rigid motions: groups of neighbouring vertices that move and turn as one.

    B = D^-1 + P (P^T A P)^-1 P^T

P has six columns per group, three translations and three rotations about its center: the slow modes of an elastic
body, which block Jacobi hardly sees, are nearly combinations of them. P^T A P is small and dense.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.cuda import _coarse_kernels as kernels
from pliant.cuda._coarse_kernels import MODES, WIDE
from pliant.cuda.device import arrays, to_device, triangular_inverse
from pliant.cuda.matrix import Matrix
from pliant.kernels.layout import morton

GROUPS = 320
"""At most: the inverse of the 1,920 x 1,920 matrix then stays in the second-level cache of the device."""


@dataclass(frozen=True, eq=False)
class CoarseSpace:
    """Groups of vertices: ``members[first[a]:first[a + 1]]`` of group a, ``offset (3n,)`` from their centers."""

    count: int
    first: Any
    members: Any
    group: Any
    offset: Any


def coarse_space(X: Array, groups: int = GROUPS) -> CoarseSpace:
    """Groups of equally many vertices along a space-filling curve; offsets in units of a group's own size."""
    n = len(X)
    count = max(1, min(groups, n // 4))
    members = morton(X)
    first = np.linspace(0, n, count + 1).astype(np.int64)
    group = np.empty(n, dtype=np.int32)
    group[members] = np.repeat(np.arange(count), np.diff(first))
    centers = np.stack([np.bincount(group, X[:, k], count) for k in range(3)], axis=1) / np.diff(first)[:, None]
    offset = X - centers[group]
    size = np.sqrt(np.bincount(group, (offset**2).sum(axis=1), count) / np.diff(first))
    offset /= np.maximum(size, 1e-300)[group][:, None]
    return CoarseSpace(
        count,
        to_device(first),
        to_device(members.astype(np.int32)),
        to_device(group),
        to_device(offset.ravel()),
    )


class Coarse:
    """The correction P (P^T A P)^-1 P^T for the matrix in a workspace."""

    def __init__(self, space: CoarseSpace, A: Matrix) -> None:
        xp = arrays()
        self.space, self.A, size = space, A, MODES * space.count
        self.K, self.inverse = xp.zeros((size, size)), xp.zeros((size, size))
        self.b, self.y = xp.zeros(size), xp.zeros(size)

    def load(self) -> bool:
        """Build and invert P^T A P; False where it is not positive definite."""
        xp, s, A = arrays(), self.space, self.A
        self.K[...] = 0.0
        arguments = (s.first, s.members, s.group, s.offset, A.mask, A.rows.start, A.rows.columns, A.values, self.K)
        kernels.projected[s.count, MODES * MODES](*arguments)
        diagonal = xp.diagonal(self.K).copy()
        top = float(diagonal.max())
        if not float(diagonal.min()) >= 0.0:
            return False
        # modes that nothing moves (pinned groups), and ones that are not independent (groups on a line)
        K = self.K + xp.diag(xp.where(diagonal <= 1e-12 * top, top, 1e-12 * diagonal))
        try:
            L = xp.linalg.cholesky(K)
        except (np.linalg.LinAlgError, ValueError):
            return False
        if not bool(xp.isfinite(L).all()):
            return False
        half = triangular_inverse(L)
        self.inverse[...] = half.T @ half
        return True

    def add(self, r: Any, z: Any, stream: Any) -> None:
        """z += P (P^T A P)^-1 P^T r"""
        s, A = self.space, self.A
        kernels.restricted[s.count, WIDE, stream](s.first, s.members, s.offset, A.mask, r, self.b)
        kernels.dense_product[len(self.b), WIDE, stream](self.inverse, self.b, self.y)
        n = len(s.group)
        kernels.prolonged[-(-n // WIDE), WIDE, stream](s.group, s.offset, A.mask, self.y, z)
