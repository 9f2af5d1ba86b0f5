"""Spring networks: W = sum k/2 (L - l0)^2 with the tangent split into material and geometric parts.

With s = x_i - x_j, L = |s|, S = s s^T / L^2, the pair block of the Hessian is

    material   k S                          always positive semidefinite
    geometric  k (1 - l0 / L) (I - S)       negative in compression, dropped there by psd=True

[Chen2019, Eq. 5.5-5.7, corrected]
"""

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.energies.discrete_gradient import spring_gradient
from pliant.errors import SceneError
from pliant.kernels import springs as kernels
from pliant.pattern_making import block_pattern


class Springs:
    """Springs ``edges (m, 2)`` of stiffness ``k`` [N/m] between vertices of dimension d = X.shape[1].

    ``rest`` lengths [m] default to the distances in ``X (n, d)``.
    """

    internal: ClassVar[bool] = True

    def __init__(
        self, X: Array, edges: IntArray, k: float | Array, *, rest: Array | None = None, name: str = "springs"
    ) -> None:
        self.name = name
        n, d = X.shape
        self.edges = np.ascontiguousarray(edges, dtype=np.int64)
        lengths = np.linalg.norm(X[self.edges[:, 0]] - X[self.edges[:, 1]], axis=1)
        self.rest = np.array(np.broadcast_to(lengths if rest is None else rest, lengths.shape), dtype=np.float64)
        self.k = np.array(np.broadcast_to(k, lengths.shape), dtype=np.float64)
        bad = np.flatnonzero(~(np.isfinite(self.k) & (self.k > 0)))
        if len(bad):
            raise SceneError(
                f"spring {bad[0]} has stiffness {self.k[bad[0]]}",
                where="Springs.k",
                remedy="stiffness must be positive [N/m]",
            )
        bad = np.flatnonzero(~(np.isfinite(self.rest) & (self.rest >= 0)))
        if len(bad):
            raise SceneError(f"spring {bad[0]} has rest length {self.rest[bad[0]]}", where="Springs.rest")
        self._shape = (n, d)
        self._pattern, self._slots = block_pattern(self.edges, n, d)

    def value(self, x: Array) -> float:
        return float(kernels.value(x.reshape(self._shape), self.edges, self.rest, self.k))

    def gradient(self, x: Array) -> Array:
        return kernels.gradient(x.reshape(self._shape), self.edges, self.rest, self.k).ravel()

    def between(self, x0: Array, x1: Array) -> Array:
        """A gradient between two shapes that does the work W(x1) - W(x0) and turns nothing."""
        before, after = x0.reshape(self._shape), x1.reshape(self._shape)
        return spring_gradient(before, after, self.edges, self.k, self.rest).ravel()

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        return self._assemble(x, geometric=True, psd=psd)

    def material_hessian(self, x: Array) -> sp.csr_matrix:
        """The part along the springs; always positive semidefinite [Chen2019, Eq. 5.7]."""
        return self._assemble(x, geometric=False, psd=False)

    def _assemble(self, x: Array, *, geometric: bool, psd: bool) -> sp.csr_matrix:
        blocks = kernels.blocks(x.reshape(self._shape), self.edges, self.rest, self.k, geometric, psd)
        return self._pattern.matrix(kernels.scatter(blocks, self._slots, self._pattern.nnz))
