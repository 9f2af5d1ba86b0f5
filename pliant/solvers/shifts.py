"""A + tau diag(M): the matrix of a Newton step made definite, or its step shorter."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array
from pliant.errors import NotPositiveDefinite
from pliant.linear.base import Factor, LinearSolver
from pliant.solvers.base import Shiftable


def least_shifted(
    linear: LinearSolver, A: sp.csr_matrix, memory: Any, shifts: Sequence[float], weights: Array
) -> tuple[Factor | None, int]:
    """The factor of A + tau diag(M) with the least tau in ``shifts`` (which rise) that makes it definite, or None.

    Also how many matrices were factored besides it. Where tau makes the matrix definite, every larger one does: the
    largest is tried after the first, and where it does, those between them by bisection.
    """
    factor, tries, low, high = None, 0, 0, len(shifts)  # the least one is in low .. high, factored if it is high
    while low < high:
        k = low if tries == 0 else (low + high) // 2 if factor is not None else len(shifts) - 1
        tries += 1
        try:
            factor, high = linear.factor(shifted(A, shifts[k], weights), memory), k
        except NotPositiveDefinite:
            low = k + 1
    return factor, tries - (factor is not None)


def shifted(A: sp.csr_matrix, shift: float, weights: Array) -> sp.csr_matrix:
    """A + shift diag(M), with A's own index arrays."""
    if shift == 0.0:
        return A
    return with_diagonal(A, shift * weights)


def with_diagonal(A: sp.csr_matrix, extra: Array) -> sp.csr_matrix:
    """A + diag(extra); the pattern (which holds the diagonal) and its index arrays stay."""
    if able(A, Shiftable):
        return A.plus_diagonal(extra)
    B = A.copy()
    B.indptr, B.indices = A.indptr, A.indices
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    B.data[rows == A.indices] += extra
    return B


def next_shift(shift: float, A: sp.csr_matrix, weights: Array) -> float:
    """Ten times the last shift; the first is a thousandth of A's own scale."""
    return 10.0 * shift if shift else 1e-3 * float(A.diagonal().mean() / weights.mean())
