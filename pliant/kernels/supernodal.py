"""The numeric phases of the supernodal Cholesky factorization: right-looking, one dense panel at a time.

A panel is factored (potrf, trsm), its whole update formed by one syrk, and the update scattered into the panels of its
ancestors along the runs found by the analysis. With L the diagonal block of a panel, B what is below it, ' for d/dt:

    L L^T = A,                       B <- B L^-T,                    C = B B^T
    L' = L Phi(L^-1 A' L^-T),        B' <- (B' - B L'^T) L^-T,       C' = B' B^T + B B'^T      [Weidner2022, App. C]

Phi takes the strict lower triangle and half the diagonal. Panels are column-major; right-hand sides are row-major, so
that a row of all right-hand sides moves as one piece.
"""

import numba
import numpy as np

from pliant.kernels.blas import (
    GEMM,
    GEMV,
    LEFT,
    LOWER,
    NO,
    POTRF,
    RIGHT,
    SYGST,
    SYR2K,
    SYRK,
    TRMM,
    TRSM,
    TRSV,
    YES,
    fortran,
)

kernel = numba.njit(cache=True, error_model="numpy", nogil=True)
inlined = numba.njit(cache=True, error_model="numpy", inline="always")


@kernel
def fill(L, position, values):
    """L = 0 except for the given values of A."""
    L[:] = 0.0
    for k in range(len(position)):
        L[position[k]] = values[k]


@kernel
def factor(blas, structure, L):
    """Overwrite the panels L, which hold A, by its factor; the position of a bad pivot in elimination order, or -1."""
    first, row_start, _, panel_start = structure[:4]
    maps = structure[4:]
    C = np.empty(_largest_update(first, row_start))
    for s in range(len(first) - 1):
        n = first[s + 1] - first[s]
        m = row_start[s + 1] - row_start[s]
        panel = panel_start[s]
        bad = _factor_panel(blas, n, m, L, panel)
        if bad >= 0:
            return first[s] + bad
        if m > n:
            _update(blas, n, m, L, panel, C)
            _scatter(s, n, m - n, C, L, first, row_start, panel_start, maps)
    return -1


@kernel
def factor_and_rate(blas, structure, L, D):
    """Overwrite L (holding A) by the factor and D (holding dA/dt) by its derivative; a bad pivot's position, or -1."""
    first, row_start, _, panel_start = structure[:4]
    maps = structure[4:]
    C = np.empty(_largest_update(first, row_start))
    for s in range(len(first) - 1):
        n = first[s + 1] - first[s]
        m = row_start[s + 1] - row_start[s]
        panel = panel_start[s]
        bad = _factor_panel(blas, n, m, L, panel)
        if bad >= 0:
            return first[s] + bad
        _rate_of_panel(blas, n, m, L, D, panel)
        if m > n:
            _update(blas, n, m, L, panel, C)
            _scatter(s, n, m - n, C, L, first, row_start, panel_start, maps)
            _update_rate(blas, n, m, L, D, panel, C)
            _scatter(s, n, m - n, C, D, first, row_start, panel_start, maps)
    return -1


@kernel
def solve(blas, structure, L, X, transposed):
    """X <- L^-1 X, or L^-T X if ``transposed``, for X (N, k) row-major in elimination order."""
    first, row_start, rows, panel_start = structure[:4]
    count, k = len(first) - 1, X.shape[1]
    W = np.empty(_tallest(first, row_start) * k)
    for t in range(count):
        s = count - 1 - t if transposed else t
        n = first[s + 1] - first[s]
        m = row_start[s + 1] - row_start[s]
        below = rows[row_start[s] + n : row_start[s + 1]]
        if transposed:
            for i in range(m - n):
                for c in range(k):
                    W[i * k + c] = X[below[i], c]
            _solve_panel_transposed(blas, n, m, k, L, panel_start[s], X, first[s], W)
        else:
            _solve_panel(blas, n, m, k, L, panel_start[s], X, first[s], W)
            for i in range(m - n):
                for c in range(k):
                    X[below[i], c] -= W[i * k + c]


@inlined
def _at(a, k):
    """The address of entry k of the flat array a."""
    return np.int64(a.ctypes.data) + 8 * np.int64(k)


@kernel
def _factor_panel(blas, n, m, L, panel):
    n32, m32, below = np.int32(n), np.int32(m), np.int32(m - n)
    info = np.zeros(1, dtype=np.int32)
    fortran(blas[POTRF], (LOWER, n32, _at(L, panel), m32, _at(info, 0)))
    for k in range(n):
        if not L[panel + k * (m + 1)] > 0.0 or k + 1 == info[0]:
            return k
    if below > 0:
        fortran(blas[TRSM], (RIGHT, LOWER, YES, NO, below, n32, 1.0, _at(L, panel), m32, _at(L, panel + n), m32))
    return -1


@kernel
def _update(blas, n, m, L, panel, C):
    """C = -B B^T, lower triangle."""
    below, B = np.int32(m - n), _at(L, panel + n)
    fortran(blas[SYRK], (LOWER, NO, below, np.int32(n), -1.0, B, np.int32(m), 0.0, _at(C, 0), below))


@kernel
def _update_rate(blas, n, m, L, D, panel, C):
    """C = -(B' B^T + B B'^T), lower triangle."""
    below, m32, B, dB = np.int32(m - n), np.int32(m), _at(L, panel + n), _at(D, panel + n)
    fortran(blas[SYR2K], (LOWER, NO, below, np.int32(n), -1.0, dB, m32, B, m32, 0.0, _at(C, 0), below))


@kernel
def _rate_of_panel(blas, n, m, L, D, panel):
    n32, m32, below = np.int32(n), np.int32(m), np.int32(m - n)
    info = np.zeros(1, dtype=np.int32)
    diagonal, rate = _at(L, panel), _at(D, panel)
    fortran(blas[SYGST], (np.int32(1), LOWER, n32, rate, m32, diagonal, m32, _at(info, 0)))
    for k in range(n):
        D[panel + k * (m + 1)] *= 0.5
    fortran(blas[TRMM], (LEFT, LOWER, NO, NO, n32, n32, 1.0, diagonal, m32, rate, m32))
    if below > 0:
        B, dB = _at(L, panel + n), _at(D, panel + n)
        fortran(blas[GEMM], (NO, YES, below, n32, n32, -1.0, B, m32, rate, m32, 1.0, dB, m32))
        fortran(blas[TRSM], (RIGHT, LOWER, YES, NO, below, n32, 1.0, diagonal, m32, dB, m32))


@kernel
def _solve_panel(blas, n, m, k, L, panel, X, row, W):
    """x <- L^-1 x for the rows of the panel, W = B x for the rows below."""
    n32, m32, k32, below, one = np.int32(n), np.int32(m), np.int32(k), np.int32(m - n), np.int32(1)
    x, diagonal, B = _at(X, row * k), _at(L, panel), _at(L, panel + n)
    if k == 1:
        fortran(blas[TRSV], (LOWER, NO, NO, n32, diagonal, m32, x, one))
        if below > 0:
            fortran(blas[GEMV], (NO, below, n32, 1.0, B, m32, x, one, 0.0, _at(W, 0), one))
    else:
        fortran(blas[TRSM], (RIGHT, LOWER, YES, NO, k32, n32, 1.0, diagonal, m32, x, k32))
        if below > 0:
            fortran(blas[GEMM], (NO, YES, k32, below, n32, 1.0, x, k32, B, m32, 0.0, _at(W, 0), k32))


@kernel
def _solve_panel_transposed(blas, n, m, k, L, panel, X, row, W):
    """x <- L^-T (x - B^T W) for the rows of the panel, W the rows below."""
    n32, m32, k32, below, one = np.int32(n), np.int32(m), np.int32(k), np.int32(m - n), np.int32(1)
    x, diagonal, B = _at(X, row * k), _at(L, panel), _at(L, panel + n)
    if k == 1:
        if below > 0:
            fortran(blas[GEMV], (YES, below, n32, -1.0, B, m32, _at(W, 0), one, 1.0, x, one))
        fortran(blas[TRSV], (LOWER, YES, NO, n32, diagonal, m32, x, one))
    else:
        if below > 0:
            fortran(blas[GEMM], (NO, NO, k32, n32, below, -1.0, _at(W, 0), k32, B, m32, 1.0, x, k32))
        fortran(blas[TRSM], (RIGHT, LOWER, NO, NO, k32, n32, 1.0, diagonal, m32, x, k32))


@kernel
def _scatter(s, n, below, C, L, first, row_start, panel_start, maps):
    """Add the update C (lower triangle, column-major) of supernode s into the panels of its ancestors."""
    update_start, updates, run_start, runs = maps
    for u in range(update_start[s], update_start[s + 1]):
        a = updates[u, 0]
        height = row_start[a + 1] - row_start[a]
        head = run_start[u]  # the run with the row of the current column
        for c in range(updates[u, 1], updates[u, 2]):
            while runs[head, 0] + runs[head, 2] <= c:
                head += 1
            ahead = c - runs[head, 0]
            source = (c - n) * below - n
            target = panel_start[a] + (runs[head, 1] + ahead) * height
            for k in range(ahead, runs[head, 2]):
                L[target + runs[head, 1] + k] += C[source + runs[head, 0] + k]
            for r in range(head + 1, run_start[u + 1]):
                i, j = source + runs[r, 0], target + runs[r, 1]
                for k in range(runs[r, 2]):
                    L[j + k] += C[i + k]


@kernel
def _largest_update(first, row_start):
    return _tallest(first, row_start) ** 2


@kernel
def _tallest(first, row_start):
    """The largest number of rows below a supernode."""
    tallest = 1
    for s in range(len(first) - 1):
        tallest = max(tallest, (row_start[s + 1] - row_start[s]) - (first[s + 1] - first[s]))
    return tallest
