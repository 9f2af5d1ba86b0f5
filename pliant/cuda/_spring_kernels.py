"""Kernels on springs, one thread each, see `springs`. Templates."""

import math

from numba import cuda, float64

stored = tension = across = None  # bound to the CPU's functions


@cuda.jit(device=True)
def span(x, ends, e, s):
    """s = x_i - x_j and its length."""
    i, j = ends[0, e], ends[1, e]
    for a in range(3):
        s[a] = x[i + a] - x[j + a]
    return math.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])


def energy_pass(x, ends, rest, k, out):
    """out (m,) [J]"""
    e = cuda.grid(1)
    if e < out.shape[0]:
        s = cuda.local.array(3, float64)
        out[e] = stored(span(x, ends, e, s), rest[e], k[e])


def force_pass(x, ends, rest, k, out):
    """out (6, m): the gradient with respect to both ends [N]."""
    e = cuda.grid(1)
    if e < out.shape[1]:
        s = cuda.local.array(3, float64)
        pull = tension(span(x, ends, e, s), rest[e], k[e])
        for a in range(3):
            out[a, e], out[3 + a, e] = pull * s[a], -pull * s[a]


def block_pass(x, ends, rest, k, psd, out):
    """out (27, m): the blocks B, -B, B of the pairs (0, 0), (0, 1), (1, 1) [N/m]."""
    e = cuda.grid(1)
    if e < out.shape[1]:
        s = cuda.local.array(3, float64)
        L = span(x, ends, e, s)
        side = across(L, rest[e], k[e], psd)
        along = (k[e] - side) / max(L * L, 1e-300)
        for a in range(3):
            for b in range(3):
                B = along * s[a] * s[b] + (side if a == b else 0.0)
                c = 3 * a + b
                out[c, e], out[9 + c, e], out[18 + c, e] = B, -B, B
