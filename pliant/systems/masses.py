"""The masses of vertices: one number for each, or a consistent matrix."""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import SceneError
from pliant.linear.base import Factor
from pliant.linear.cholesky import Cholesky


class Masses:
    """M over the d coordinates of every vertex, of which ``free`` move: from (n,) [kg] or a consistent matrix (n, n).

    ``nodal (n d,)`` [kg] are the sums of its rows; ``inverse`` is 1 / nodal, zero where a coordinate is prescribed.
    """

    def __init__(self, mass: Array | sp.csr_matrix, d: int, free: IntArray) -> None:
        self.matrix = sp.kron(mass, sp.identity(d), format="csr") if sp.issparse(mass) else _diagonal(mass, d)
        self.lumped = self.matrix.nnz == self.matrix.shape[0]
        self.nodal = np.asarray(self.matrix.sum(axis=1)).ravel()
        bad = np.flatnonzero(~(self.nodal > 0.0))
        if len(bad):
            raise SceneError(
                f"vertex {bad[0] // d} has mass {self.nodal[bad[0]]:g} kg",
                where="mass",
                remedy="every vertex needs a positive mass: give a density > 0 and remove unreferenced vertices",
            )
        self._free = free
        self.inverse = np.zeros_like(self.nodal)
        self.inverse[free] = 1.0 / self.nodal[free]

    def times(self, a: Array) -> Array:
        """M a."""
        return self.nodal * a if self.lumped else self.matrix @ a

    def solve(self, f: Array) -> Array:
        """M^-1 f on the free coordinates, zero on the prescribed ones."""
        if self.lumped:
            return self.inverse * f
        a = np.zeros_like(f)
        a[self._free] = self._factor.solve(f[self._free])
        return a

    @cached_property
    def _factor(self) -> Factor:
        return Cholesky().factor(sp.csr_matrix(self.matrix[self._free][:, self._free]))


def _diagonal(m: Array, d: int) -> sp.csr_matrix:
    return sp.csr_matrix(sp.diags(np.repeat(np.asarray(m, dtype=np.float64), d)))
