"""The matrices of several parts as one, step after step: patterns are joined once, afterwards only values move."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from pliant.arrays import IndexArray, IntArray
from pliant.linear.inverse import Matrix
from pliant.linear.lowrank import Corrected, corrected
from pliant.pattern import Pattern, csr, side_by_side, taken


class SideBySide:
    """diag(A_1, ..., A_k); its pattern is kept as long as the blocks have theirs, the very arrays."""

    def __init__(self) -> None:
        self._blocks: list[IndexArray] = []
        self._last: sp.csr_matrix | None = None

    def __call__(self, blocks: Sequence[Matrix]) -> Matrix:
        """Of CSR matrices, dense ones and low-rank corrections of them, which stay low-rank."""
        A = self._joined([sparse(b) for b in blocks])
        extra, first = [], 0
        for b in blocks:
            if isinstance(b, Corrected) and b.W is not None and b.c is not None:
                W = np.zeros((A.shape[0], len(b.c)))
                W[first : first + len(b.W)] = b.W
                extra.append((W, b.c))
            first += b.shape[0]
        return corrected(A, np.hstack([W for W, _ in extra]), np.concatenate([c for _, c in extra])) if extra else A

    def _joined(self, blocks: Sequence[sp.csr_matrix]) -> sp.csr_matrix:
        if len(blocks) == 1:
            return blocks[0]
        arrays, last = [a for A in blocks for a in (A.indptr, A.indices)], self._last
        known = len(arrays) == len(self._blocks) and all(a is b for a, b in zip(arrays, self._blocks, strict=True))
        if known and last is not None:
            return csr(np.concatenate([A.data for A in blocks]), last.indices, last.indptr, last.shape)
        joined = side_by_side(blocks)
        if joined.has_canonical_format:
            self._blocks, self._last = arrays, joined
        return joined


class Restriction:
    """A[kept][:, kept] of square CSR matrices; the first pattern, and any that comes twice in turn, is learnt."""

    def __init__(self, kept: IntArray) -> None:
        self._kept = kept
        self._last: IndexArray | None = None
        self._learnt: tuple[IndexArray, Pattern, IntArray] | None = None  # where its entries are in the whole

    def __call__(self, A: sp.csr_matrix) -> sp.csr_matrix:
        if len(self._kept) == A.shape[0]:
            return A
        learnt, worthwhile = self._learnt, self._last is None or A.indices is self._last
        self._last = A.indices
        if learnt is None or A.indices is not learnt[0]:
            if not worthwhile:
                return taken(A, self._kept, self._kept)
            learnt = self._learnt = (A.indices, *Pattern(A.indptr, A.indices).restricted(self._kept))
        _, pattern, chosen = learnt
        return pattern.matrix(A.data[chosen])


def sparse(A: Matrix) -> sp.csr_matrix:
    """A block as CSR with sorted indices; a dense one with all of its entries, so that its pattern never changes."""
    if isinstance(A, Corrected):
        return A.sparse()
    if not sp.issparse(A):
        return csr(A.ravel(), *_full(*A.shape), A.shape)
    A = A if isinstance(A, sp.csr_matrix) else sp.csr_matrix(A)
    A.sort_indices()
    return A


@lru_cache(maxsize=64)
def _full(n: int, m: int) -> tuple[IndexArray, IndexArray]:
    """Columns and row starts of a matrix (n, m) with all of its entries."""
    return np.tile(np.arange(m, dtype=np.int32), n), m * np.arange(n + 1, dtype=np.int32)
