"""Forward and backward substitution with the panels of a supernodal factor, all right-hand sides together.

Panels are column-major; right-hand sides are row-major, so that a row of all of them moves as one piece.
"""

import numba
import numpy as np

from pliant.kernels.blas import GEMM, GEMV, LOWER, NO, RIGHT, TRSM, TRSV, YES, at, fortran, numbers

ROWS = 32  # whose products are summed at once

kernel = numba.njit(cache=True, error_model="numpy", nogil=True)


@kernel
def forward(blas, structure, L, X, panels, end, place, rest):
    """X <- L^-1 X in the rows of ascending ``panels``, for X (N, k) row-major in elimination order.

    What they subtract from the rows before ``end`` is subtracted at once, from a later one it is added to
    rest[place[row]].
    """
    first, row_start, rows, panel_start = structure[:4]
    W = np.empty(_tallest(first, row_start) * X.shape[1], L.dtype)
    for s in panels:
        n = first[s + 1] - first[s]
        m = row_start[s + 1] - row_start[s]
        left, right = _used(X, first[s], n)
        used = right - left
        if used == 0:
            continue
        _solve_panel(blas, n, m, used, L, panel_start[s], X, first[s] * X.shape[1] + left, W)
        below = rows[row_start[s] + n : row_start[s + 1]]
        inside = np.searchsorted(below, end)
        for i in range(inside):
            for c in range(used):
                X[below[i], left + c] -= W[i * used + c]
        for i in range(inside, m - n):
            for c in range(used):
                rest[place[below[i]], left + c] += W[i * used + c]


@kernel
def subtract(X, rows, rests):
    """X[rows] -= the sum of ``rests``, one after the other."""
    for t in range(len(rests)):
        for i in range(len(rows)):
            for c in range(X.shape[1]):
                X[rows[i], c] -= rests[t, i, c]


@kernel
def backward(blas, structure, L, X, panels):
    """X <- L^-T X in the rows of ascending ``panels``, the last one first; the rows below them are known."""
    first, row_start, rows, panel_start = structure[:4]
    k = X.shape[1]
    W = np.empty(_tallest(first, row_start) * k, L.dtype)
    for s in panels[::-1]:
        n = first[s + 1] - first[s]
        m = row_start[s + 1] - row_start[s]
        below = rows[row_start[s] + n : row_start[s + 1]]
        for i in range(m - n):
            for c in range(k):
                W[i * k + c] = X[below[i], c]
        _solve_panel_transposed(blas, n, m, k, L, panel_start[s], X, first[s], W)


@kernel
def both(blas, structure, L, X, panels, place):
    """X <- L^-T L^-1 X by all ``panels``."""
    forward(blas, structure, L, X, panels, len(X), place, X[:0])
    backward(blas, structure, L, X, panels)


@kernel
def _solve_panel(blas, n, m, k, L, panel, X, begin, W):
    """x <- L^-1 x for k columns of the rows of the panel, the first of them at ``begin``; W = B x for the rows below."""
    one, _, zero = numbers(L)
    n32, m32, k32, below, stride = np.int32(n), np.int32(m), np.int32(k), np.int32(m - n), np.int32(1)
    width = np.int32(X.shape[1])
    x, diagonal, B = at(X, begin), at(L, panel), at(L, panel + n)
    if k == 1:
        fortran(blas[TRSV], (LOWER, NO, NO, n32, diagonal, m32, x, width))
        if below > 0:
            fortran(blas[GEMV], (NO, below, n32, one, B, m32, x, width, zero, at(W, 0), stride))
    else:
        fortran(blas[TRSM], (RIGHT, LOWER, YES, NO, k32, n32, one, diagonal, m32, x, width))
        if below > 0:
            fortran(blas[GEMM], (NO, YES, k32, below, n32, one, x, width, B, m32, zero, at(W, 0), k32))


@kernel
def _solve_panel_transposed(blas, n, m, k, L, panel, X, row, W):
    """x <- L^-T (x - B^T W) for the rows of the panel, W the rows below."""
    one, minus, _ = numbers(L)
    n32, m32, k32, below, stride = np.int32(n), np.int32(m), np.int32(k), np.int32(m - n), np.int32(1)
    x, diagonal, B = at(X, row * k), at(L, panel), at(L, panel + n)
    if k == 1:
        if below > 0:
            fortran(blas[GEMV], (YES, below, n32, minus, B, m32, at(W, 0), stride, one, x, stride))
        fortran(blas[TRSV], (LOWER, YES, NO, n32, diagonal, m32, x, stride))
    else:
        if below > 0:
            fortran(blas[GEMM], (NO, NO, k32, n32, below, minus, at(W, 0), k32, B, m32, one, x, k32))
        fortran(blas[TRSM], (RIGHT, LOWER, NO, NO, k32, n32, one, diagonal, m32, x, k32))


@kernel
def _tallest(first, row_start):
    """The largest number of rows below a supernode."""
    tallest = 1
    for s in range(len(first) - 1):
        tallest = max(tallest, (row_start[s + 1] - row_start[s]) - (first[s + 1] - first[s]))
    return tallest


@kernel
def squares(blas, X):
    """X^T X (k, k) of X (N, k) row-major, by few rows at a time and the columns that have anything in them."""
    one, _, _ = numbers(X)
    N, k = X.shape
    C, width = np.zeros((k, k), X.dtype), np.int32(k)
    for row in range(0, N, ROWS):
        n = min(ROWS, N - row)
        left, right = _used(X, row, n)
        if right > left:
            x, used = at(X, row * k + left), np.int32(right - left)
            fortran(
                blas[GEMM],
                (NO, YES, used, used, np.int32(n), one, x, width, x, width, one, at(C, left * (k + 1)), width),
            )
    return C


@kernel
def _used(X, row, n):
    """(left, right): columns left:right have anything but zeros in n rows; with sparse right-hand sides few, or none.

    Where columns are ordered by the row they begin in, those of a subtree of the elimination lie side by side.
    """
    left, right = X.shape[1], 0
    for i in range(row, row + n):
        for c in range(left):
            if X[i, c] != 0.0:
                left = c
                break
        for c in range(X.shape[1] - 1, max(left, right) - 1, -1):
            if X[i, c] != 0.0:
                right = c + 1
                break
    return min(left, right), right
