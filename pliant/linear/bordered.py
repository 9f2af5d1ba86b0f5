"""A sparse symmetric definite matrix with a border of few dense rows and columns that need be neither.

    [S  C] [x]   [b]           S = L L^T,   X = S^-1 C,   Z = T - D X
    [D  T] [y] = [c]           y = Z^-1 (c - D S^-1 b),   x = S^-1 b - X y

S is what meshes have: its pattern outlives contacts with what moves on joints, and so does its analysis. The border are
joints and multipliers; its Schur complement Z is small and dense, and factored by LU. Where S is not definite, or the
result does not solve the whole system, `LU` of everything takes over.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

from pliant.arrays import Array, IntArray
from pliant.errors import NotPositiveDefinite
from pliant.linear.base import Factor, LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.lu import LU, SMALL, DenseLU
from pliant.pattern import Pattern

WIDE = 120  # rows of a border: beyond, LU of everything costs as much
GOOD = 1e-9  # relative residual of a solve; more is refined once
BAD = 1e-6  # relative residual after which everything is factored


@dataclass(frozen=True, eq=False)
class Bordered:
    """Cholesky of all rows but ``border (k,)``, LU of their Schur complement; plain `LU` where that does not pay."""

    border: IntArray
    linear: LinearSolver = field(default_factory=Cholesky)

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> Factor:
        n = A.shape[0]
        if n < SMALL or not 0 < len(self.border) <= min(WIDE, n // 4):
            return LU().factor(A)
        try:
            return BorderedFactor(A, self.border, self.linear, memory)
        except NotPositiveDefinite:
            return _whole(A, memory)


def _whole(A: sp.csr_matrix, memory: Any) -> Factor:
    """LU of everything, which keeps the analysis for the next time."""
    factor = LU().factor(A)
    factor.memory = memory
    return factor


class BorderedFactor:
    """The factors of S and Z."""

    inner = 0

    def __init__(self, A: sp.csr_matrix, border: IntArray, linear: LinearSolver, memory: Any = None) -> None:
        n, k = A.shape[0], len(border)
        place = np.zeros(n, dtype=np.int64)
        place[border] = -1 - np.arange(k)
        self._rest = np.flatnonzero(place == 0)
        place[self._rest] = np.arange(n - k)
        self._A, self._border = A, border
        indptr, indices, data, C, self._D, T = _split(A.indptr, A.indices, A.data, place, n - k, k)
        factor = linear.factor(Pattern(indptr, indices).matrix(data), memory)
        self._factor, self.memory, self.analysed = factor, factor.memory, factor.analysed
        self._columns = np.flatnonzero(C.any(axis=0))
        self._X = factor.solve(C[:, self._columns])
        T[:, self._columns] -= self._D @ self._X
        self._schur = DenseLU(T)
        self._whole: Factor | None = None

    def solve(self, b: Array) -> Array:
        """x with A x = b, for b (N,) or (N, k)."""
        if self._whole is not None:
            return self._whole.solve(b)
        x = self._solve(b)
        size = max(float(np.linalg.norm(b)), 1e-300)
        for limit in (GOOD, BAD):
            r = b - self._A @ x
            if float(np.linalg.norm(r)) <= limit * size:
                return x
            if limit == GOOD:
                x = x + self._solve(r)
        self._whole = _whole(self._A, self.memory)
        return self._whole.solve(b)

    def _solve(self, b: Array) -> Array:
        y = self._factor.solve(b[self._rest])
        x = np.empty(b.shape)
        z = self._schur.solve(b[self._border] - self._D @ y)
        x[self._rest], x[self._border] = y - self._X @ z[self._columns], z
        return x


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
