"""The inverse of a velocity matrix on vectors and columns, whether the matrix is dense, sparse or never formed."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.errors import NotPositiveDefinite
from pliant.linear.base import Factor, Gramian, LinearSolver
from pliant.state import Counts

Matrix = Any  # a dense Array, a scipy.sparse matrix, or a `Solvable`


class Solved(NamedTuple):
    """x with A x = b, the relative residual, whether that is good enough, and the work."""

    x: Array
    residual: float
    converged: bool
    counts: Counts


@runtime_checkable
class Solvable(Protocol):
    """A velocity matrix that is never formed, only solved with, from a guess of the velocities."""

    def solve(self, b: Array, guess: Array) -> Solved: ...


class Inverse:
    """A^-1 for a matrix that is dense, sparse or never formed; what it took, and whether all solves went well."""

    def __init__(self, A: Matrix, linear: LinearSolver, analysis: Any = None) -> None:
        self.memory: Any = None
        self._factor: Factor | None = None
        self._apply: Callable[[Array], Array]
        self.converged, self.counts = True, Counts(0, 0, 0, 1)
        if isinstance(A, Solvable):
            self._apply, self.counts = self._iterated, Counts()
            self._A = A
        elif sp.issparse(A):
            factor = linear.factor(A if isinstance(A, sp.csr_matrix) else sp.csr_matrix(A), analysis)
            self._apply, self.memory, self._factor = factor.solve, factor.memory, factor
            self.counts = Counts(0, 0, int(factor.analysed), 1)
        else:
            self._apply = dense_inverse(A)

    def gram(self, B: sp.csr_matrix) -> Array:
        """B A^-1 B^T (m, m), symmetric, for B (m, n)."""
        if isinstance(self._factor, Gramian):
            self.counts += Counts(solves=B.shape[0])
            return self._factor.gram(B)
        W = B @ self.columns(np.ascontiguousarray(B.T.toarray()))
        return 0.5 * (W + W.T)

    def columns(self, b: Array) -> Array:
        """A^-1 b for b (n,) or (n, k)."""
        self.counts += Counts(solves=1 if b.ndim == 1 else b.shape[1])
        return self._apply(b)

    def _iterated(self, b: Array) -> Array:
        if b.ndim == 2:
            return np.stack([self._iterated(column) for column in b.T], axis=1) if b.shape[1] else b
        found = self._A.solve(b, np.zeros_like(b))
        self.converged = self.converged and found.converged
        self.counts += Counts(inner=found.counts.inner)
        return found.x


def dense_inverse(A: Array) -> Callable[[Array], Array]:
    """A^-1 of a dense positive definite matrix, by Cholesky."""
    if not np.isfinite(A).all():
        raise NotPositiveDefinite("the velocity matrix has an entry that is not finite", remedy="reduce h")
    try:
        factor = scipy.linalg.cho_factor(A, check_finite=False)
    except scipy.linalg.LinAlgError as error:
        raise NotPositiveDefinite(
            f"the velocity matrix is not positive definite: {error}",
            remedy="reduce h, or make destabilising forces explicit",
        ) from error
    return lambda b: scipy.linalg.cho_solve(factor, b, check_finite=False)
