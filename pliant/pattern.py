"""Sparsity patterns: made once per topology; afterwards only values move.

A `Pattern` owns the ``indptr`` and ``indices`` that every matrix of a system shares, so that "is it the same pattern?"
is an identity test of arrays and sums of matrices are sums of value arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numba import njit

from pliant.arrays import Array, IndexArray, IntArray


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
        A = sp.csr_matrix((self.size, self.size))
        A.data, A.indices, A.indptr = data, self.indices, self.indptr
        A.has_sorted_indices = True
        A.has_canonical_format = True
        return A

    def holds(self, A: sp.csr_matrix) -> bool:
        """Whether A was made with the index arrays of this pattern."""
        return A.indptr is self.indptr and A.indices is self.indices

    def slots(self, A: sp.csr_matrix) -> IntArray:
        """For each stored entry of A its place among the values of this pattern (which must contain it)."""
        found = _slots(self.indptr, self.indices, A.indptr, A.indices)
        if len(found) and found.min() < 0:
            raise ValueError("the pattern does not contain the matrix")
        return found

    def find(self, A: sp.csr_matrix) -> IntArray | None:
        """The same, or None when the pattern does not contain the matrix."""
        found = _slots(self.indptr, self.indices, A.indptr, A.indices)
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


@njit(cache=True)
def _slots(indptr, indices, other_indptr, other_indices):  # type: ignore[no-untyped-def]
    out = np.full(len(other_indices), -1, dtype=np.int64)
    for i in range(len(other_indptr) - 1):
        k = indptr[i]
        end = indptr[i + 1]
        for p in range(other_indptr[i], other_indptr[i + 1]):
            while k < end and indices[k] < other_indices[p]:
                k += 1
            if k < end and indices[k] == other_indices[p]:
                out[p] = k
    return out


def side_by_side(blocks: Sequence[sp.csr_matrix]) -> sp.csr_matrix:
    """diag(A_1, ..., A_k) of CSR matrices, by joining their arrays; sorted where they are, complex where one is."""
    columns = np.cumsum([0, *(A.shape[1] for A in blocks)])
    entries = np.cumsum([0, *(A.nnz for A in blocks)])
    indptr = np.concatenate([[0], *(A.indptr[1:] + n for A, n in zip(blocks, entries[:-1], strict=True))])
    indices = np.concatenate([A.indices + c for A, c in zip(blocks, columns[:-1], strict=True)])
    data = np.concatenate([A.data for A in blocks])
    shape = (sum(A.shape[0] for A in blocks), int(columns[-1]))
    return sp.csr_matrix((data, indices.astype(np.int32), indptr.astype(np.int32)), shape=shape)


def added(A: sp.csr_matrix, B: sp.csr_matrix) -> sp.csr_matrix:
    """A + B over the union of their patterns (sorted indices); sums that happen to be zero stay in it."""
    indptr, indices, data = _added(A.indptr, A.indices, A.data, B.indptr, B.indices, B.data)
    return Pattern(indptr, indices).matrix(data)


@njit(cache=True)
def _added(pa, ia, a, pb, ib, b):  # type: ignore[no-untyped-def]
    n = len(pa) - 1
    indptr = np.zeros(n + 1, np.int32)
    indices = np.empty(len(ia) + len(ib), np.int32)
    data = np.empty(len(ia) + len(ib))
    k = 0
    for i in range(n):
        p, q = pa[i], pb[i]
        while p < pa[i + 1] or q < pb[i + 1]:
            left = q >= pb[i + 1] or (p < pa[i + 1] and ia[p] <= ib[q])
            right = p >= pa[i + 1] or (q < pb[i + 1] and ib[q] <= ia[p])
            indices[k] = ia[p] if left else ib[q]
            data[k] = (a[p] if left else 0.0) + (b[q] if right else 0.0)
            p, q, k = p + left, q + right, k + 1
        indptr[i + 1] = k
    return indptr, indices[:k].copy(), data[:k].copy()


def union(matrices: list[sp.csr_matrix], size: int) -> Pattern:
    """The smallest pattern that holds the given matrices and the diagonal."""
    total = sp.identity(size, format="csr")
    for A in matrices:
        if A.nnz:
            ones = sp.csr_matrix((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
            total = total + ones
    total.sort_indices()
    return Pattern(total.indptr.astype(np.int32), total.indices.astype(np.int32))


def block_pattern(elements: IntArray, n: int, d: int) -> tuple[Pattern, IntArray]:
    """Pattern of elements (m, k) on n vertices of dimension d, and slots (m, k, k, d, d) of their pair blocks."""
    m, k = elements.shape
    rows = np.repeat(elements, k, axis=1).ravel()
    columns = np.tile(elements, (1, k)).ravel()
    pairs, inverse = np.unique(rows * n + columns, return_inverse=True)
    row, column = pairs // n, pairs % n
    per_row = np.bincount(row, minlength=n)
    first = np.concatenate([[0], np.cumsum(per_row)])
    place = np.arange(len(pairs)) - first[row]  # position of the block in its block row
    lengths = np.repeat(d * per_row, d)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    a, b = np.arange(d)[:, None], np.arange(d)[None, :]
    base = indptr[d * row[:, None, None] + a] + d * place[:, None, None] + b  # (pairs, d, d)
    indices = np.empty(indptr[-1], dtype=np.int32)
    indices[base.ravel()] = np.broadcast_to(d * column[:, None, None] + b, base.shape).ravel()
    return Pattern(indptr, indices), base[inverse.ravel()].reshape(m, k, k, d, d).astype(np.int64)
