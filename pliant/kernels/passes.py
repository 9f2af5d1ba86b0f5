"""The loops over elements, written once for every material and element.

Elements lie along a space-filling curve, W in a block and BLOCKS blocks in a patch. A patch sums its elements into its
own compact buffer, and a merge adds the few contributions per node or 3x3 block in a fixed order: two parallel regions,
no colouring, no atomics, bit-identical results for any number of threads.

The functions below are templates (see `bind`): `specialise.kernels` makes one compiled and disk-cached function of each
per element and density.
"""

import numpy as np
from numba import prange

from pliant.kernels.device import W, device, load8, load9

BLOCKS = 16
"""Blocks per patch: 256 elements, whose sums stay in the fast caches."""

# Bound by `specialise`: counts of the element, device functions of element and density, lane loops from below.
NODES, DIM = 4, 3
gather = psi = piola = blocks = energies = stresses = forces = scatter = first_rows = None


@device
def pair_index(a, b, nodes):
    """Place of the pair a <= b among (0,0), (0,1), ..., (1,1), ..."""
    return a * nodes - a * (a - 1) // 2 + b - a


def energy(x, T, G, params, stride, out):
    """out (blocks, W): rest volume times psi of every element [J]."""
    count = T.shape[0]
    for q in prange((count + BLOCKS - 1) // BLOCKS):
        F = np.empty(9 * W)
        for b in range(q * BLOCKS, min(q * BLOCKS + BLOCKS, count)):
            gather(x, T[b], G[b], F)
            energies(F, G[b], params[stride * b], out[b])


def stress(x, T, G, params, stride, out):
    """out (blocks, 9*W): P = d psi/dF of every element [Pa]."""
    count = T.shape[0]
    for q in prange((count + BLOCKS - 1) // BLOCKS):
        F = np.empty(9 * W)
        for b in range(q * BLOCKS, min(q * BLOCKS + BLOCKS, count)):
            gather(x, T[b], G[b], F)
            stresses(F, params[stride * b], out[b])


def lane_stress(F, params, out):
    for l in range(W):
        P = piola(load9(F, l), load8(params, l))
        for k in range(9):
            out[l + k * W] += P[k]


def lane_energy(F, G, params, out):
    for l in range(W):
        out[l] += G[l + 9 * W] * psi(load9(F, l), load8(params, l))


def lane_forces(F, G, params, g):
    """g (NODES*DIM rows): the gradient of the element energy with respect to its nodes, w P grad N."""
    for l in range(W):
        P = piola(load9(F, l), load8(params, l))
        w = G[l + 9 * W]
        for r in range(DIM):
            p0, p1, p2 = w * P[3 * r], w * P[3 * r + 1], w * P[3 * r + 2]
            total = 0.0
            for a in range(NODES - 1):
                f = p0 * G[l + 3 * a * W] + p1 * G[l + (3 * a + 1) * W] + p2 * G[l + (3 * a + 2) * W]
                g[l + (DIM * (a + 1) + r) * W] = f
                total += f
            g[l + r * W] = -total


def lane_scatter(T, g, lanes_used, f):
    for l in range(lanes_used):
        for a in range(NODES):
            i = T[l + a * W]
            for r in range(DIM):
                f[i + r] += g[l + (DIM * a + r) * W]


def gradient(x, T, G, params, stride, L, m, f):
    """Adds the nodal gradients of every patch to its own part of f; L holds the offsets there."""
    count = T.shape[0]
    for q in prange((count + BLOCKS - 1) // BLOCKS):
        F = np.empty(9 * W)
        g = np.empty(12 * W)
        for b in range(q * BLOCKS, min(q * BLOCKS + BLOCKS, count)):
            gather(x, T[b], G[b], F)
            forces(F, G[b], params[stride * b], g)
            scatter(L[b], g, min(W, m - b * W), f)


def node_zero(H):
    """Rows of node 0 from translation invariance, H_0b = -sum_a H_ab; pairs in the order of `pair_index`."""
    for i in range(3):
        for j in range(3):
            for l in range(W):
                for b in range(1, NODES):
                    total = 0.0
                    for a in range(1, NODES):
                        k = 3 * i + j if a <= b else 3 * j + i  # below the diagonal: the transposed block
                        total += H[l + (9 * pair_index(min(a, b), max(a, b), NODES) + k) * W]
                    H[l + (9 * b + 3 * i + j) * W] = -total
    for i in range(3):
        for j in range(3):
            for l in range(W):
                total = 0.0
                for b in range(1, NODES):
                    total += H[l + (9 * b + 3 * j + i) * W]
                H[l + (3 * i + j) * W] = -total


def block_scatter(E, H, lanes_used, h):
    pairs = NODES * (NODES + 1) // 2
    for l in range(lanes_used):
        for s in range(pairs):
            o = E[s + pairs * l]  # unsigned: no test for negative indices
            for i in range(DIM):
                for j in range(DIM):
                    h[o + DIM * i + j] += H[l + (9 * s + 3 * i + j) * W]


def hessian(x, T, G, params, stride, psd, E, m, h):
    """Adds the node-pair blocks of every patch to its own part of h; E holds the offsets there."""
    count = T.shape[0]
    for q in prange((count + BLOCKS - 1) // BLOCKS):
        F = np.empty(9 * W)
        S = np.empty(32 * W)
        H = np.empty(90 * W)
        for b in range(q * BLOCKS, min(q * BLOCKS + BLOCKS, count)):
            gather(x, T[b], G[b], F)
            blocks(F, G[b], params[stride * b], psd, S, H[9 * W * NODES :])
            first_rows(H)
            scatter(E[b], H, min(W, m - b * W), h)


def march(x, v, f, inverse_mass, load, h, steps, T, G, params, stride, m):
    """``steps`` steps of symplectic Euler in place, v += h M^-1 (load - grad W(x)), x += h v, in one call.

    One thread, no buffers beyond f: made for meshes whose tables fit the second-level cache.
    """
    F = np.empty(9 * W)
    g = np.empty(12 * W)
    for _ in range(steps):
        for i in range(f.shape[0]):
            f[i] = 0.0
        for b in range(T.shape[0]):
            gather(x, T[b], G[b], F)
            forces(F, G[b], params[stride * b], g)
            scatter(T[b], g, min(W, m - b * W), f)
        for i in range(f.shape[0]):
            v[i] += h * inverse_mass[i] * (load[i] - f[i])
            x[i] += h * v[i]
