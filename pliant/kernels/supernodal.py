"""The numeric phases of the supernodal Cholesky factorization: right-looking, one dense panel at a time.

A panel is factored (potrf, trsm), its whole update formed by one syrk, and the update scattered into the panels of its
ancestors along the runs found by the analysis. With L the diagonal block of a panel, B what is below it, ' for d/dt:

    L L^T = A,                       B <- B L^-T,                    C = B B^T
    L' = L Phi(L^-1 A' L^-T),        B' <- (B' - B L'^T) L^-T,       C' = B' B^T + B B'^T      [Weidner2022, App. C]

Phi takes the strict lower triangle and half the diagonal. Panels are column-major.
"""

import numba
import numpy as np

from pliant.kernels.blas import (
    GEMM,
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
    YES,
    at,
    fortran,
    numbers,
)

BLOCK = 96  # columns of a panel factored at a time
CACHED = 1 << 16  # entries of an update formed at a time: half a megabyte
NARROWEST = 96  # columns of an update formed at a time, at least

kernel = numba.njit(cache=True, error_model="numpy", nogil=True)
inlined = numba.njit(cache=True, error_model="numpy", inline="always")


@kernel
def fill(L, position, values):
    """L = 0 except for the given values of A."""
    L[:] = 0.0
    for k in range(len(position)):
        L[position[k]] = values[k]


@kernel
def move(ahead, L, D, dt):
    """ahead <- L + dt D, in one pass: panels are larger than any cache."""
    for k in range(len(L)):
        ahead[k] = L[k] + dt * D[k]


@kernel
def difference(ahead, L, e):
    """ahead <- (ahead - L) / e, in one pass."""
    for k in range(len(L)):
        ahead[k] = (ahead[k] - L[k]) / e


@kernel
def factor(blas, structure, L):
    """Overwrite the panels L, which hold A, by its factor; the position of a bad pivot in elimination order, or -1."""
    first, row_start, _, panel_start = structure[:4]
    maps = structure[4:]
    C = np.empty(_largest_update(first, row_start), L.dtype)
    for s in range(len(first) - 1):
        n = first[s + 1] - first[s]
        m = row_start[s + 1] - row_start[s]
        panel = panel_start[s]
        bad = _factor_panel(blas, n, m, L, panel)
        if bad >= 0:
            return first[s] + bad
        _update_strips(blas, s, n, m, n, m, L, C, row_start, panel_start, maps)
    return -1


@kernel
def factor_subtree(blas, structure, L, begin, end):
    """As `factor` for the panels begin:end, whose updates reach no others as far as their own columns are concerned.

    What they do to later columns is left to `update_columns`.
    """
    first, row_start, rows, panel_start = structure[:4]
    maps = structure[4:]
    C = np.empty(_largest_update(first, row_start), L.dtype)
    for s in range(begin, end):
        n = first[s + 1] - first[s]
        m = row_start[s + 1] - row_start[s]
        bad = _factor_panel(blas, n, m, L, panel_start[s])
        if bad >= 0:
            return first[s] + bad
        inside = np.searchsorted(rows[row_start[s] : row_start[s + 1]], first[end])
        _update_strips(blas, s, n, m, n, inside, L, C, row_start, panel_start, maps)
    return -1


@kernel
def update_columns(blas, structure, L, sources, beyond, low, high):
    """Add the updates of factored panels, one after the other, to those columns low:high that are beyond their own."""
    first, row_start, rows, panel_start = structure[:4]
    maps = structure[4:]
    C = np.empty(_largest_update(first, row_start), L.dtype)
    for s in sources:
        n = first[s + 1] - first[s]
        m = row_start[s + 1] - row_start[s]
        own = rows[row_start[s] : row_start[s + 1]]
        begin, end = np.searchsorted(own, max(low, beyond[s])), np.searchsorted(own, high)
        _update_strips(blas, s, n, m, begin, end, L, C, row_start, panel_start, maps)


@kernel
def _update_strips(blas, s, n, m, begin, end, L, C, row_start, panel_start, maps):
    """Form the columns begin:end of the update of panel s, a strip at a time, and add them to its ancestors."""
    step = _strip(n, m) if m > n else 1
    for left in range(begin, end, step):
        right = min(left + step, end)
        _update(blas, n, m, left, right, L, panel_start[s], C)
        _scatter(s, left, right, m, C, L, row_start, panel_start, maps)


@kernel
def factor_and_rate(blas, structure, L, D):
    """Overwrite L (holding A) by the factor and D (holding dA/dt) by its derivative; a bad pivot's position, or -1."""
    first, row_start, _, panel_start = structure[:4]
    maps = structure[4:]
    C = np.empty(_largest_update(first, row_start), L.dtype)
    for s in range(len(first) - 1):
        n = first[s + 1] - first[s]
        m = row_start[s + 1] - row_start[s]
        panel = panel_start[s]
        bad = _factor_panel_and_rate(blas, n, m, L, D, panel)
        if bad >= 0:
            return first[s] + bad
        step = _strip(n, m) if m > n else 1
        for begin in range(n, m, step):
            end = min(begin + step, m)
            _update(blas, n, m, begin, end, L, panel, C)
            _scatter(s, begin, end, m, C, L, row_start, panel_start, maps)
            _update_rate(blas, n, m, begin, end, L, D, panel, C)
            _scatter(s, begin, end, m, C, D, row_start, panel_start, maps)
    return -1


@kernel
def _factor_panel(blas, n, m, L, panel):
    """Factor the first n columns of an m-row panel, BLOCK columns at a time; the column of a bad pivot, or -1."""
    begin = 0
    while begin < n:
        end = begin + BLOCK if begin + BLOCK + BLOCK // 2 < n else n
        bad = _factor_block(blas, end - begin, m - begin, m, L, panel + begin * (m + 1))
        if bad >= 0:
            return begin + bad
        if end < n:
            update_block(blas, begin, end, end, n, m, L, panel)
        begin = end
    return -1


@kernel
def _factor_block(blas, wide, tall, m, L, corner):
    """L <- chol(L) for the square on top of a block of columns, B <- B L^-T for what is below; a bad pivot, or -1."""
    bad = factor_square(blas, wide, m, L, corner)
    if bad < 0 and tall > wide:
        divide_rows(blas, wide, wide, tall, m, L, corner)
    return bad


@kernel
def factor_square(blas, wide, m, L, corner):
    """L <- chol(L) for the square at ``corner`` of a panel with m rows; the column of a bad pivot, or -1."""
    info = np.zeros(1, dtype=np.int32)
    fortran(blas[POTRF], (LOWER, np.int32(wide), at(L, corner), np.int32(m), at(info, 0)))
    for k in range(wide):
        if not L[corner + k * (m + 1)] > 0.0 or k + 1 == info[0]:
            return k
    return -1


@kernel
def divide_rows(blas, wide, low, high, m, L, corner):
    """B <- B L^-T for the rows low:high under ``corner``, whose square L is factored."""
    one, _, _ = numbers(L)
    count, wide32, m32 = np.int32(high - low), np.int32(wide), np.int32(m)
    fortran(blas[TRSM], (RIGHT, LOWER, YES, NO, count, wide32, one, at(L, corner), m32, at(L, corner + low), m32))


@kernel
def update_block(blas, begin, end, low, high, m, L, panel):
    """Subtract the columns begin:end from the columns low:high of the same panel, from the diagonal down."""
    one, minus, _ = numbers(L)
    wide, rest, below, m32 = np.int32(end - begin), np.int32(high - low), np.int32(m - high), np.int32(m)
    column = panel + begin * m
    B, target = at(L, column + low), at(L, panel + low * (m + 1))
    fortran(blas[SYRK], (LOWER, NO, rest, wide, minus, B, m32, one, target, m32))
    if below > 0:
        under, target = at(L, column + high), at(L, panel + low * m + high)
        fortran(blas[GEMM], (NO, YES, below, rest, wide, minus, under, m32, B, m32, one, target, m32))


@kernel
def _update(blas, n, m, begin, end, L, panel, C):
    """C = -B[begin:] B[begin:end]^T, rows counted from the top of the panel; the lower triangle of its square part."""
    _, minus, zero = numbers(L)
    tall, wide, under = np.int32(m - begin), np.int32(end - begin), np.int32(m - end)
    n32, m32 = np.int32(n), np.int32(m)
    B, rest = at(L, panel + begin), at(L, panel + end)
    fortran(blas[SYRK], (LOWER, NO, wide, n32, minus, B, m32, zero, at(C, 0), tall))
    if under > 0:
        fortran(blas[GEMM], (NO, YES, under, wide, n32, minus, rest, m32, B, m32, zero, at(C, wide), tall))


@kernel
def _update_rate(blas, n, m, begin, end, L, D, panel, C):
    """C = -(B' B^T + B B'^T) on the same part."""
    one, minus, zero = numbers(L)
    tall, wide, under = np.int32(m - begin), np.int32(end - begin), np.int32(m - end)
    n32, m32 = np.int32(n), np.int32(m)
    B, rest, dB, drest = at(L, panel + begin), at(L, panel + end), at(D, panel + begin), at(D, panel + end)
    fortran(blas[SYR2K], (LOWER, NO, wide, n32, minus, dB, m32, B, m32, zero, at(C, 0), tall))
    if under > 0:
        fortran(blas[GEMM], (NO, YES, under, wide, n32, minus, drest, m32, B, m32, zero, at(C, wide), tall))
        fortran(blas[GEMM], (NO, YES, under, wide, n32, minus, rest, m32, dB, m32, one, at(C, wide), tall))


@kernel
def _factor_panel_and_rate(blas, n, m, L, D, panel):
    """The same sweep as `_factor_panel` for L and its derivative D together."""
    begin = 0
    while begin < n:
        end = begin + BLOCK if begin + BLOCK + BLOCK // 2 < n else n
        corner = panel + begin * (m + 1)
        bad = _factor_block(blas, end - begin, m - begin, m, L, corner)
        if bad >= 0:
            return begin + bad
        _rate_block(blas, end - begin, m - begin, m, L, D, corner)
        if end < n:
            update_block(blas, begin, end, end, n, m, L, panel)
            _update_block_rate(blas, begin, end, n, m, L, D, panel)
        begin = end
    return -1


@kernel
def _rate_block(blas, wide, tall, m, L, D, corner):
    """L' <- L Phi(L^-1 A' L^-T) for the square on top, B' <- (B' - B L'^T) L^-T for what is below."""
    one, minus, _ = numbers(L)
    wide32, m32, under = np.int32(wide), np.int32(m), np.int32(tall - wide)
    info = np.zeros(1, dtype=np.int32)
    diagonal, rate = at(L, corner), at(D, corner)
    fortran(blas[SYGST], (np.int32(1), LOWER, wide32, rate, m32, diagonal, m32, at(info, 0)))
    for k in range(wide):
        D[corner + k * (m + 1)] *= 0.5
    fortran(blas[TRMM], (LEFT, LOWER, NO, NO, wide32, wide32, one, diagonal, m32, rate, m32))
    if under > 0:
        B, dB = at(L, corner + wide), at(D, corner + wide)
        fortran(blas[GEMM], (NO, YES, under, wide32, wide32, minus, B, m32, rate, m32, one, dB, m32))
        fortran(blas[TRSM], (RIGHT, LOWER, YES, NO, under, wide32, one, diagonal, m32, dB, m32))
    return info[0]  # keeps the array alive beyond the call that writes it


@kernel
def _update_block_rate(blas, begin, end, n, m, L, D, panel):
    """Subtract the derivative of the product of the columns begin:end from the columns end:n of the derivative."""
    one, minus, _ = numbers(L)
    wide, rest, below, m32 = np.int32(end - begin), np.int32(n - end), np.int32(m - n), np.int32(m)
    column = panel + begin * m
    B, dB, target = at(L, column + end), at(D, column + end), at(D, panel + end * (m + 1))
    fortran(blas[SYR2K], (LOWER, NO, rest, wide, minus, dB, m32, B, m32, one, target, m32))
    if below > 0:
        under, dunder, target = at(L, column + n), at(D, column + n), at(D, panel + end * m + n)
        fortran(blas[GEMM], (NO, YES, below, rest, wide, minus, dunder, m32, B, m32, one, target, m32))
        fortran(blas[GEMM], (NO, YES, below, rest, wide, minus, under, m32, dB, m32, one, target, m32))


@kernel
def _scatter(s, begin, end, m, C, L, row_start, panel_start, maps):
    """Add the columns begin:end (as rows of the panel s) of its update into the panels of its ancestors."""
    update_start, updates, run_start, runs = maps
    tall = m - begin
    for u in range(update_start[s], update_start[s + 1]):
        a = updates[u, 0]
        height = row_start[a + 1] - row_start[a]
        head = run_start[u]  # the run with the row of the current column
        for c in range(max(begin, updates[u, 1]), min(end, updates[u, 2])):
            while runs[head, 0] + runs[head, 2] <= c:
                head += 1
            ahead = c - runs[head, 0]
            source = (c - begin) * tall - begin
            target = panel_start[a] + (runs[head, 1] + ahead) * height
            for r in range(head, run_start[u + 1]):
                skip = ahead if r == head else 0
                _add(L, target + runs[r, 1] + skip, C, source + runs[r, 0] + skip, runs[r, 2] - skip)


@inlined
def _add(L, j, C, i, length):
    """L[j:j+length] += C[i:i+length]; unsigned indices spare the test for negative ones and let the loop vectorise."""
    j, i = np.uint64(j), np.uint64(i)
    for k in range(np.uint64(length)):
        L[j + k] += C[i + k]


@kernel
def _strip(n, m):
    """How many columns of an update to form at a time, so that they stay in the cache until they are scattered."""
    return max(NARROWEST, min(m - n, CACHED // (m - n)))


@kernel
def _largest_update(first, row_start):
    most = 1
    for s in range(len(first) - 1):
        below = (row_start[s + 1] - row_start[s]) - (first[s + 1] - first[s])
        if below > 0:
            most = max(most, below * _strip(0, below))
    return most
