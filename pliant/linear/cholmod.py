"""CHOLMOD through scikit-sparse, where the user has built it (there is no wheel)."""

from importlib.util import find_spec

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.errors import MissingDependency


class Cholmod:
    """The supernodal CHOLMOD factor of one pattern, ordered by METIS where the library has it."""

    name = "cholmod"

    def __init__(self, indptr: np.ndarray, indices: np.ndarray, threads: int = 1) -> None:
        del threads  # CHOLMOD runs on the threads of the BLAS it was built with
        if not available():
            raise MissingDependency("scikit-sparse is not installed", remedy="pip install 'scikit-sparse<0.5'")
        from sksparse.cholmod import analyze

        self.N = len(indptr) - 1
        self.pattern = (indptr, indices)
        self.symbolic = analyze(self._matrix(np.ones(len(indices))), mode="supernodal", ordering_method="best")

    def twin(self) -> "Cholmod":
        """The same pattern with a factor of its own."""
        return Cholmod(*self.pattern)

    def gather(self, data: Array) -> Array:
        """A copy of the values."""
        return data.copy()

    def refactor(self, values: Array) -> int:
        """Numeric factorization of the matrix with these ``values`` into the buffers of the analysis."""
        from sksparse.cholmod import CholmodNotPositiveDefiniteError

        try:
            self.symbolic.cholesky_inplace(self._matrix(values))
        except CholmodNotPositiveDefiniteError as error:
            column = int(getattr(error, "column", 0))
            return int(self.symbolic.P()[column])
        return -1

    def solve(self, values: Array, b: Array) -> Array:
        """x (N, k) for b (N, k)."""
        del values
        return self.symbolic(b)

    @property
    def nnz(self) -> int:
        """Entries of L."""
        return int(self.symbolic.L().nnz)

    def _matrix(self, values: Array) -> sp.csc_matrix:
        indptr, indices = self.pattern
        return sp.csc_matrix((values, indices, indptr), shape=(self.N, self.N))


def available() -> bool:
    """Whether scikit-sparse with the interface of version 0.4 is installed."""
    if find_spec("sksparse") is None:
        return False
    from sksparse import cholmod

    return hasattr(cholmod, "analyze")
