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

from pliant.integrators.xpbd.kernels import projection
from pliant.kernels.bind import bind
from pliant.kernels.device import cofactor, combine, det, device, dot, norm2, times, times_transpose
from pliant.kernels.elements import normal
from pliant.kernels.svd import svd3

REST = 1e-10  # a shape constraint below this has no direction
COLLAPSED = 0.05  # log J continues as its tangent below this volume ratio: an inverted element is pushed back

measure = None  # bound to a law below


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
def apply(P, table, k, n):
    """P times the shape gradient of node n (1, 2, 3) of element k."""
    a = table[k, 3 * n - 3]
    b = table[k, 3 * n - 2]
    c = table[k, 3 * n - 1]
    return P[0] * a + P[1] * b + P[2] * c, P[3] * a + P[4] * b + P[5] * c, P[6] * a + P[7] * b + P[8] * c


@device
def minus(u, v, w):
    return -(u[0] + v[0] + w[0]), -(u[1] + v[1] + w[1]), -(u[2] + v[2] + w[2])


@device
def scaled(W, i, u):
    """W_i u"""
    return W[i, 0] * u[0], W[i, 1] * u[1], W[i, 2] * u[2]


@device
def moved_along(x, x0, i, u):
    return (x[i, 0] - x0[i, 0]) * u[0] + (x[i, 1] - x0[i, 1]) * u[1] + (x[i, 2] - x0[i, 2]) * u[2]


@device
def push(x, i, u, a, v, b):
    """x_i += a u + b v"""
    x[i, 0] += a * u[0] + b * v[0]
    x[i, 1] += a * u[1] + b * v[1]
    x[i, 2] += a * u[2] + b * v[2]


def tet(k, x, x0, W, lam, g, scale, nodes, table):
    """A tetrahedron; the table has the shape gradients of nodes 1-3 (9 numbers) and two compliances."""
    i = nodes[k, 0]
    j = nodes[k, 1]
    m = nodes[k, 2]
    n = nodes[k, 3]
    E = (x[j, 0] - x[i, 0], x[m, 0] - x[i, 0], x[n, 0] - x[i, 0],
         x[j, 1] - x[i, 1], x[m, 1] - x[i, 1], x[n, 1] - x[i, 1],
         x[j, 2] - x[i, 2], x[m, 2] - x[i, 2], x[n, 2] - x[i, 2])  # fmt: skip
    G = (table[k, 0], table[k, 1], table[k, 2], table[k, 3], table[k, 4], table[k, 5],
         table[k, 6], table[k, 7], table[k, 8])  # fmt: skip
    F = times(E, G)
    CV, CS, V, S = measure(F)
    v1 = apply(V, table, k, 1)
    v2 = apply(V, table, k, 2)
    v3 = apply(V, table, k, 3)
    v0 = minus(v1, v2, v3)
    s1 = apply(S, table, k, 1)
    s2 = apply(S, table, k, 2)
    s3 = apply(S, table, k, 3)
    s0 = minus(s1, s2, s3)
    V0 = scaled(W, i, v0)
    V1 = scaled(W, j, v1)
    V2 = scaled(W, m, v2)
    V3 = scaled(W, n, v3)
    S0 = scaled(W, i, s0)
    S1 = scaled(W, j, s1)
    S2 = scaled(W, m, s2)
    S3 = scaled(W, n, s3)
    A = (
        dot(v0, V0) + dot(v1, V1) + dot(v2, V2) + dot(v3, V3),
        dot(s0, V0) + dot(s1, V1) + dot(s2, V2) + dot(s3, V3),
        dot(s0, S0) + dot(s1, S1) + dot(s2, S2) + dot(s3, S3),
    )
    mv = 0.0
    ms = 0.0
    if g > 0.0:
        mv = moved_along(x, x0, i, v0) + moved_along(x, x0, j, v1)
        mv += moved_along(x, x0, m, v2) + moved_along(x, x0, n, v3)
        ms = moved_along(x, x0, i, s0) + moved_along(x, x0, j, s1)
        ms += moved_along(x, x0, m, s2) + moved_along(x, x0, n, s3)
    compliance = (table[k, 9] * scale, table[k, 10] * scale)
    dv, ds = multipliers(A, (CV, CS), compliance, (lam[k, 0], lam[k, 1]), (mv, ms), g)
    lam[k, 0] += dv
    lam[k, 1] += ds
    push(x, i, V0, dv, S0, ds)
    push(x, j, V1, dv, S1, ds)
    push(x, m, V2, dv, S2, ds)
    push(x, n, V3, dv, S3, ds)


def triangle(k, x, x0, W, lam, g, scale, nodes, table):
    """A triangle in space or in the plane: F = [f_0 f_1 n] with the unit normal n; the table is that of tets."""
    i = nodes[k, 0]
    j = nodes[k, 1]
    m = nodes[k, 2]
    a0 = x[j, 0] - x[i, 0]
    a1 = x[j, 1] - x[i, 1]
    a2 = x[j, 2] - x[i, 2]
    b0 = x[m, 0] - x[i, 0]
    b1 = x[m, 1] - x[i, 1]
    b2 = x[m, 2] - x[i, 2]
    f0 = (a0 * table[k, 0] + b0 * table[k, 3], a1 * table[k, 0] + b1 * table[k, 3], a2 * table[k, 0] + b2 * table[k, 3])
    f1 = (a0 * table[k, 1] + b0 * table[k, 4], a1 * table[k, 1] + b1 * table[k, 4], a2 * table[k, 1] + b2 * table[k, 4])
    u = normal(f0, f1)
    CV, CS, V, S = measure((f0[0], f1[0], u[0], f0[1], f1[1], u[1], f0[2], f1[2], u[2]))
    v1 = apply(V, table, k, 1)
    v2 = apply(V, table, k, 2)
    v0 = minus(v1, v2, (0.0, 0.0, 0.0))
    s1 = apply(S, table, k, 1)
    s2 = apply(S, table, k, 2)
    s0 = minus(s1, s2, (0.0, 0.0, 0.0))
    V0 = scaled(W, i, v0)
    V1 = scaled(W, j, v1)
    V2 = scaled(W, m, v2)
    S0 = scaled(W, i, s0)
    S1 = scaled(W, j, s1)
    S2 = scaled(W, m, s2)
    A = (
        dot(v0, V0) + dot(v1, V1) + dot(v2, V2),
        dot(s0, V0) + dot(s1, V1) + dot(s2, V2),
        dot(s0, S0) + dot(s1, S1) + dot(s2, S2),
    )
    mv = 0.0
    ms = 0.0
    if g > 0.0:
        mv = moved_along(x, x0, i, v0) + moved_along(x, x0, j, v1) + moved_along(x, x0, m, v2)
        ms = moved_along(x, x0, i, s0) + moved_along(x, x0, j, s1) + moved_along(x, x0, m, s2)
    compliance = (table[k, 9] * scale, table[k, 10] * scale)
    dv, ds = multipliers(A, (CV, CS), compliance, (lam[k, 0], lam[k, 1]), (mv, ms), g)
    lam[k, 0] += dv
    lam[k, 1] += ds
    push(x, i, V0, dv, S0, ds)
    push(x, j, V1, dv, S1, ds)
    push(x, m, V2, dv, S2, ds)


LAWS = (stable_neo_hookean, neo_hookean, stvk, corotational)
TETS = {law: projection(bind(tet, law.__name__, measure=law)) for law in LAWS}
TRIANGLES = {law: projection(bind(triangle, law.__name__, measure=law)) for law in LAWS}
