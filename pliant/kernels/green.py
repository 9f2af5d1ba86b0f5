"""Green strain-rate damping: P = mu F (F^T Fdot + Fdot^T F) and its derivative with respect to Fdot [card B1].

With two shape gradients g, h that derivative has the node-pair block mu ((g.h) F F^T + (F h)(F g)^T), which is symmetric
and positive semidefinite in all of an element: nothing to clamp.
"""

from functools import cache

import numpy as np
from numba import prange

from pliant.kernels.device import W, apply, combine, device, lanes, load9, times, times_transpose
from pliant.kernels.direct import direct_blocks
from pliant.kernels.passes import BLOCKS
from pliant.kernels.specialise import compiled, force_lanes, hessian_pass, label

# Bound per element.
columns = stresses = forces = scatter = None


@device
def piola(F, p):
    """The stress arrives ready in F's place: `passes.lane_forces` only distributes it to the nodes."""
    return F


@device
def pair(F, p, g, h):
    mu = p[0]
    c = mu * (g[0] * h[0] + g[1] * h[1] + g[2] * h[2])
    a0, a1, a2 = apply(F, h[0], h[1], h[2])
    b0, b1, b2 = apply(F, mu * g[0], mu * g[1], mu * g[2])
    ab = (a0 * b0, a0 * b1, a0 * b2, a1 * b0, a1 * b1, a1 * b2, a2 * b0, a2 * b1, a2 * b2)
    return combine(c, times_transpose(F, F), 1.0, ab)


@lanes
def lane_rate_stress(F, D, params):
    """D becomes mu F (F^T D + D^T F), lane by lane."""
    for l in range(W):
        f = load9(F, l)
        d = load9(D, l)
        t = times_transpose
        ft = (f[0], f[3], f[6], f[1], f[4], f[7], f[2], f[5], f[8])
        dt = (d[0], d[3], d[6], d[1], d[4], d[7], d[2], d[5], d[8])
        P = times(f, combine(params[l], t(ft, dt), params[l], t(dt, ft)))
        for k in range(9):
            D[l + k * W] = P[k]


def rate_forces(x, v, T, G, params, stride, L, m, f):
    """Adds the nodal dissipation gradients of every patch to its own part of f, as `passes.gradient` does."""
    count = T.shape[0]
    for q in prange((count + BLOCKS - 1) // BLOCKS):
        F = np.empty(9 * W)
        D = np.empty(9 * W)
        g = np.empty(12 * W)
        for b in range(q * BLOCKS, min(q * BLOCKS + BLOCKS, count)):
            columns(x, T[b], G[b], F)
            columns(v, T[b], G[b], D)
            lane_rate_stress(F, D, params[stride * b])
            forces(D, G[b], params[stride * b], g)
            scatter(L[b], g, min(W, m - b * W), f)


@cache
def green(element):
    """The compiled passes (forces, matrix) of Green damping on an element."""
    tag = label("Green", element, __file__)
    forces, scatter = force_lanes(element, piola, tag)
    # the strain rate lives in the element's own columns: without the third column that densities are given
    own = element._replace(gather=element.columns)
    return (
        compiled(rate_forces, tag, columns=element.columns, forces=forces, scatter=scatter),
        hessian_pass(own, direct_blocks(pair, own, tag), tag),
    )
