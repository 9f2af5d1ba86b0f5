"""Sparsity patterns: made once per topology; afterwards only values move.

A `Pattern` owns the ``indptr`` and ``indices`` that every matrix of a system shares, so that "is it the same pattern?"
is an identity test of arrays and sums of matrices are sums of value arrays.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

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


def sizes(A: Any, x: Array) -> Array:
    """|A| |x|, entry by entry: how large the terms are that A x adds up."""
    if not isinstance(A, sp.csr_matrix):
        return abs(A) @ abs(x)
    found: Array = _sizes(A.indptr, A.indices, A.data, x)
    return found


@njit(cache=True)
def _sizes(indptr, indices, data, x):  # type: ignore[no-untyped-def]
    out = np.zeros(len(indptr) - 1)
    for i in range(len(out)):
        for p in range(indptr[i], indptr[i + 1]):
            out[i] += abs(data[p] * x[indices[p]])
    return out


def times(A: sp.csr_matrix, x: Array) -> Array:
    """A x, of real numbers: the same as SciPy's, which takes longer to find out what it shall multiply."""
    found: Array = _times(A.indptr, A.indices, A.data, x)
    return found


@njit(cache=True)
def _times(indptr, indices, data, x):  # type: ignore[no-untyped-def]
    out = np.zeros(len(indptr) - 1, data.dtype)
    for i in range(len(out)):
        total = out[i]
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * x[indices[p]]
        out[i] = total
    return out


def transposed_times(A: sp.csr_matrix, y: Array) -> Array:
    """A^T y, without a transpose."""
    found: Array = _transposed_times(A.indptr, A.indices, A.data, y, A.shape[1])
    return found


@njit(cache=True)
def _transposed_times(indptr, indices, data, y, n):  # type: ignore[no-untyped-def]
    out = np.zeros(n, data.dtype)
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            out[indices[p]] += data[p] * y[i]
    return out


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
    indptr, indices, data = _added(A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, weight)
    return Pattern(indptr, indices).matrix(data)


@njit(cache=True)
def _added(pa, ia, a, pb, ib, b, weight):  # type: ignore[no-untyped-def]
    n = len(pa) - 1
    indptr = np.zeros(n + 1, np.int32)
    indices = np.empty(len(ia) + len(ib), np.int32)
    data = np.empty(len(ia) + len(ib))
    k = 0
    for i in range(n):
        p, q = pa[i], pb[i]
        if q == pb[i + 1]:  # most rows, where B are contacts
            for p in range(pa[i], pa[i + 1]):
                indices[k], data[k] = ia[p], a[p]
                k += 1
            indptr[i + 1] = k
            continue
        while p < pa[i + 1] or q < pb[i + 1]:
            left = q >= pb[i + 1] or (p < pa[i + 1] and ia[p] <= ib[q])
            right = p >= pa[i + 1] or (q < pb[i + 1] and ib[q] <= ia[p])
            indices[k] = ia[p] if left else ib[q]
            data[k] = (a[p] if left else 0.0) + (weight * b[q] if right else 0.0)
            p, q, k = p + left, q + right, k + 1
        indptr[i + 1] = k
    return indptr, indices[:k].copy(), data[:k].copy()


def summed(rows: IntArray, columns: IntArray, blocks: Array, n: int) -> sp.csr_matrix:
    """The matrix (3 n, 3 n) of ``blocks (k, 3, 3)`` in their block rows and columns, summed where they meet."""
    data, indices, indptr = _summed(rows, columns, blocks, n)
    return csr(data, indices, indptr, (3 * n, 3 * n))


@njit(cache=True)
def _summed(rows, columns, blocks, n):  # type: ignore[no-untyped-def]
    begin = np.zeros(n + 1, np.int64)
    for k in range(len(rows)):
        begin[rows[k] + 1] += 1
    begin = np.cumsum(begin)
    order, place = np.empty(len(rows), np.int64), begin[:-1].copy()
    for k in range(len(rows)):
        order[place[rows[k]]] = k
        place[rows[k]] += 1
    indptr, count = np.zeros(3 * n + 1, np.int32), 0
    indices, data = np.empty(9 * len(rows), np.int32), np.empty(9 * len(rows))
    total, mark, found = np.empty((n, 3, 3)), np.full(n, -1), np.empty(n, np.int32)
    for i in range(n):
        different = 0
        for e in order[begin[i] : begin[i + 1]]:
            j = columns[e]
            if mark[j] != i:
                mark[j], total[j], found[different] = i, 0.0, j
                different += 1
            for a in range(3):
                for b in range(3):
                    total[j, a, b] += blocks[e, a, b]
        _sort(found, different)
        for a in range(3):
            for j in found[:different]:
                for b in range(3):
                    indices[count], data[count] = 3 * j + b, total[j, a, b]
                    count += 1
            indptr[3 * i + a + 1] = count
    return data[:count].copy(), indices[:count].copy(), indptr


@njit(cache=True)
def _sort(numbers, count):  # type: ignore[no-untyped-def]
    """Sort the first ``count`` of the numbers in place: mostly few, for which calling a sort takes longer."""
    if count > 64:
        numbers[:count] = np.sort(numbers[:count])
        return
    for k in range(1, count):
        number, p = numbers[k], k
        while p > 0 and numbers[p - 1] > number:
            numbers[p] = numbers[p - 1]
            p -= 1
        numbers[p] = number


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
    data, indices, indptr = _whole_product(A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, B.shape[1])
    return csr(data, indices, indptr, (A.shape[0], B.shape[1]))


@njit(cache=True)
def _whole_product(pa, ia, va, pb, ib, vb, n):  # type: ignore[no-untyped-def]
    """For calls from Python: `_product` is part of another kernel (see `pliant.kernels.bind.entry`)."""
    return _product(pa, ia, va, pb, ib, vb, n)


def pulled_back(J: sp.csr_matrix, A: sp.csr_matrix) -> sp.csr_matrix:
    """J^T A J with sorted indices, for a square A with few entries."""
    n = J.shape[1]
    if A.nnz == 0:
        return empty(n, n)
    data, indices, indptr = _pulled_back(J.indptr, J.indices, J.data, A.indptr, A.indices, A.data, n)
    return Pattern(indptr, indices).matrix(data)


@njit(cache=True)
def _pulled_back(pj, ij, vj, pa, ia, va, n):  # type: ignore[no-untyped-def]
    """CSR arrays of J^T (A J). Rows of J that A has no entries for are never looked at."""
    first = np.zeros(n + 1, np.int64)  # J^T over the rows that A has
    for i in range(len(pj) - 1):
        if pa[i + 1] > pa[i]:
            for e in range(pj[i], pj[i + 1]):
                first[ij[e] + 1] += 1
    first = np.cumsum(first)
    rows, values, fill = np.empty(first[n], np.int32), np.empty(first[n]), first[:-1].copy()
    for i in range(len(pj) - 1):
        if pa[i + 1] > pa[i]:
            for e in range(pj[i], pj[i + 1]):
                rows[fill[ij[e]]], values[fill[ij[e]]] = i, vj[e]
                fill[ij[e]] += 1
    data, indices, indptr = _product(pa, ia, va, pj, ij, vj, n)
    return _product(first, rows, values, indptr, indices, data, n)


@njit(cache=True)
def _product(pa, ia, va, pb, ib, vb, n):  # type: ignore[no-untyped-def]
    """CSR arrays (data, indices, indptr) of A B with n columns."""
    indptr = np.zeros(len(pa), np.int32)
    indices, data = np.empty(1024, np.int32), np.empty(1024)
    total, mark, found, count = np.empty(n), np.full(n, -1), np.empty(n, np.int32), 0
    for i in range(len(pa) - 1):
        size = 0
        for e in range(pa[i], pa[i + 1]):
            for f in range(pb[ia[e]], pb[ia[e] + 1]):
                j = ib[f]
                if mark[j] != i:
                    mark[j], total[j], found[size] = i, 0.0, j
                    size += 1
                total[j] += va[e] * vb[f]
        if count + size > len(data):
            more = 2 * (count + size) - len(data)
            indices, data = np.append(indices, np.empty(more, np.int32)), np.append(data, np.empty(more))
        _sort(found, size)
        for j in found[:size]:
            indices[count], data[count] = j, total[j]
            count += 1
        indptr[i + 1] = count
    return data[:count].copy(), indices[:count].copy(), indptr


def taken(A: sp.csr_matrix, rows: IntArray | None, columns: IntArray) -> sp.csr_matrix:
    """A[rows][:, columns] for ascending numbers of columns, in one pass; all rows for None. Stored zeros stay."""
    chosen = np.arange(A.shape[0]) if rows is None else rows
    number = np.full(A.shape[1], -1, dtype=np.int32)
    number[columns] = np.arange(len(columns))
    data, indices, indptr = _taken(A.indptr, A.indices, A.data, chosen, number)
    shape = (len(chosen), len(columns))
    if A.has_canonical_format:
        return csr(data, indices, indptr, shape)
    return sp.csr_matrix((data, indices, indptr), shape=shape)


@njit(cache=True)
def _taken(indptr, indices, data, rows, number):  # type: ignore[no-untyped-def]
    size = 0
    for r in range(len(rows)):
        size += indptr[rows[r] + 1] - indptr[rows[r]]
    new_indptr = np.zeros(len(rows) + 1, np.int32)
    new_indices, new_data = np.empty(size, np.int32), np.empty(size, data.dtype)
    k = 0
    for r in range(len(rows)):
        for p in range(indptr[rows[r]], indptr[rows[r] + 1]):
            j = number[indices[p]]
            if j >= 0:
                new_indices[k], new_data[k] = j, data[p]
                k += 1
        new_indptr[r + 1] = k
    return new_data[:k].copy(), new_indices[:k].copy(), new_indptr
