"""The matrix of a programme with bounds, dense or sparse: products, and solves on free variables."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from pliant.arrays import Array, IntArray
from pliant.errors import NotPositiveDefinite
from pliant.linear.cholesky import Cholesky

BoolArray = NDArray[np.bool_]
Solve = Callable[[Array], Array]


class BoxMatrix(Protocol):
    """A symmetric positive semidefinite H (n, n)."""

    values: Any  # an array, or a sparse matrix
    diagonal: Array

    def multiply(self, x: Array) -> Array: ...

    def reach(self, x: Array) -> Array:
        """|H| x for x >= 0."""
        ...

    def factor(self, free: BoolArray, add: Array) -> Solve:
        """b -> (H + diag(add))^-1 b on the free variables, 0 on the others; raises where that is not definite."""
        ...


def box_matrix(H: "Array | BoxMatrix") -> BoxMatrix:
    return DenseBox(H) if isinstance(H, np.ndarray) else H


class DenseBox:
    def __init__(self, H: Array) -> None:
        self.values, self.diagonal = H, np.diag(H)

    def multiply(self, x: Array) -> Array:
        return self.values @ x

    def reach(self, x: Array) -> Array:
        return np.abs(self.values) @ x

    def factor(self, free: BoolArray, add: Array) -> Solve:
        index = np.flatnonzero(free)
        A = self.values[index[:, None], index]
        A.flat[:: len(index) + 1] += add[index]
        factor, bad = dpotrf(A, clean=False)  # SciPy's wrappers take longer than small programmes do
        if bad:
            raise NotPositiveDefinite("the free part of a box programme is not definite", where="DenseBox")

        def solve(b: Array) -> Array:
            x = np.zeros(len(free))
            x[index] = dpotrs(factor, b[index])[0]
            return x

        return solve


class SparseBox:
    """H as CSR with sorted indices; every factorization has H's pattern, so ``analysis`` (of `Cholesky`) serves all."""

    def __init__(self, H: sp.csr_matrix, analysis: Any = None) -> None:
        self.values, self.diagonal, self.analysis = H, H.diagonal(), analysis
        self._part = sp.csr_matrix((H.data, H.indices, H.indptr), shape=H.shape)  # refilled by every factorization

    def multiply(self, x: Array) -> Array:
        return np.asarray(self.values @ x)

    def reach(self, x: Array) -> Array:
        H = self.values
        return np.asarray(sp.csr_matrix((np.abs(H.data), H.indices, H.indptr), shape=H.shape) @ x)

    def factor(self, free: BoolArray, add: Array) -> Solve:
        H = self.values
        self._part.data = _masked(H.data, H.indices, H.indptr, free, add, float(self.diagonal.max()) + 1e-300)
        factor = Cholesky().factor(self._part, self.analysis)
        self.analysis = factor.memory
        return lambda b: factor.solve(np.where(free, b, 0.0))


@njit(cache=True, error_model="numpy")
def _masked(data: Array, indices: IntArray, indptr: IntArray, free: BoolArray, add: Array, held: float) -> Array:
    """The values of H + diag(add) on the free variables, of ``held`` times the identity on the others."""
    out = np.zeros_like(data)
    for i in range(len(free)):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if free[i] and free[j]:
                out[k] = data[k] + (add[i] if i == j else 0.0)
            elif i == j:
                out[k] = held
    return out
