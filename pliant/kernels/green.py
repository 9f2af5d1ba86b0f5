"""Green strain-rate damping: P = mu F (F^T Fdot + Fdot^T F) and its derivative with respect to Fdot [QLB2021].

With two shape gradients g, h that derivative has the node-pair block mu ((g.h) F F^T + (F h)(F g)^T). As the matrix of
a whole element it is symmetric and positive semidefinite: nothing to clamp.
"""

from functools import cache

import numpy as np
from numba import prange

from pliant.kernels.device import W, apply, combine, device, dot, lanes, load9, outer, times, times_transpose, transpose
from pliant.kernels.direct import direct_blocks
from pliant.kernels.passes import BLOCKS
from pliant.kernels.specialise import Choice, compiled, force_lanes, hessian_pass, label

# Bound per element.
columns = forces = scatter = None


@device
def piola(F, p):
    """The stress arrives ready in F's place: `passes.lane_forces` only distributes it to the nodes."""
    return F


@device
def pair(F, p, g, h):
    Fg = apply(F, g)
    return combine(p[0] * dot(g, h), times_transpose(F, F), p[0], outer(apply(F, h), Fg))


@lanes
def lane_rate_stress(F, D, params):
    """D becomes mu F (F^T D + D^T F), lane by lane."""
    for l in range(W):
        f = load9(F, l)
        c = times(transpose(f), load9(D, l))
        P = times(f, combine(params[l], c, params[l], transpose(c)))
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
def green(choice):
    """The compiled passes (forces, matrix) of Green damping."""
    element, parallel = choice
    tag = label("Green", choice, __file__)
    # the strain rate lives in the element's own columns: without the third column that densities are given
    own = element._replace(gather=element.columns)
    return (
        compiled(rate_forces, tag, parallel, columns=element.columns, **force_lanes(element, piola, tag)),
        hessian_pass(Choice(own, parallel), direct_blocks(pair, own, tag), tag),
    )
