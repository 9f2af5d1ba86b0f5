"""LU of a general square matrix: LAPACK where it is small or nearly full, SuperLU elsewhere.

Matrices of stages on joints are not symmetric, and those with closures have a zero block of multipliers. Redundant
closures make them singular but consistent: the least solution is taken where the matrix is small, a regularised and
refined one elsewhere.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from pliant.arrays import Array

SMALL = 400  # rows: below, a dense factor is the faster one
FULL = 0.2  # of all entries
SINGULAR = 1e-12  # smallest pivot over the largest
REFINEMENTS = 4


@dataclass(frozen=True)
class LU:
    """Gaussian elimination with pivoting, behind the interface of the linear solvers."""

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> "DenseLU | SparseLU":
        n = A.shape[0]
        return DenseLU(A.toarray()) if n < SMALL or A.nnz > FULL * n * n else SparseLU(sp.csc_matrix(A))


class DenseLU:
    """A = P L U by LAPACK; least squares where a pivot vanishes."""

    memory: Any = None
    analysed = False
    inner = 0

    def __init__(self, A: Array) -> None:
        self._A = A
        self._factor, self._pivots, _ = scipy.linalg.lapack.dgetrf(A)
        pivots = np.abs(np.diag(self._factor))
        self._singular = not pivots.min(initial=1.0) > SINGULAR * pivots.max(initial=1.0)

    def solve(self, b: Array) -> Array:
        if self._singular:
            return np.asarray(np.linalg.lstsq(self._A, b, rcond=SINGULAR)[0], dtype=float)
        return np.asarray(scipy.linalg.lu_solve((self._factor, self._pivots), b), dtype=float)


class SparseLU:
    """A = P L U Q by SuperLU; where a pivot vanishes, that of A with a small diagonal for multipliers, refined."""

    memory: Any = None
    analysed = True
    inner = 0

    def __init__(self, A: sp.csc_matrix) -> None:
        self._A = A
        factor = _regular(A)
        self._singular = factor is None
        self._factor = splu(sp.csc_matrix(A + _small_diagonal(A))) if factor is None else factor

    def solve(self, b: Array) -> Array:
        x = self._factor.solve(b)
        for _ in range(REFINEMENTS if self._singular else 0):
            x = x + self._factor.solve(b - self._A @ x)
        return np.asarray(x, dtype=float)


def _regular(A: sp.csc_matrix) -> Any:
    """The factor of A, or None where it is singular."""
    try:
        factor = splu(A)
    except RuntimeError:  # an exactly zero pivot
        return None
    pivots = np.abs(factor.U.diagonal())
    return factor if pivots.min(initial=1.0) > SINGULAR * pivots.max(initial=1.0) else None


def _small_diagonal(A: sp.csc_matrix) -> sp.csc_matrix:
    """1e-9 of the squares that a multiplier's column holds over the largest diagonal entry, where that is zero."""
    diagonal = np.abs(A.diagonal())
    columns = np.asarray(A.multiply(A).sum(axis=0)).ravel()
    return sp.csc_matrix(sp.diags(np.where(diagonal == 0.0, 1e-9 * columns / diagonal.max(initial=1e-300), 0.0)))
