"""SciPy's SuperLU as the Cholesky of last resort: always there, several times slower, no buffers to refill.

Gaussian elimination without pivoting of a symmetric matrix gives pivots that are all positive exactly when the matrix
is positive definite, so the diagonal of U decides.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from pliant.arrays import Array
from pliant.linear.ordering import fill_reducing, group_graph, groups


class SuperLU:
    """The LU factor of a symmetric matrix in our own ordering; the rest of the analysis is repeated by the library."""

    name = "superlu"

    def __init__(self, indptr: np.ndarray, indices: np.ndarray, threads: int = 1) -> None:
        del threads  # the library has one
        self.N = len(indptr) - 1
        self.pattern = (indptr, indices)
        offset = groups(indptr, indices)
        order = fill_reducing(*group_graph(indptr, indices, offset), np.diff(offset))
        self.order = np.concatenate([np.arange(offset[g], offset[g + 1]) for g in order])
        numbered = sp.csr_matrix((np.arange(len(indices)), indices, indptr), shape=(self.N, self.N))
        self.permuted = sp.csc_matrix(numbered[self.order][:, self.order])
        self.permuted.sort_indices()

    def twin(self) -> "SuperLU":
        """The same pattern with a factor of its own."""
        return SuperLU(*self.pattern)

    def gather(self, data: Array) -> Array:
        """The values by columns of the permuted matrix, out of those of the full CSR matrix."""
        return data[self.permuted.data]

    def refactor(self, values: Array) -> int:
        """Factor the permuted matrix with these ``values``; the row of a bad pivot, or -1."""
        A = sp.csc_matrix((values, self.permuted.indices, self.permuted.indptr), shape=(self.N, self.N))
        options = {"SymmetricMode": True, "Equil": False}
        try:
            self.lu = splu(A, permc_spec="NATURAL", diag_pivot_thresh=0.0, options=options)
        except RuntimeError:  # an exactly zero pivot; the library does not say where
            return int(self.order[-1])
        swapped = self.lu.perm_r != self.lu.perm_c
        bad = np.flatnonzero(swapped | ~(self.lu.U.diagonal()[self.lu.perm_c] > 0))
        return int(self.order[bad[np.argmin(self.lu.perm_c[bad])]]) if len(bad) else -1

    def solve(self, values: Array, b: Array) -> Array:
        """x (N, k) for b (N, k), column by column: several times faster than the library's own loop over columns."""
        del values
        x = np.empty(b.shape)
        for k in range(b.shape[1]):
            x[self.order, k] = self.lu.solve(b[self.order, k])
        return x

    @property
    def nnz(self) -> int:
        """Entries of L."""
        return int(self.lu.L.nnz)
