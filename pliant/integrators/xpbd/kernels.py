"""Projections of point, distance, hinge and volume constraints, and the Gauss-Seidel sweep over any of them.

Each projection solves its own constraint for the current positions [Macklin2016, Eq. 18 and 26]

    dlam = (-C - a lam - g grad C.(x - x0)) / ((1 + g) grad C W grad C^T + a),     x += W grad C^T dlam,  lam += dlam

with a = compliance scale, scale = 1 / h^2, g = beta / h for stiffness-proportional damping beta [s], W the inverse
masses (n, 3), zero where a coordinate is prescribed, and x0 the positions at the start of the substep. Everything is
updated in place. Constraint k has the vertices ``nodes[k]``, the multipliers ``lam[k]`` and the numbers ``table[k]``.
The CPU's sweeps and those of a GPU share the projections.
"""

# mypy: ignore-errors
import hashlib
import math
from functools import cache
from pathlib import Path

from numba import njit, prange

from pliant.kernels import device as kernel_device
from pliant.kernels import elements as kernel_elements
from pliant.kernels import svd as kernel_svd
from pliant.kernels.bind import bind
from pliant.kernels.device import FASTMATH, cross, device, dot

projection = njit(inline="always", fastmath=FASTMATH, error_model="numpy")  # LLVM's own inlining costs 7 ns each
EPS = 1e-12  # m: shorter than this a length has no direction

project = None  # bound by `swept`


def sweep(x, x0, W, lam, patches, colours, h, beta, nodes, table):
    """One sweep over all constraints in the order of a `Plan`: colour by colour, patches of a colour in parallel."""
    g, scale = beta / h, 1.0 / (h * h)
    for c in range(len(colours) - 1):
        for p in prange(colours[c], colours[c + 1]):
            for k in range(patches[p], patches[p + 1]):
                project(k, x, x0, W, lam, g, scale, nodes, table)


@cache
def swept(own):
    """The sweep with its projection bound, in the disk cache under a name of its own."""
    options = {"parallel": True, "cache": True, "fastmath": FASTMATH, "error_model": "numpy"}
    return njit(**options)(bind(sweep, f"{own.py_func.__qualname__}-{digest()}", project=own))


@cache
def digest():
    """Ten letters that change with the code: Numba's cache looks at the file of a kernel, not at what it calls."""
    own = [Path(__file__), Path(__file__).with_name("element_kernels.py")]
    called = [Path(module.__file__) for module in (kernel_device, kernel_elements, kernel_svd)]
    return hashlib.sha256(b"".join(file.read_bytes() for file in own + called)).hexdigest()[:10]


@device
def edge(x, i, j):
    """x_j - x_i"""
    return x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]


@device
def unit(s):
    """(|s|, s / |s|)"""
    L = math.sqrt(dot(s, s))
    q = 1.0 / max(L, EPS)
    return L, (q * s[0], q * s[1], q * s[2])


@device
def opposite(u, v, w):
    """-(u + v + w), the gradient at the vertex whose neighbours have these: a translation changes nothing."""
    return -(u[0] + v[0] + w[0]), -(u[1] + v[1] + w[1]), -(u[2] + v[2] + w[2])


@device
def weight(W, i, u, v):
    """u W_i v^T"""
    return W[i, 0] * u[0] * v[0] + W[i, 1] * u[1] * v[1] + W[i, 2] * u[2] * v[2]


@device
def moved(x, x0, i, u):
    """(x_i - x0_i).u"""
    return (x[i, 0] - x0[i, 0]) * u[0] + (x[i, 1] - x0[i, 1]) * u[1] + (x[i, 2] - x0[i, 2]) * u[2]


@device
def push(x, W, i, u, d):
    """x_i += W_i u d"""
    x[i, 0] += W[i, 0] * u[0] * d
    x[i, 1] += W[i, 1] * u[1] * d
    x[i, 2] += W[i, 2] * u[2] * d


@projection
def point(k, x, x0, W, lam, g, scale, nodes, table):
    """C = x - target, three components with one compliance; the table has target, compliance."""
    i = nodes[k, 0]
    a = table[k, 3] * scale
    for r in range(3):
        C = x[i, r] - table[k, r]
        d = -(C + a * lam[k, r] + g * (x[i, r] - x0[i, r])) / ((1.0 + g) * W[i, r] + a + 1e-300)
        lam[k, r] += d
        x[i, r] += W[i, r] * d


@projection
def plane(k, x, x0, W, lam, g, scale, nodes, table):
    """C = (x - point).normal >= 0: the multiplier pushes only; the table has point, normal, compliance."""
    i = nodes[k, 0]
    n = (table[k, 3], table[k, 4], table[k, 5])
    a = table[k, 6] * scale
    C = dot((x[i, 0] - table[k, 0], x[i, 1] - table[k, 1], x[i, 2] - table[k, 2]), n)
    d = max(-(C + a * lam[k, 0]) / (weight(W, i, n, n) + a + 1e-300), -lam[k, 0])
    lam[k, 0] += d
    push(x, W, i, n, d)


@projection
def distance(k, x, x0, W, lam, g, scale, nodes, table):
    """C = |x_i - x_j| - rest; the table has rest, compliance."""
    i = nodes[k, 0]
    j = nodes[k, 1]
    L, u = unit(edge(x, j, i))
    a = table[k, 1] * scale
    C = L - table[k, 0] + a * lam[k, 0]
    if g > 0.0:
        C += g * (moved(x, x0, i, u) - moved(x, x0, j, u))
    d = -C / ((1.0 + g) * (weight(W, i, u, u) + weight(W, j, u, u)) + a + 1e-300)
    lam[k, 0] += d
    push(x, W, i, u, d)
    push(x, W, j, u, -d)


@projection
def flat_hinge(k, x, x0, W, lam, g, scale, nodes, table):
    """C = sum_i k_i x_i, bending of what is flat at rest; the table has the stencil k_i, compliance."""
    a = table[k, 4] * scale
    for r in range(3):
        C = a * lam[k, r]
        D = 0.0
        for v in range(4):
            i = nodes[k, v]
            s = table[k, v]
            C += s * (x[i, r] + g * (x[i, r] - x0[i, r]))
            D += W[i, r] * s * s
        d = -C / ((1.0 + g) * D + a + 1e-300)
        lam[k, r] += d
        for v in range(4):
            i = nodes[k, v]
            x[i, r] += W[i, r] * table[k, v] * d


@projection
def curved_hinge(k, x, x0, W, lam, g, scale, nodes, table):
    """C = |sum_i k_i x_i| - rest, bending of what is curved at rest; the table has the stencil, rest, compliance."""
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    for v in range(4):
        i = nodes[k, v]
        s0 += table[k, v] * x[i, 0]
        s1 += table[k, v] * x[i, 1]
        s2 += table[k, v] * x[i, 2]
    L, u = unit((s0, s1, s2))
    a = table[k, 5] * scale
    C = L - table[k, 4] + a * lam[k, 0]
    D = 0.0
    for v in range(4):
        i = nodes[k, v]
        t = table[k, v]
        D += t * t * weight(W, i, u, u)
        C += g * t * moved(x, x0, i, u)
    d = -C / ((1.0 + g) * D + a + 1e-300)
    lam[k, 0] += d
    for v in range(4):
        push(x, W, nodes[k, v], u, table[k, v] * d)


@projection
def volume(k, x, x0, W, lam, g, scale, nodes, table):
    """C = signed volume of a tetrahedron - rest [m^3]; the gradients are a sixth of the facing area vectors.

    The table has rest, compliance.
    """
    i = nodes[k, 0]
    j = nodes[k, 1]
    m = nodes[k, 2]
    n = nodes[k, 3]
    e1 = edge(x, i, j)
    e2 = edge(x, i, m)
    e3 = edge(x, i, n)
    u1 = cross(e2, e3)
    u2 = cross(e3, e1)
    u3 = cross(e1, e2)
    u0 = opposite(u1, u2, u3)
    a = table[k, 1] * scale
    C = dot(e1, u1) / 6.0 - table[k, 0] + a * lam[k, 0]
    if g > 0.0:
        C += g / 6.0 * (moved(x, x0, i, u0) + moved(x, x0, j, u1) + moved(x, x0, m, u2) + moved(x, x0, n, u3))
    D = weight(W, i, u0, u0) + weight(W, j, u1, u1) + weight(W, m, u2, u2) + weight(W, n, u3, u3)
    d = -C / ((1.0 + g) * D / 36.0 + a + 1e-300)
    lam[k, 0] += d
    push(x, W, i, u0, d / 6.0)
    push(x, W, j, u1, d / 6.0)
    push(x, W, m, u2, d / 6.0)
    push(x, W, n, u3, d / 6.0)
