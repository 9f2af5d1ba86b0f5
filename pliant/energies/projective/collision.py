"""Collision with a plane, the squared distance to the half space above it: W = sum k/2 min(0, (x - c).n)^2.

[Bouaziz2014]
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import SceneError


class PlaneCollision:
    """``vertices`` of ``n`` stay above the plane through ``point`` with unit ``normal``; stiffness ``k`` [N/m] each.

    ``rows`` says which vertices stand in the global matrix of Projective Dynamics: "permanent" keeps all of them (one
    factorization for the whole run, slower convergence), "active" those in contact (refactors when that set changes).
    """

    def __init__(
        self,
        n: int,
        vertices: IntArray,
        point: Sequence[float],
        normal: Sequence[float],
        k: float,
        *,
        rows: Literal["permanent", "active"] = "permanent",
        name: str = "collision",
    ) -> None:
        self.name, self.k = name, float(k)
        self.vertices = np.asarray(vertices, dtype=np.int64)
        self.point, direction = np.asarray(point, dtype=np.float64), np.asarray(normal, dtype=np.float64)
        length = float(np.linalg.norm(direction))
        if not (np.isfinite(length) and length > 0.0):
            raise SceneError(f"normal is {tuple(normal)}", where="PlaneCollision.normal", remedy="give a direction")
        if not (np.isfinite(self.k) and self.k > 0.0):
            raise SceneError(f"stiffness {k}", where="PlaneCollision.k", remedy="it must be positive [N/m]")
        self.normal = direction / length
        self._rows, self._shape = rows, (n, len(direction))
        d = len(direction)
        self._dofs = d * self.vertices[:, None] + np.arange(d)
        i = np.repeat(self._dofs, d, axis=1).ravel()
        j = np.tile(self._dofs, (1, d)).ravel()
        order = np.lexsort((j, i))
        full = sp.csr_matrix((np.ones(len(i)), (i, j)), shape=(n * d, n * d))
        self._indptr, self._indices, self._order = full.indptr, full.indices, order

    def depth(self, x: Array) -> Array:
        """min(0, (x - c).n) of every vertex [m], negative in contact."""
        return np.minimum((x.reshape(self._shape)[self.vertices] - self.point) @ self.normal, 0.0)

    def value(self, x: Array) -> float:
        return 0.5 * self.k * float((self.depth(x) ** 2).sum())

    def gradient(self, x: Array) -> Array:
        g = np.zeros_like(x)
        g[self._dofs] = self.k * self.depth(x)[:, None] * self.normal
        return g

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        touching = (self.depth(x) < 0.0).astype(np.float64)
        blocks = self.k * touching[:, None, None] * np.outer(self.normal, self.normal)
        H = sp.csr_matrix((len(x), len(x)))
        H.data, H.indices, H.indptr = blocks.ravel()[self._order], self._indices, self._indptr
        H.has_sorted_indices = H.has_canonical_format = True
        return H

    def laplacian(self, x: Array) -> sp.csr_matrix:
        """k on the diagonal of the vertices whose rows stand in the global matrix at x (n, n)."""
        rows = self.vertices if self._rows == "permanent" else self.vertices[self.depth(x) < 0.0]
        diagonal = np.zeros(self._shape[0])
        diagonal[rows] = self.k
        return sp.csr_matrix(sp.diags_array(diagonal))
