"""Sparsity patterns: made once per topology; afterwards only values move.

A `Pattern` owns the ``indptr`` and ``indices`` that every matrix of a system shares, so that "is it the same pattern?"
is an identity test of arrays and sums of matrices are sums of value arrays. Where patterns are not known before, the
functions below add and multiply matrices with sorted columns, for less than SciPy takes to look at small ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

import pliant.pattern_kernels as kernels
from pliant.arrays import Array, IndexArray, IntArray


def csr(data: Array, indices: IndexArray, indptr: IndexArray, shape: tuple[int, int]) -> sp.csr_matrix:
    """The CSR matrix of these very arrays: sorted indices without doubles, all of one type; nothing is checked.

    SciPy's constructors check, which takes longer than most sums of the small matrices of bodies on joints.
    """
    A = sp.csr_matrix.__new__(sp.csr_matrix)
    vars(A).update(vars(empty(*shape)))
    A.data, A.indices, A.indptr = data, indices, indptr
    return A


def as_csr(A: Any) -> sp.csr_matrix:
    """A matrix of any kind as CSR: itself where it is."""
    return A if isinstance(A, sp.csr_matrix) else sp.csr_matrix(A)


@lru_cache(maxsize=256)
def empty(rows: int, columns: int) -> sp.csr_matrix:
    """A matrix without entries, one for all who need it: not to be changed."""
    A = sp.csr_matrix((rows, columns))
    A.has_canonical_format = True
    return A


@dataclass(frozen=True, eq=False)
class Pattern:
    """A square CSR pattern with sorted column indices."""

    indptr: IndexArray
    indices: IndexArray

    @property
    def size(self) -> int:
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        return len(self.indices)

    def matrix(self, data: Array) -> sp.csr_matrix:
        """The CSR matrix with these values; index arrays are shared, not copied or checked."""
        return csr(data, self.indices, self.indptr, (self.size, self.size))

    def holds(self, A: sp.csr_matrix) -> bool:
        """Whether A was made with the index arrays of this pattern."""
        return A.indptr is self.indptr and A.indices is self.indices

    def slots(self, A: sp.csr_matrix) -> IntArray:
        """For each stored entry of A its place among the values of this pattern (which must contain it)."""
        found = self.find(A)
        if found is None:
            raise ValueError("the pattern does not contain the matrix")
        return found

    def find(self, A: sp.csr_matrix) -> IntArray | None:
        """The same, or None when the pattern does not contain the matrix."""
        found = kernels.slots(self.indptr, self.indices, A.indptr, A.indices)
        return None if len(found) and found.min() < 0 else found

    def restricted(self, keep: IntArray) -> tuple["Pattern", IntArray]:
        """The pattern of the rows and columns ``keep``, and for each of its entries the place in this one."""
        number = np.full(self.size, -1, dtype=np.int64)
        number[keep] = np.arange(len(keep))
        rows = np.repeat(number, np.diff(self.indptr))
        columns = number[self.indices]
        chosen = np.flatnonzero((rows >= 0) & (columns >= 0))
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[chosen], minlength=len(keep)))])
        return Pattern(indptr.astype(np.int32), columns[chosen].astype(np.int32)), chosen


def sizes(A: Any, x: Array) -> Array:
    """|A| |x|, entry by entry: how large the terms are that A x adds up."""
    if not isinstance(A, sp.csr_matrix):
        return abs(A) @ abs(x)
    return kernels.sizes(A.indptr, A.indices, A.data, x)


def times(A: sp.csr_matrix, x: Array) -> Array:
    """A x, of real numbers: the same as SciPy's, which takes longer to find out what it shall multiply."""
    return kernels.times(A.indptr, A.indices, A.data, x)


def transposed_times(A: sp.csr_matrix, y: Array) -> Array:
    """A^T y, without a transpose."""
    return kernels.transposed_times(A.indptr, A.indices, A.data, y, A.shape[1])


def side_by_side(blocks: Sequence[sp.csr_matrix]) -> sp.csr_matrix:
    """diag(A_1, ..., A_k) of CSR matrices, by joining their arrays; sorted where they are, complex where one is.

    One alone is itself.
    """
    if len(blocks) == 1:
        return blocks[0]
    columns = np.cumsum([0, *(A.shape[1] for A in blocks)])
    entries = np.cumsum([0, *(A.nnz for A in blocks)])
    indptr = np.concatenate([[0], *(A.indptr[1:] + n for A, n in zip(blocks, entries[:-1], strict=True))])
    indices = np.concatenate([A.indices + c for A, c in zip(blocks, columns[:-1], strict=True)])
    data = np.concatenate([A.data for A in blocks])
    shape = (sum(A.shape[0] for A in blocks), int(columns[-1]))
    joined = (data, indices.astype(np.int32), indptr.astype(np.int32))
    return csr(*joined, shape) if all(A.has_canonical_format for A in blocks) else sp.csr_matrix(joined, shape=shape)


def added(A: sp.csr_matrix, B: sp.csr_matrix, weight: float = 1.0) -> sp.csr_matrix:
    """A + weight B over the union of their patterns (sorted indices); sums that happen to be zero stay in it."""
    if B.nnz == 0:
        return A
    if A.nnz == 0 and B.has_canonical_format:
        return csr(weight * B.data, B.indices, B.indptr, B.shape)
    indptr, indices, data = kernels.added(A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, weight)
    return Pattern(indptr, indices).matrix(data)


def summed(rows: IntArray, columns: IntArray, blocks: Array, n: int) -> sp.csr_matrix:
    """The matrix (3 n, 3 n) of ``blocks (k, 3, 3)`` in their block rows and columns, summed where they meet."""
    data, indices, indptr = kernels.summed(rows, columns, blocks, n)
    return csr(data, indices, indptr, (3 * n, 3 * n))


def stacked(blocks: Sequence[sp.csr_matrix]) -> sp.csr_matrix:
    """The rows of CSR matrices one below the other; one alone is itself."""
    blocks = [A for A in blocks if A.shape[0]] or blocks[:1]
    if len(blocks) == 1:
        return blocks[0]
    first = np.cumsum([0, *(A.nnz for A in blocks)])
    indptr = np.concatenate([[0], *(A.indptr[1:] + n for A, n in zip(blocks, first[:-1], strict=True))])
    data, indices = (np.concatenate(arrays) for arrays in zip(*((A.data, A.indices) for A in blocks), strict=True))
    joined, shape = (data, indices.astype(np.int32), indptr.astype(np.int32)), (len(indptr) - 1, blocks[0].shape[1])
    return csr(*joined, shape) if all(A.has_canonical_format for A in blocks) else sp.csr_matrix(joined, shape=shape)


def product(A: sp.csr_matrix, B: sp.csr_matrix) -> sp.csr_matrix:
    """A B with sorted indices."""
    data, indices, indptr = kernels.whole_product(A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, B.shape[1])
    return csr(data, indices, indptr, (A.shape[0], B.shape[1]))


def pulled_back(J: sp.csr_matrix, A: sp.csr_matrix) -> sp.csr_matrix:
    """J^T A J with sorted indices, for a square A with few entries."""
    n = J.shape[1]
    if A.nnz == 0:
        return empty(n, n)
    data, indices, indptr = kernels.pulled_back(J.indptr, J.indices, J.data, A.indptr, A.indices, A.data, n)
    return Pattern(indptr, indices).matrix(data)


def taken(A: sp.csr_matrix, rows: IntArray | None, columns: IntArray) -> sp.csr_matrix:
    """A[rows][:, columns] for ascending numbers of columns, in one pass; all rows for None. Stored zeros stay."""
    chosen = np.arange(A.shape[0]) if rows is None else rows
    number = np.full(A.shape[1], -1, dtype=np.int32)
    number[columns] = np.arange(len(columns))
    data, indices, indptr = kernels.taken(A.indptr, A.indices, A.data, chosen, number)
    shape = (len(chosen), len(columns))
    if A.has_canonical_format:
        return csr(data, indices, indptr, shape)
    return sp.csr_matrix((data, indices, indptr), shape=shape)
