"""A wide panel of the supernodal factorization, on all threads.

Block by block of columns: its square is factored, the rows below it are divided by that in pieces side by side, and then
it is subtracted from the columns after it, again in pieces. The pieces are the same for any number of threads.
"""

import numba

from pliant.kernels.supernodal import BLOCK, divide_rows, factor_square, update_block

shared = numba.njit(cache=True, error_model="numpy", nogil=True, parallel=True)


@shared
def factor(blas, structure, L, s, piece):
    """Factor the columns of panel s in pieces of that many rows or columns; the position of a bad pivot, or -1."""
    first, row_start, _, panel_start = structure[:4]
    n, m = first[s + 1] - first[s], row_start[s + 1] - row_start[s]
    for begin in range(0, n, BLOCK):
        end = min(begin + BLOCK, n)
        corner = panel_start[s] + begin * (m + 1)
        bad = factor_square(blas, end - begin, m, L, corner)
        if bad >= 0:
            return first[s] + begin + bad
        for k in numba.prange(-((end - m) // piece)):
            low = end - begin + k * piece
            divide_rows(blas, end - begin, low, min(low + piece, m - begin), m, L, corner)
        count = -((end - n) // piece)
        for k in numba.prange(
            count
        ):  # pieces on the left are taller: in turns from both ends every thread gets as much
            low = end + (k // 2 if k % 2 == 0 else count - 1 - k // 2) * piece
            update_block(blas, begin, end, low, min(low + piece, n), m, L, panel_start[s])
    return -1
