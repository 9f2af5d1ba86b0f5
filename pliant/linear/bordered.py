"""A sparse symmetric definite matrix with a border of few dense rows and columns that need be neither.

    [S  C] [x]   [b]           S = L L^T,   Z = T - (L^-1 D^T)^T (L^-1 C)
    [D  T] [y] = [c]           y = Z^-1 (c - (L^-1 D^T)^T L^-1 b),   x = L^-T (L^-1 b - L^-1 C y)

S is what meshes have: its pattern outlives contacts with what moves on joints, and so does its analysis. The border are
joints and multipliers; its Schur complement Z is small and dense. It is factored by LU, a large S in single precision;
solutions are refined with the whole matrix in double. Where that does not help, S is factored in double; where S is not
definite, or the result still does not solve the whole system, `LU` of everything takes over. If the whole is known to
be symmetric definite it is Cholesky in double everywhere, and what is not definite is refused.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

from pliant.arrays import Array, IntArray
from pliant.errors import NotPositiveDefinite
from pliant.linear.automatic import REFINED
from pliant.linear.base import Factor, Halved, LinearSolver
from pliant.linear.cholesky import Cholesky, squared
from pliant.linear.inverse import dense_inverse
from pliant.linear.lowrank import Corrected
from pliant.linear.lu import LU, SMALL, DenseLU
from pliant.pattern import Pattern, taken

Apply = Callable[[Array], Array]
WIDE = 120  # rows of a border: beyond, LU of everything costs as much
GOOD = 1e-10  # relative residual of a solve; more is refined
BAD = 1e-6  # relative residual that is good enough where refinements gain no more
GAIN = 0.1  # a refinement that leaves more of the residual than this gains no more
SINGLE = Cholesky("single")


@dataclass(frozen=True, eq=False)
class Bordered:
    """``linear`` for all rows but ``border (k,)``, a dense factor of their Schur complement.

    Where that does not pay it is plain `LU`, or ``linear`` for matrices that are ``definite``. None is Cholesky, in
    single precision for large matrices that are not definite.
    """

    border: IntArray
    linear: LinearSolver | None = None
    definite: bool = False

    def factor(self, A: Any, memory: Any = None) -> Any:
        if isinstance(A, Corrected) and self.definite:
            return A.factored(self, memory)  # type: ignore[return-value]
        n, linear = A.shape[0], self.linear
        if n < SMALL or not 0 < len(self.border) <= min(WIDE, n // 4):
            return (linear or Cholesky()).factor(A, memory) if self.definite else LU().factor(A)
        if self.definite:
            return BorderedFactor(A, self.border, linear or Cholesky(), memory, definite=True)
        try:
            return BorderedFactor(A, self.border, linear or (SINGLE if n >= REFINED else Cholesky()), memory)
        except NotPositiveDefinite:
            return _whole(A, memory)


def _whole(A: sp.csr_matrix, memory: Any) -> Factor:
    """LU of everything, which keeps the analysis for the next time."""
    factor = LU().factor(A)
    factor.memory = memory
    return factor


class BorderedFactor:
    """The factors of S and Z. Where the whole is ``definite``, solutions are neither checked nor refined."""

    inner = 0

    def __init__(
        self,
        A: sp.csr_matrix,
        border: IntArray,
        linear: LinearSolver,
        memory: Any = None,
        definite: bool = False,
    ) -> None:
        self._A, self._border, self._linear = A, border, linear
        self._rest, S, C, D, T = _blocks(A, border)
        factor = linear.factor(S, memory)
        self._factor, self.memory, self.analysed = factor, factor.memory, factor.analysed
        self._definite = definite
        self._columns = np.flatnonzero(C.any(axis=0))
        self._rows = self._columns if definite else np.flatnonzero(D.any(axis=1))
        self._half, self._back = _halves(factor)
        self._Y, self._V = self._sides(C[:, self._columns], D[self._rows].T)
        T[np.ix_(self._rows, self._columns)] -= self._V.T @ self._Y
        self._inverse = dense_inverse(T) if definite else DenseLU(T).solve
        self._whole: Factor | None = None

    def _sides(self, C: Array, D: Array) -> tuple[Array, Array]:
        """(Y, V) with V^T Y = D^T S^-1 C, found together: few columns take as long as twice as many."""
        if not isinstance(self._factor, Halved):
            return self._half(C), D
        if self._definite:
            Y = self._half(C)
            return Y, Y
        both = self._half(np.hstack([C, D]))
        return both[:, : C.shape[1]], both[:, C.shape[1] :]

    def solve(self, b: Array) -> Array:
        """x with A x = b, for b (N,) or (N, k)."""
        if self._whole is not None:
            return self._whole.solve(b)
        x, before = self._solve(b), np.inf
        if self._definite:
            return x
        size = max(float(np.linalg.norm(b)), 1e-300)
        while True:
            r = b - self._A @ x
            left = float(np.linalg.norm(r))
            if left <= GOOD * size or GAIN * before < left <= BAD * size:
                return x
            if not left <= GAIN * before:
                break
            x, before = x + self._solve(r), left
        single = self._linear == SINGLE
        self._whole = Bordered(self._border, Cholesky()).factor(self._A) if single else _whole(self._A, self.memory)
        return self._whole.solve(b)

    def _solve(self, b: Array) -> Array:
        x = np.empty(b.shape)
        if not len(self._columns) and not len(self._rows):  # nothing touches
            x[self._rest], x[self._border] = self._factor.solve(b[self._rest]), self._inverse(b[self._border])
            return x
        y, c = self._half(b[self._rest]), b[self._border]
        c[self._rows] -= self._V.T @ y
        z = self._inverse(c)
        x[self._rest], x[self._border] = self._back(y - self._Y @ z[self._columns]), z
        return x

    def gram(self, B: sp.csr_matrix) -> Array:
        """B A^-1 B^T = |L^-1 B_S^T|^2 + R^T Z^-1 R, R = B_T^T - Y^T L^-1 B_S^T, where the whole is definite."""
        if not isinstance(self._factor, Halved) or not self._definite:
            W = B @ self.solve(B.T.toarray())
            return 0.5 * (W + W.T)
        Y, chosen = self._factor.forward_rows(taken(B, None, self._rest))
        R = taken(B, None, self._border).toarray().T
        R[np.ix_(self._rows, chosen)] -= self._V.T @ Y
        W = R.T @ self._inverse(R)
        return squared(Y, chosen) + 0.5 * (W + W.T)


def _halves(factor: Factor) -> tuple[Apply, Apply]:
    """(f, g) with S^-1 = g f: halves of S, else the whole and nothing."""
    if isinstance(factor, Halved):
        return factor.forward, factor.backward
    return factor.solve, lambda y: y


def _blocks(A: sp.csr_matrix, border: IntArray) -> tuple[IntArray, sp.csr_matrix, Array, Array, Array]:
    """The other rows, S, C, D, T."""
    n, k = A.shape[0] - len(border), len(border)
    last = A.indptr[n]
    if border[0] == n and A.indices[:last].max() < n:  # the border comes last and nothing touches: S is there already
        rest = np.arange(n)
        tail = sp.csr_matrix((A.data[last:], A.indices[last:], A.indptr[n:] - last), shape=(k, n + k)).toarray()
        if not tail[:, :n].any():
            S = Pattern(A.indptr[: n + 1], A.indices[:last]).matrix(A.data[:last])
            return rest, S, np.zeros((n, 0)), np.zeros((0, n)), tail[:, n:]
    place = np.zeros(n + k, dtype=np.int64)
    place[border] = -1 - np.arange(k)
    rest = np.flatnonzero(place == 0)
    place[rest] = np.arange(n)
    indptr, indices, data, C, D, T = _split(A.indptr, A.indices, A.data, place, n, k)
    return rest, Pattern(indptr, indices).matrix(data), C, D, T


@njit(cache=True, error_model="numpy")
def _split(indptr, indices, data, place, n, k):  # type: ignore[no-untyped-def]
    """S as CSR arrays, C (n, k), D (k, n), T (k, k) of a CSR matrix; ``place`` numbers S from 0, the border from -1."""
    S_indptr, count = np.zeros(n + 1, np.int32), 0
    S_indices, S_data = np.empty(len(data), np.int32), np.empty(len(data))
    C, D, T = np.zeros((n, k)), np.zeros((k, n)), np.zeros((k, k))
    for i in range(n + k):
        row = place[i]
        for e in range(indptr[i], indptr[i + 1]):
            column = place[indices[e]]
            if row >= 0 and column >= 0:
                S_indices[count], S_data[count] = column, data[e]
                count += 1
            elif row >= 0:
                C[row, -1 - column] += data[e]
            elif column >= 0:
                D[-1 - row, column] += data[e]
            else:
                T[-1 - row, -1 - column] += data[e]
        if row >= 0:
            S_indptr[row + 1] = count
    return S_indptr, S_indices[:count].copy(), S_data[:count].copy(), C, D, T
