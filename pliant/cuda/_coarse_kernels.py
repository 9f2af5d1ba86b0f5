"""Kernels of the coarse space of rigid motions, see `coarse`."""

from numba import cuda, float64

from pliant.cuda._matrix_kernels import BLOCK, SLICE
from pliant.cuda._pcg_kernels import block_sum
from pliant.cuda.device import SIMULATED

MODES = 6
WIDE = 8 if SIMULATED else 128  # threads of the blocks that sum over a group


@cuda.jit(device=True)
def mode(offset, i, u, c):
    """Component u of mode c at vertex i: e_c, or the rotation e_(c-3) x offset."""
    if c < 3:
        return 1.0 if u == c else 0.0
    k = c - 3
    if u == k:
        return 0.0
    return offset[3 * i + 3 - u - k] * (1.0 if (u - k) % 3 == 2 else -1.0)


@cuda.jit
def projected(first, members, group, offset, mask, start, columns, values, K):
    """K (6g, 6g) = P^T A P: one block per group, one thread per entry of its 6x6 blocks, which nobody else writes."""
    a, t = cuda.blockIdx.x, cuda.threadIdx.x
    if t < MODES * MODES:
        r, c = t // MODES, t % MODES
        own = 0.0
        for q in range(first[a], first[a + 1]):
            i = members[q]
            s, l = i // SLICE, i % SLICE
            for k in range(start[s], start[s + 1]):
                j = columns[k * SLICE + l]
                o = k * BLOCK + l
                total = 0.0
                for u in range(3):
                    left = mask[3 * i + u] * mode(offset, i, u, r)
                    if left != 0.0:
                        for v in range(3):
                            right = mask[3 * j + v] * mode(offset, j, v, c)
                            total += left * values[o + (3 * u + v) * SLICE] * right
                if group[j] == a:
                    own += total
                else:
                    K[MODES * a + r, MODES * group[j] + c] += total
        K[MODES * a + r, MODES * a + c] += own


@cuda.jit
def restricted(first, members, offset, mask, r, out):
    """out (6g,) = P^T r, one block per group."""
    shared, own = cuda.shared.array(WIDE, float64), cuda.local.array(MODES, float64)
    a, t = cuda.blockIdx.x, cuda.threadIdx.x
    for c in range(MODES):
        own[c] = 0.0
    for q in range(first[a] + t, first[a + 1], WIDE):
        i = members[q]
        for c in range(MODES):
            for u in range(3):
                own[c] += mask[3 * i + u] * mode(offset, i, u, c) * r[3 * i + u]
    for c in range(MODES):
        total = block_sum(own[c], shared)
        if t == 0:
            out[MODES * a + c] = total
        cuda.syncthreads()


@cuda.jit
def dense_product(K, x, y):
    """y = K x, one block per row."""
    shared = cuda.shared.array(WIDE, float64)
    i, t = cuda.blockIdx.x, cuda.threadIdx.x
    total = 0.0
    for k in range(t, x.shape[0], WIDE):
        total += K[i, k] * x[k]
    total = block_sum(total, shared)
    if t == 0:
        y[i] = total


@cuda.jit
def prolonged(group, offset, mask, y, z):
    """z += P y"""
    i = cuda.grid(1)
    if i < group.shape[0]:
        for u in range(3):
            total = 0.0
            for c in range(MODES):
                total += mode(offset, i, u, c) * y[MODES * group[i] + c]
            z[3 * i + u] += mask[3 * i + u] * total
