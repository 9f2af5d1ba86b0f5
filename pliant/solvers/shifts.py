"""Stiffer and stiffer matrices for a Newton step: A, (1 - s) A + s A_psd, A_psd, A_psd + tau diag(M)."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array
from pliant.solvers.base import Shiftable

FADE = 0.5  # a part of the projection relative to the next larger one; a power of two, so that it ends at 1 exactly
LEAST = 1e-6  # part below which the exact matrix is next
SHIFTS = 5  # tau that are tried one after the other, each ten times the last


class Stiffened(NamedTuple):
    """(1 - part) A + part A_psd + shift diag(M)"""

    A: Any
    part: float
    shift: float

    @property
    def plain(self) -> bool:
        """Whether it is the exact or the projected matrix itself."""
        return self.shift == 0.0 and self.part in (0.0, 1.0)


def stiffened(filled: Callable[[bool], Any], part: float, shift: float, weights: Array) -> Iterator[Stiffened]:
    """The matrices to try for a step, each stiffer than the last; ``filled(psd)`` makes A and A_psd.

    From the exact one (``part`` = 0) it is one step to the projected one; from a part in between there are others on
    the way. The projected one is shifted, by ``shift`` first.
    """
    P = None
    if part < 1.0:
        A = filled(False)
        if part == 0.0:
            yield Stiffened(A, 0.0, 0.0)
        else:
            P = filled(True)
            while part < 1.0:
                yield Stiffened(between(A, P, part), part, 0.0)
                part /= FADE
    P = filled(True) if P is None else P
    yield Stiffened(shifted(P, shift, weights), 1.0, shift)
    for _ in range(SHIFTS):
        shift = next_shift(shift, P, weights)
        yield Stiffened(shifted(P, shift, weights), 1.0, shift)


def faded(part: float) -> float:
    """The part of the projection to begin the next step with."""
    return FADE * part if FADE * part >= LEAST else 0.0


def between(A: sp.csr_matrix, P: sp.csr_matrix, part: float) -> sp.csr_matrix:
    """(1 - part) A + part P, with A's own index arrays where those of P are the same."""
    if able(A, Shiftable):
        return A.between(P, part)
    if not (np.array_equal(A.indptr, P.indptr) and np.array_equal(A.indices, P.indices)):
        return sp.csr_matrix((1.0 - part) * A + part * P)
    B = A.copy()
    B.indptr, B.indices = A.indptr, A.indices
    B.data += part * (P.data - A.data)
    return B


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
