"""Kernels on sparse matrices of 3x3 blocks, see `matrix`."""

from numba import cuda

SLICE = 32
BLOCK = 9 * SLICE  # numbers in the k-th blocks of a slice


@cuda.jit(device=True)
def row_times(i, start, columns, values, mask, x):
    """Block row i of mask (A x)."""
    s, l = i // SLICE, i % SLICE
    a = b = c = 0.0
    for k in range(start[s], start[s + 1]):
        j = 3 * columns[k * SLICE + l]
        p = k * BLOCK + l
        x0, x1, x2 = x[j], x[j + 1], x[j + 2]
        a += values[p] * x0 + values[p + SLICE] * x1 + values[p + 2 * SLICE] * x2
        b += values[p + 3 * SLICE] * x0 + values[p + 4 * SLICE] * x1 + values[p + 5 * SLICE] * x2
        c += values[p + 6 * SLICE] * x0 + values[p + 7 * SLICE] * x1 + values[p + 8 * SLICE] * x2
    return mask[3 * i] * a, mask[3 * i + 1] * b, mask[3 * i + 2] * c


@cuda.jit
def product(start, columns, values, mask, x, y):
    """y = mask (A x)"""
    i = cuda.grid(1)
    if i < mask.shape[0] // 3:
        y[3 * i], y[3 * i + 1], y[3 * i + 2] = row_times(i, start, columns, values, mask, x)


@cuda.jit
def add_diagonal(place, weight, extra, values):
    """A += weight diag(extra)"""
    i = cuda.grid(1)
    if i < extra.shape[0]:
        values[place[i // 3] + 4 * (i % 3) * SLICE] += weight * extra[i]
