"""Patterns of matrices and of elements, and columns of a pattern that can be differenced at once."""

import numpy as np
import scipy.sparse as sp

from pliant.arrays import IntArray
from pliant.pattern import Pattern


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


def coloured(P: sp.csr_matrix) -> IntArray:
    """A colour for every column of P that has entries, -1 for the others; no two of one colour have a row in common.

    The pattern of P is symmetric. Columns of one colour can be differenced at once.
    """
    far = sp.csr_matrix(P.T @ P)
    colours = np.full(P.shape[0], -1)
    for i in np.flatnonzero(np.diff(P.indptr)):
        taken = set(colours[far.indices[far.indptr[i] : far.indptr[i + 1]]])
        colours[i] = next(k for k in range(len(taken) + 1) if k not in taken)
    return colours
