"""SciPy's SuperLU as the Cholesky of last resort: always there, several times slower, no buffers to refill.

Gaussian elimination without pivoting of a symmetric matrix gives pivots that are all positive exactly when the matrix
is positive definite, so the diagonal of U decides.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from pliant.arrays import Array


class SuperLU:
    """The LU factor of a symmetric matrix; every refactorization repeats the analysis inside the library."""

    name = "superlu"

    def __init__(self, indptr: np.ndarray, indices: np.ndarray, threads: int = 1) -> None:
        del threads  # the library has one
        self.N = len(indptr) - 1
        self.pattern = (indptr, indices)

    def twin(self) -> "SuperLU":
        """The same pattern with a factor of its own."""
        return SuperLU(*self.pattern)

    def gather(self, data: Array) -> Array:
        """A copy of the values."""
        return data.copy()

    def refactor(self, values: Array) -> int:
        """Factor the matrix with these ``values``; the CSR arrays of a symmetric matrix are its CSC arrays."""
        indptr, indices = self.pattern
        A = sp.csc_matrix((values, indices, indptr), shape=(self.N, self.N))
        options = {"SymmetricMode": True, "Equil": False}
        try:
            self.lu = splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
        except RuntimeError:  # an exactly zero pivot; the library does not say where, an indefinite row does
            return self.N - 1
        swapped = self.lu.perm_r != self.lu.perm_c
        bad = np.flatnonzero(swapped | ~(self.lu.U.diagonal()[self.lu.perm_c] > 0))
        return int(bad[np.argmin(self.lu.perm_c[bad])]) if len(bad) else -1

    def solve(self, values: Array, b: Array) -> Array:
        """x (N, k) for b (N, k), column by column: several times faster than the library's own loop over columns."""
        del values
        return np.stack([self.lu.solve(np.ascontiguousarray(column)) for column in b.T], axis=1)

    @property
    def nnz(self) -> int:
        """Entries of L."""
        return int(self.lu.L.nnz)
