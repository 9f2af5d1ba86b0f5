"""Spring kernels: serial loops, since networks are small; fixed order, hence deterministic.

What a spring of length L does is written once, as scalar functions that compile for a GPU, too.
"""

import math

import numpy as np
from numba import njit

from pliant.kernels.device import device


@device
def stored(L, rest, k):
    """k/2 (L - l0)^2 [J]"""
    return 0.5 * k * (L - rest) ** 2


@device
def tension(L, rest, k):
    """k (L - l0) / L [N/m]; a spring of zero length has no direction: no force."""
    return k * (L - rest) / max(L, 1e-300)


@device
def across(L, rest, k, psd):
    """The geometric stiffness k (1 - l0/L) [N/m]; ``psd`` drops it in compression."""
    stiffness = k * (1.0 - rest / max(L, 1e-12))
    return 0.0 if psd and stiffness < 0.0 else stiffness


@njit(cache=True, error_model="numpy")
def value(x, edges, rest, k):
    total = 0.0
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        L2 = 0.0
        for a in range(x.shape[1]):
            L2 += (x[i, a] - x[j, a]) ** 2
        total += stored(math.sqrt(L2), rest[e], k[e])
    return total


@njit(cache=True, error_model="numpy")
def gradient(x, edges, rest, k):
    g = np.zeros_like(x)
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        L2 = 0.0
        for a in range(x.shape[1]):
            L2 += (x[i, a] - x[j, a]) ** 2
        pull = tension(math.sqrt(L2), rest[e], k[e])
        for a in range(x.shape[1]):
            f = pull * (x[i, a] - x[j, a])
            g[i, a] += f
            g[j, a] -= f
    return g


@njit(cache=True, error_model="numpy")
def blocks(x, edges, rest, k, geometric, psd):
    """One d x d block per spring: the Hessian with respect to s = x_i - x_j."""
    d = x.shape[1]
    out = np.zeros((len(edges), d, d))
    s = np.empty(d)
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        L2 = 0.0
        for a in range(d):
            s[a] = x[i, a] - x[j, a]
            L2 += s[a] * s[a]
        geo = across(math.sqrt(L2), rest[e], k[e], psd) if geometric else 0.0
        along = k[e] - geo
        for a in range(d):
            for b in range(d):
                out[e, a, b] = along * s[a] * s[b] / max(L2, 1e-300)
            out[e, a, a] += geo
    return out


@njit(cache=True)
def scatter(B, slots, nnz):
    """Add +B to the (i,i) and (j,j) blocks and -B to (i,j) and (j,i); ``slots (m, 2, 2, d, d)`` index the values."""
    data = np.zeros(nnz)
    m, d = B.shape[0], B.shape[1]
    for e in range(m):
        for p in range(2):
            for q in range(2):
                sign = 1.0 if p == q else -1.0
                for a in range(d):
                    for b in range(d):
                        data[slots[e, p, q, a, b]] += sign * B[e, a, b]
    return data
