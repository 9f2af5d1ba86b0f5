"""A sparse matrix with a low-rank correction, A + W diag(c) W^T, that passes for the sparse matrix everywhere.

Products include the correction; a direct solver factors the sparse part and solves with the whole by Woodbury:

    (A + W C W^T)^-1 b = y - X (I + C W^T X)^-1 C W^T y,    y = A^-1 b,  X = A^-1 W
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.linear.base import Factor, LinearSolver


class Corrected(sp.csr_matrix):
    """``A`` (N, N) with ``W (N, s)`` and ``c (s,)``; ``X`` = A^-1 W where it is known without solving.

    The entries (``data``) are those of A alone; products, sums and multiples carry the correction along.
    """

    W: Array | None = None
    c: Array | None = None
    X: Array | None = None

    def __matmul__(self, x: Any) -> Any:
        y = super().__matmul__(x)
        if self.W is None or self.c is None:
            return y
        Wx = self.W.T @ x
        return y + self.W @ (self.c * Wx if Wx.ndim == 1 else self.c[:, None] * Wx)

    def __mul__(self, factor: Any) -> Any:
        if not isinstance(factor, (int, float)):
            return self @ factor
        return corrected(self.sparse() * factor, self.W, None if self.c is None else self.c * factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: Any) -> Any:
        return self * (1.0 / divisor)

    def __neg__(self) -> "Corrected":
        return self * -1.0

    def __add__(self, other: Any) -> "Corrected":
        if not isinstance(other, Corrected) or other.W is None or other.c is None:
            plain = other.sparse() if isinstance(other, Corrected) else other
            return corrected(sp.csr_matrix(self.sparse() + plain), self.W, self.c)
        if self.W is None or self.c is None:
            return other + self
        A = sp.csr_matrix(self.sparse() + other.sparse())
        if self.W is other.W:
            return corrected(A, self.W, self.c + other.c)
        return corrected(A, np.hstack([self.W, other.W]), np.concatenate([self.c, other.c]))

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Corrected":
        return self + (-1.0 * other)

    def toarray(self, *args: Any, **options: Any) -> Array:
        A = self.sparse().toarray(*args, **options)
        return A if self.W is None or self.c is None else A + (self.W * self.c) @ self.W.T

    def copy(self) -> "Corrected":
        """A copy that may be shifted: X is forgotten."""
        return corrected(self.sparse().copy(), self.W, self.c)

    def sparse(self) -> sp.csr_matrix:
        """The sparse part, over the same arrays."""
        A = sp.csr_matrix(self.shape)
        A.data, A.indices, A.indptr = self.data, self.indices, self.indptr
        A.has_sorted_indices = True
        return A

    def factored(self, linear: LinearSolver, memory: Any = None) -> "CorrectedFactor":
        return CorrectedFactor(linear.factor(self.sparse(), memory), self)


def corrected(A: sp.csr_matrix, W: Array | None, c: Array | None, X: Array | None = None) -> Corrected:
    """A + W diag(c) W^T over A's own index arrays."""
    B = Corrected(A.shape)
    B.data, B.indices, B.indptr = A.data, A.indices, A.indptr
    B.has_sorted_indices = True
    B.W, B.c, B.X = W, c, X
    return B


class CorrectedFactor:
    """The factor of the sparse part and the small dense system of the correction."""

    def __init__(self, factor: Factor, A: Corrected) -> None:
        self._factor = factor
        self.memory, self.analysed = factor.memory, factor.analysed
        assert A.W is not None and A.c is not None
        self._W = A.W
        self._X = factor.solve(A.W) if A.X is None else A.X
        s = len(A.c)
        self._small = np.linalg.solve(np.eye(s) + A.c[:, None] * (A.W.T @ self._X), np.diag(A.c))

    @property
    def inner(self) -> int:
        return self._factor.inner

    def solve(self, b: Array) -> Array:
        y = self._factor.solve(b)
        return y - self._X @ (self._small @ (self._W.T @ y))
