"""Projections of elastic elements: each is a volume constraint and a shape constraint, solved together.

    W = V [ lam/2 C_V(F)^2 + mu/2 C_S(F)^2 ],     compliances 1/(lam V) and 1/(mu V)

    stable neo-Hookean   C_V = J - 1,      C_S^2 = I_C + J^2 - 4 J
    neo-Hookean          C_V = log J,      C_S^2 = I_C - 3 - 2 log J
    StVK                 C_V = tr E,       C_S^2 = 2 |E|^2
    corotational, ARAP   C_V = tr S - 3,   C_S^2 = 2 |F - R|^2

with Lame's parameters of linear elasticity. Both constraints vanish at rest, unlike those of [Macklin2021], which split
the same stable neo-Hookean energy into J - 1 - mu/lam and sqrt(I_C): so an element at rest stays there, and shear is
stiff in the direction of the present strain. The 2x2 system of an element is solved at once.
"""

# mypy: ignore-errors
import math

from pliant.integrators.xpbd.kernels import edge, moved, projection, push, weight
from pliant.kernels.bind import bind
from pliant.kernels.device import cofactor, combine, det, device, norm2, times, times_transpose
from pliant.kernels.elements import normal
from pliant.kernels.svd import svd3

REST = 1e-10  # a shape constraint below this has no direction
COLLAPSED = 0.05  # log J continues as its tangent below this volume ratio: an inverted element is pushed back

NODES, gradient, measure = 0, None, None  # bound below


@device
def inverse_length(C):
    return 1.0 / C if C > REST else 0.0


@device
def stable_neo_hookean(F):
    """(C_V, C_S, dC_V/dF, dC_S/dF)"""
    J = det(F)
    A = cofactor(F)
    C = math.sqrt(max(norm2(F) + J * J - 4.0 * J, 0.0))
    i = inverse_length(C)
    return J - 1.0, C, A, combine(i, F, (J - 2.0) * i, A)


@device
def neo_hookean(F):
    J = det(F)
    A = cofactor(F)
    low = J < COLLAPSED
    slope = 1.0 / (COLLAPSED if low else J)
    log = math.log(COLLAPSED) + (J - COLLAPSED) * slope if low else math.log(J)
    C = math.sqrt(max(norm2(F) - 3.0 - 2.0 * log, 0.0))
    i = inverse_length(C)
    return log, C, combine(slope, A, 0.0, A), combine(i, F, -slope * i, A)


@device
def stvk(F):
    T = (F[0], F[3], F[6], F[1], F[4], F[7], F[2], F[5], F[8])
    G = times_transpose(T, T)
    E = (0.5 * G[0] - 0.5, 0.5 * G[1], 0.5 * G[2], 0.5 * G[3], 0.5 * G[4] - 0.5, 0.5 * G[5],
         0.5 * G[6], 0.5 * G[7], 0.5 * G[8] - 0.5)  # fmt: skip
    C = math.sqrt(2.0 * norm2(E))
    i = inverse_length(C)
    return E[0] + E[4] + E[8], C, F, combine(2.0 * i, times(F, E), 0.0, F)


@device
def corotational(F):
    r = svd3(F)
    U = (r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8])
    R = times_transpose(U, (r[12], r[13], r[14], r[15], r[16], r[17], r[18], r[19], r[20]))
    D = combine(1.0, F, -1.0, R)
    C = math.sqrt(2.0 * norm2(D))
    i = inverse_length(C)
    return r[9] + r[10] + r[11] - 3.0, C, R, combine(2.0 * i, D, 0.0, D)


@device
def multipliers(A, C, a, lam, moved, g):
    """(dlam_V, dlam_S) of the 2x2 system ((1 + g) A + diag a) dlam = -C - a lam - g moved."""
    r0 = -(C[0] + a[0] * lam[0] + g * moved[0])
    r1 = -(C[1] + a[1] * lam[1] + g * moved[1])
    m00 = (1.0 + g) * A[0] + a[0]
    m01 = (1.0 + g) * A[1]
    m11 = (1.0 + g) * A[2] + a[1]
    D = m00 * m11 - m01 * m01
    D = 1.0 / D if D > 0.0 else 0.0
    return (m11 * r0 - m01 * r1) * D, (m00 * r1 - m01 * r0) * D


@device
def tet(k, x, nodes, table):
    """F of a tetrahedron."""
    i = nodes[k, 0]
    a = edge(x, i, nodes[k, 1])
    b = edge(x, i, nodes[k, 2])
    c = edge(x, i, nodes[k, 3])
    G = (table[k, 3], table[k, 4], table[k, 5], table[k, 6], table[k, 7], table[k, 8],
         table[k, 9], table[k, 10], table[k, 11])  # fmt: skip
    return times((a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]), G)


@device
def triangle(k, x, nodes, table):
    """F = [f_0 f_1 n] of a triangle in space or in the plane, with its unit normal n."""
    i = nodes[k, 0]
    a = edge(x, i, nodes[k, 1])
    b = edge(x, i, nodes[k, 2])
    p, q, r, s = table[k, 3], table[k, 4], table[k, 6], table[k, 7]
    f0 = (a[0] * p + b[0] * r, a[1] * p + b[1] * r, a[2] * p + b[2] * r)
    f1 = (a[0] * q + b[0] * s, a[1] * q + b[1] * s, a[2] * q + b[2] * s)
    u = normal(f0, f1)
    return f0[0], f1[0], u[0], f0[1], f1[1], u[1], f0[2], f1[2], u[2]


@device
def apply(P, table, k, n):
    """P times the shape gradient of vertex n of element k: the gradient of a constraint whose dC/dF is P."""
    a = table[k, 3 * n]
    b = table[k, 3 * n + 1]
    c = table[k, 3 * n + 2]
    return P[0] * a + P[1] * b + P[2] * c, P[3] * a + P[4] * b + P[5] * c, P[6] * a + P[7] * b + P[8] * c


def element(k, x, x0, W, lam, g, scale, nodes, table):
    """An element of NODES vertices; the table has their shape gradients (3 numbers each) and two compliances."""
    CV, CS, V, S = measure(gradient(k, x, nodes, table))
    vv = vs = ss = mv = ms = 0.0
    for n in range(NODES):
        i = nodes[k, n]
        v = apply(V, table, k, n)
        s = apply(S, table, k, n)
        vv += weight(W, i, v, v)
        vs += weight(W, i, v, s)
        ss += weight(W, i, s, s)
        if g > 0.0:
            mv += moved(x, x0, i, v)
            ms += moved(x, x0, i, s)
    compliance = (table[k, 3 * NODES] * scale, table[k, 3 * NODES + 1] * scale)
    dv, ds = multipliers((vv, vs, ss), (CV, CS), compliance, (lam[k, 0], lam[k, 1]), (mv, ms), g)
    lam[k, 0] += dv
    lam[k, 1] += ds
    for n in range(NODES):
        push(x, W, nodes[k, n], apply(combine(dv, V, ds, S), table, k, n), 1.0)


LAWS = (stable_neo_hookean, neo_hookean, stvk, corotational)
ELEMENTS = {
    (shape, law): projection(bind(element, f"{shape}-{law.__name__}", NODES=shape, gradient=gradient, measure=law))
    for shape, gradient in ((3, triangle), (4, tet))
    for law in LAWS
}
