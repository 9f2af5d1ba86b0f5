"""Bending as a distance: the cotangent stencil s = sum_i k_i x_i of a hinge keeps its rest length.

    W = sum over hinges  w/2 (|s| - r)^2,      w = 3 beta / (2 (A_1 + A_2)),   r = |s| at rest

For a sheet that is flat at rest r = 0, the Hessian is constant, and W is `QuadraticBending`. [Bouaziz2014]
"""

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.energies.bending import cotangent_stencils, hinges
from pliant.errors import MaterialError
from pliant.pattern_making import block_pattern

FLAT = 1e-9  # of the longest stencil's arms: below this a hinge counts as flat at rest


class HingeBending:
    """Bending of the triangles ``faces (m, 3)`` over rest positions ``X (n, 3)`` [m], flat or not; ``beta`` [N m]."""

    internal: ClassVar[bool] = True

    def __init__(self, X: Array, faces: IntArray, *, beta: float, n: int | None = None, name: str = "bending") -> None:
        if not (np.isfinite(beta) and beta > 0):
            raise MaterialError(f"bending stiffness beta = {beta}", where="HingeBending.beta", remedy="use beta > 0")
        self.name = name
        self._n = len(X) if n is None else n
        self.hinges = hinges(np.asarray(faces, dtype=np.int64))  # (h, 4)
        self.stencils, area = cotangent_stencils(X, self.hinges)  # (h, 4)
        self.weights = 1.5 * beta / area  # (h,) [N/m]
        length = np.linalg.norm(self._stretch(X.ravel()), axis=1)
        size = np.abs(self.stencils).sum(axis=1) * np.linalg.norm(np.ptp(X, axis=0))
        self.rest = np.where(length > FLAT * size, length, 0.0)  # (h,) [m]
        self._pattern, self._slots = block_pattern(self.hinges, self._n, 3)

    def _stretch(self, x: Array) -> Array:
        """s (h, 3) [m]."""
        return np.einsum("hi,hid->hd", self.stencils, x.reshape(-1, 3)[self.hinges])

    def value(self, x: Array) -> float:
        length = np.linalg.norm(self._stretch(x), axis=1)
        return 0.5 * float(self.weights @ (length - self.rest) ** 2)

    def gradient(self, x: Array) -> Array:
        s = self._stretch(x)
        length = np.maximum(np.linalg.norm(s, axis=1), 1e-300)
        pull = (self.weights * (1.0 - self.rest / length))[:, None] * s
        parts = (self.stencils[:, :, None] * pull[:, None, :]).ravel()
        dofs = (3 * self.hinges[:, :, None] + np.arange(3)).ravel()
        g = np.zeros(3 * self._n)
        np.add.at(g, dofs, parts)
        return g

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        s = self._stretch(x)
        length = np.maximum(np.linalg.norm(s, axis=1), 1e-300)
        u = s / length[:, None]
        across = 1.0 - self.rest / length
        if psd:
            across = np.maximum(across, 0.0)
        along = np.where(self.rest > 0.0, 1.0 - across, 0.0)
        B = across[:, None, None] * np.eye(3) + along[:, None, None] * u[:, :, None] * u[:, None, :]
        pairs = self.stencils[:, :, None] * self.stencils[:, None, :]
        blocks = (self.weights[:, None, None] * pairs)[..., None, None] * B[:, None, None]
        data = np.zeros(self._pattern.nnz)
        np.add.at(data, self._slots.ravel(), blocks.ravel())
        return self._pattern.matrix(data)

    def laplacian(self, x: Array) -> sp.csr_matrix:
        """sum w k k^T (n, n): the constant matrix that Projective Dynamics puts in place of the Hessian."""
        rows = np.repeat(self.hinges, 4, axis=1).ravel()
        columns = np.tile(self.hinges, (1, 4)).ravel()
        values = (self.weights[:, None, None] * self.stencils[:, :, None] * self.stencils[:, None, :]).ravel()
        return sp.csr_matrix((values, (rows, columns)), shape=(self._n, self._n))
