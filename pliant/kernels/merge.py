"""Second loop of an assembly: sum the patches' contributions in fixed order into the final arrays. Templates."""

from numba import prange


def nodes(f, ptr, off, dim, out):
    """out (n*dim): the sum over the patches that touch node i, off[ptr[i]:ptr[i+1]] being its places in f."""
    for i in prange(ptr.shape[0] - 1):
        for r in range(dim):
            total = 0.0
            for k in range(ptr[i], ptr[i + 1]):
                total += f[off[k] + r]
            out[dim * i + r] = total


def blocks3(h, row, ptr, off, upper, lower, width, data):
    """CSR values of all 3x3 blocks: sum of the contributions to block (i, j >= i), and its transpose at (j, i)."""
    for i in prange(row.shape[0] - 1):
        s = width[i]
        for b in range(row[i], row[i + 1]):
            # fmt: off
            a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = a8 = 0.0
            for k in range(ptr[b], ptr[b + 1]):
                o = off[k]
                a0 += h[o]; a1 += h[o + 1]; a2 += h[o + 2]
                a3 += h[o + 3]; a4 += h[o + 4]; a5 += h[o + 5]
                a6 += h[o + 6]; a7 += h[o + 7]; a8 += h[o + 8]
            p = upper[b]
            data[p] = a0; data[p + 1] = a1; data[p + 2] = a2
            p += s
            data[p] = a3; data[p + 1] = a4; data[p + 2] = a5
            p += s
            data[p] = a6; data[p + 1] = a7; data[p + 2] = a8
            p = lower[b, 0]
            t = lower[b, 1]
            data[p] = a0; data[p + 1] = a3; data[p + 2] = a6
            p += t
            data[p] = a1; data[p + 1] = a4; data[p + 2] = a7
            p += t
            data[p] = a2; data[p + 1] = a5; data[p + 2] = a8
            # fmt: on


def blocks2(h, row, ptr, off, upper, lower, width, data):
    """As `blocks3` for 2x2 blocks."""
    for i in prange(row.shape[0] - 1):
        s = width[i]
        for b in range(row[i], row[i + 1]):
            # fmt: off
            a0 = a1 = a2 = a3 = 0.0
            for k in range(ptr[b], ptr[b + 1]):
                o = off[k]
                a0 += h[o]; a1 += h[o + 1]; a2 += h[o + 2]; a3 += h[o + 3]
            p = upper[b]
            data[p] = a0; data[p + 1] = a1; data[p + s] = a2; data[p + s + 1] = a3
            p = lower[b, 0]
            t = lower[b, 1]
            data[p] = a0; data[p + 1] = a2; data[p + t] = a1; data[p + t + 1] = a3
            # fmt: on
