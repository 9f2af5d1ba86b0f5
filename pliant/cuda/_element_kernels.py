"""Kernels on elements, one thread each, and the sums of what they contribute; see `elements`. Templates."""

from numba import cuda, float64, uint32

from pliant.cuda._matrix_kernels import SLICE
from pliant.kernels.device import PARAMETERS

# Bound per element and density.
NODES = 4
gather = energies = forces = blocks = first_rows = volume_ratio = None


def energy_pass(x, T, G, params, stride, fresh, out):
    """out (m,): rest volume times psi [J]; ``fresh`` replaces what is there, else it is added to."""
    e = cuda.grid(1)
    m = out.shape[0]
    if e < m:
        t, g, p = cuda.local.array(4, uint32), cuda.local.array(10, float64), cuda.local.array(8, float64)
        F, w = cuda.local.array(9, float64), cuda.local.array(1, float64)
        load(T, G, params, stride, e, t, g, p)
        gather(x, t, g, F)
        w[0] = 0.0 if fresh else out[e]
        energies(F, g, p, w)
        out[e] = w[0]


def force_pass(x, T, G, params, stride, fresh, out):
    """out (NODES*3, m): the gradient of the element energy with respect to its nodes [N]."""
    e = cuda.grid(1)
    m = out.shape[1]
    if e < m:
        t, g, p = cuda.local.array(4, uint32), cuda.local.array(10, float64), cuda.local.array(8, float64)
        F, f = cuda.local.array(9, float64), cuda.local.array(12, float64)
        load(T, G, params, stride, e, t, g, p)
        gather(x, t, g, F)
        forces(F, g, p, f)
        for k in range(3 * NODES):
            out[k, e] = f[k] if fresh else out[k, e] + f[k]


def block_pass(x, T, G, params, stride, fresh, psd, out):
    """out (9 * pairs, m): the blocks of the node pairs (0, 0), (0, 1), ... [N/m]."""
    e = cuda.grid(1)
    m = out.shape[1]
    if e < m:
        t, g, p = cuda.local.array(4, uint32), cuda.local.array(10, float64), cuda.local.array(8, float64)
        F, S, H = cuda.local.array(9, float64), cuda.local.array(32, float64), cuda.local.array(90, float64)
        load(T, G, params, stride, e, t, g, p)
        gather(x, t, g, F)
        blocks(F, g, p, psd, S, H[9 * NODES :])
        first_rows(H)
        for k in range(out.shape[0]):
            out[k, e] = H[k] if fresh else out[k, e] + H[k]


def det_pass(x, T, G, out):
    """out (m,): det F; the ratio of areas on membranes."""
    e = cuda.grid(1)
    m = out.shape[0]
    if e < m:
        t, g, F = cuda.local.array(4, uint32), cuda.local.array(10, float64), cuda.local.array(9, float64)
        for k in range(T.shape[0]):
            t[k] = T[k, e]
        for k in range(10):
            g[k] = G[k, e]
        gather(x, t, g, F)
        out[e] = volume_ratio((F[0], F[1], F[2], F[3], F[4], F[5], F[6], F[7], F[8]))


@cuda.jit(device=True)
def load(T, G, params, stride, e, t, g, p):
    """Nodes, shape gradients and parameters of one element."""
    for k in range(T.shape[0]):
        t[k] = T[k, e]
    for k in range(10):
        g[k] = G[k, e]
    for k in range(PARAMETERS):
        p[k] = params[k, stride * e]


@cuda.jit
def sum_nodes(parts, ptr, off, out):
    """out (3n,): the sum of the parts of every node; off points into the flat table."""
    i = cuda.grid(1)
    if i < ptr.shape[0] - 1:
        m = parts.shape[1]
        a = b = c = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            r, e = off[k] // m, off[k] % m
            a += parts[r, e]
            b += parts[r + 1, e]
            c += parts[r + 2, e]
        out[3 * i], out[3 * i + 1], out[3 * i + 2] = a, b, c


@cuda.jit
def kick_and_drift(parts, ptr, off, load, inverse_mass, dt, q, v):
    """v += dt M^-1 (load - the sum of the parts of every node), q += dt v."""
    i = cuda.grid(1)
    if i < ptr.shape[0] - 1:
        m = parts.shape[1]
        a, b, c = load[3 * i], load[3 * i + 1], load[3 * i + 2]
        for k in range(ptr[i], ptr[i + 1]):
            r, e = off[k] // m, off[k] % m
            a -= parts[r, e]
            b -= parts[r + 1, e]
            c -= parts[r + 2, e]
        v[3 * i] += dt * inverse_mass[3 * i] * a
        v[3 * i + 1] += dt * inverse_mass[3 * i + 1] * b
        v[3 * i + 2] += dt * inverse_mass[3 * i + 2] * c
        for k in range(3 * i, 3 * i + 3):
            q[k] += dt * v[k]


@cuda.jit
def sum_blocks(parts, ptr, off, upper, lower, weight, values):
    """values += weight times the parts of every block (i, j >= i), and their transpose at (j, i)."""
    b = cuda.grid(1)
    if b < ptr.shape[0] - 1:
        m = parts.shape[1]
        B = cuda.local.array(9, float64)
        for c in range(9):
            B[c] = 0.0
        for k in range(ptr[b], ptr[b + 1]):
            r, e = off[k] // m, off[k] % m
            for c in range(9):
                B[c] += parts[r + c, e]
        p, q = upper[b], lower[b]
        for c in range(9):
            values[p + c * SLICE] += weight * B[c]
        if q != p:
            for c in range(9):
                values[q + (3 * (c % 3) + c // 3) * SLICE] += weight * B[c]
