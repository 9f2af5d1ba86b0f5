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


@cuda.jit(device=True)
def coupled_row_times(i, start, columns, values, ptr, off, nodes, blocks, mask, x):
    """Block row i of mask (A x), with the blocks of pairs besides (`matrix.Coupling`)."""
    a, b, c = row_times(i, start, columns, values, mask, x)
    if ptr.shape[0] > 1:
        u = v = w = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            p, r = off[k] // 4, off[k] % 4
            for s in range(4):
                if s != r:
                    j, o = 3 * nodes[s, p], 9 * (4 * r + s)
                    x0, x1, x2 = x[j], x[j + 1], x[j + 2]
                    u += blocks[o, p] * x0 + blocks[o + 1, p] * x1 + blocks[o + 2, p] * x2
                    v += blocks[o + 3, p] * x0 + blocks[o + 4, p] * x1 + blocks[o + 5, p] * x2
                    w += blocks[o + 6, p] * x0 + blocks[o + 7, p] * x1 + blocks[o + 8, p] * x2
        a, b, c = a + mask[3 * i] * u, b + mask[3 * i + 1] * v, c + mask[3 * i + 2] * w
    return a, b, c


@cuda.jit
def product(start, columns, values, ptr, off, nodes, blocks, mask, x, y):
    """y = mask (A x)"""
    i = cuda.grid(1)
    if i < mask.shape[0] // 3:
        a, b, c = coupled_row_times(i, start, columns, values, ptr, off, nodes, blocks, mask, x)
        y[3 * i], y[3 * i + 1], y[3 * i + 2] = a, b, c


@cuda.jit
def add_diagonal(place, weight, extra, values):
    """A += weight diag(extra)"""
    i = cuda.grid(1)
    if i < extra.shape[0]:
        values[place[i // 3] + 4 * (i % 3) * SLICE] += weight * extra[i]
