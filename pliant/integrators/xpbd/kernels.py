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
from pliant.kernels.device import FASTMATH, device

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
    n0, n1, n2 = table[k, 3], table[k, 4], table[k, 5]
    a = table[k, 6] * scale
    C = (x[i, 0] - table[k, 0]) * n0 + (x[i, 1] - table[k, 1]) * n1 + (x[i, 2] - table[k, 2]) * n2
    D = W[i, 0] * n0 * n0 + W[i, 1] * n1 * n1 + W[i, 2] * n2 * n2
    d = max(-(C + a * lam[k, 0]) / (D + a + 1e-300), -lam[k, 0])
    lam[k, 0] += d
    x[i, 0] += W[i, 0] * n0 * d
    x[i, 1] += W[i, 1] * n1 * d
    x[i, 2] += W[i, 2] * n2 * d


@projection
def distance(k, x, x0, W, lam, g, scale, nodes, table):
    """C = |x_i - x_j| - rest; the table has rest, compliance."""
    i = nodes[k, 0]
    j = nodes[k, 1]
    s0 = x[i, 0] - x[j, 0]
    s1 = x[i, 1] - x[j, 1]
    s2 = x[i, 2] - x[j, 2]
    L = math.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
    q = 1.0 / max(L, EPS)
    s0 *= q
    s1 *= q
    s2 *= q
    a = table[k, 1] * scale
    D = (W[i, 0] + W[j, 0]) * s0 * s0 + (W[i, 1] + W[j, 1]) * s1 * s1 + (W[i, 2] + W[j, 2]) * s2 * s2
    C = L - table[k, 0] + a * lam[k, 0]
    if g > 0.0:
        C += g * s0 * ((x[i, 0] - x0[i, 0]) - (x[j, 0] - x0[j, 0]))
        C += g * s1 * ((x[i, 1] - x0[i, 1]) - (x[j, 1] - x0[j, 1]))
        C += g * s2 * ((x[i, 2] - x0[i, 2]) - (x[j, 2] - x0[j, 2]))
    d = -C / ((1.0 + g) * D + a + 1e-300)
    lam[k, 0] += d
    x[i, 0] += W[i, 0] * s0 * d
    x[i, 1] += W[i, 1] * s1 * d
    x[i, 2] += W[i, 2] * s2 * d
    x[j, 0] -= W[j, 0] * s0 * d
    x[j, 1] -= W[j, 1] * s1 * d
    x[j, 2] -= W[j, 2] * s2 * d


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
    a = table[k, 5] * scale
    s0 = 0.0
    s1 = 0.0
    s2 = 0.0
    for v in range(4):
        i = nodes[k, v]
        s0 += table[k, v] * x[i, 0]
        s1 += table[k, v] * x[i, 1]
        s2 += table[k, v] * x[i, 2]
    L = math.sqrt(s0 * s0 + s1 * s1 + s2 * s2)
    q = 1.0 / max(L, EPS)
    s0 *= q
    s1 *= q
    s2 *= q
    C = L - table[k, 4] + a * lam[k, 0]
    D = 0.0
    for v in range(4):
        i = nodes[k, v]
        t = table[k, v]
        D += t * t * (W[i, 0] * s0 * s0 + W[i, 1] * s1 * s1 + W[i, 2] * s2 * s2)
        moved = s0 * (x[i, 0] - x0[i, 0]) + s1 * (x[i, 1] - x0[i, 1]) + s2 * (x[i, 2] - x0[i, 2])
        C += g * t * moved
    d = -C / ((1.0 + g) * D + a + 1e-300)
    lam[k, 0] += d
    for v in range(4):
        i = nodes[k, v]
        t = table[k, v] * d
        x[i, 0] += W[i, 0] * s0 * t
        x[i, 1] += W[i, 1] * s1 * t
        x[i, 2] += W[i, 2] * s2 * t


@device
def cross(a0, a1, a2, b0, b1, b2):
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@projection
def volume(k, x, x0, W, lam, g, scale, nodes, table):
    """C = signed volume of a tetrahedron - rest [m^3]; the gradients are a sixth of the facing area vectors.

    The table has rest, compliance.
    """
    i = nodes[k, 0]
    j = nodes[k, 1]
    m = nodes[k, 2]
    n = nodes[k, 3]
    a0 = x[j, 0] - x[i, 0]
    a1 = x[j, 1] - x[i, 1]
    a2 = x[j, 2] - x[i, 2]
    b0 = x[m, 0] - x[i, 0]
    b1 = x[m, 1] - x[i, 1]
    b2 = x[m, 2] - x[i, 2]
    c0 = x[n, 0] - x[i, 0]
    c1 = x[n, 1] - x[i, 1]
    c2 = x[n, 2] - x[i, 2]
    j0, j1, j2 = cross(b0, b1, b2, c0, c1, c2)
    m0, m1, m2 = cross(c0, c1, c2, a0, a1, a2)
    n0, n1, n2 = cross(a0, a1, a2, b0, b1, b2)
    i0 = -(j0 + m0 + n0)
    i1 = -(j1 + m1 + n1)
    i2 = -(j2 + m2 + n2)
    a = table[k, 1] * scale
    C = (a0 * j0 + a1 * j1 + a2 * j2) / 6.0 - table[k, 0] + a * lam[k, 0]
    D = W[i, 0] * i0 * i0 + W[i, 1] * i1 * i1 + W[i, 2] * i2 * i2
    D += W[j, 0] * j0 * j0 + W[j, 1] * j1 * j1 + W[j, 2] * j2 * j2
    D += W[m, 0] * m0 * m0 + W[m, 1] * m1 * m1 + W[m, 2] * m2 * m2
    D += W[n, 0] * n0 * n0 + W[n, 1] * n1 * n1 + W[n, 2] * n2 * n2
    if g > 0.0:
        M = i0 * (x[i, 0] - x0[i, 0]) + i1 * (x[i, 1] - x0[i, 1]) + i2 * (x[i, 2] - x0[i, 2])
        M += j0 * (x[j, 0] - x0[j, 0]) + j1 * (x[j, 1] - x0[j, 1]) + j2 * (x[j, 2] - x0[j, 2])
        M += m0 * (x[m, 0] - x0[m, 0]) + m1 * (x[m, 1] - x0[m, 1]) + m2 * (x[m, 2] - x0[m, 2])
        M += n0 * (x[n, 0] - x0[n, 0]) + n1 * (x[n, 1] - x0[n, 1]) + n2 * (x[n, 2] - x0[n, 2])
        C += g * M / 6.0
    d = -C / ((1.0 + g) * D / 36.0 + a + 1e-300)
    lam[k, 0] += d
    t = d / 6.0
    x[i, 0] += W[i, 0] * i0 * t
    x[i, 1] += W[i, 1] * i1 * t
    x[i, 2] += W[i, 2] * i2 * t
    x[j, 0] += W[j, 0] * j0 * t
    x[j, 1] += W[j, 1] * j1 * t
    x[j, 2] += W[j, 2] * j2 * t
    x[m, 0] += W[m, 0] * m0 * t
    x[m, 1] += W[m, 1] * m1 * t
    x[m, 2] += W[m, 2] * m2 * t
    x[n, 0] += W[n, 0] * n0 * t
    x[n, 1] += W[n, 1] * n1 * t
    x[n, 2] += W[n, 2] * n2 * t
