# mypy: ignore-errors
"""Cholesky factors of narrow symmetric matrices: every row from its first entry to the diagonal, one after the other.

Row i of L, in the order of elimination, holds its columns first[i] .. i at L[start[i] : start[i + 1]]. Nothing is
searched for and nothing is looked up, which for bands of some ten entries is several times as fast as panels.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def rows(indptr, indices, rank):
    """``first`` (n,) and ``start`` (n + 1,) of a symmetric CSR pattern whose row i is eliminated as rank[i]-th."""
    n = len(rank)
    first, start = np.arange(n), np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        for k in range(indptr[i], indptr[i + 1]):
            first[rank[i]] = min(first[rank[i]], rank[indices[k]])
    for i in range(n):
        start[i + 1] = start[i] + i - first[i] + 1
    return first, start


@njit(cache=True)
def fill(first, start, matrix, rank, free, add, held):
    """The entries of ``matrix`` = (data, indices, indptr) plus diag(add) where both variables are free, ``held`` on the
    diagonal of the others."""
    data, indices, indptr = matrix
    L = np.zeros(start[-1])
    for i in range(len(rank)):
        r = rank[i]
        if not free[i]:
            L[start[r + 1] - 1] = held
            continue
        for k in range(indptr[i], indptr[i + 1]):
            c = rank[indices[k]]
            if c <= r and free[indices[k]]:
                L[start[r] + c - first[r]] = data[k] + (add[i] if c == r else 0.0)
    return L


@njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def factor(first, start, L):
    """Overwrite the rows L, which hold A, by its factor; the position of a bad pivot, or -1."""
    for i in range(len(first)):
        row = start[i] - first[i]
        for j in range(first[i], i + 1):
            other, low = start[j] - first[j], max(first[i], first[j])
            total = L[row + j]
            for k in range(low, j):
                total -= L[row + k] * L[other + k]
            if j < i:
                L[row + j] = total / L[other + j]
            elif total > 0.0:
                L[row + j] = np.sqrt(total)
            else:
                return i
    return -1


@njit(cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def solve(first, start, L, rank, free, b):
    """L^-T L^-1 b on the free variables, 0 on the others."""
    n = len(first)
    y, x = np.zeros(n), np.zeros(n)
    for i in range(n):
        y[rank[i]] = b[i] if free[i] else 0.0
    for i in range(n):
        row, total = start[i] - first[i], y[i]
        for k in range(first[i], i):
            total -= L[row + k] * y[k]
        y[i] = total / L[row + i]
    for i in range(n - 1, -1, -1):
        row = start[i] - first[i]
        y[i] /= L[row + i]
        for k in range(first[i], i):
            y[k] -= L[row + k] * y[i]
    for i in range(n):
        x[i] = y[rank[i]] if free[i] else 0.0
    return x
