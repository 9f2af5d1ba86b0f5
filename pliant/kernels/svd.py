"""Signed singular value decompositions and the 3x3 semidefinite projection: fixed sweeps, no branches, no NaN.

F = U diag(s) V^T with rotations U and V, s0 >= s1 >= |s2|, so that s2 carries the sign of det F. Every decomposition
returns the 21-tuple (U, s, V), matrices row-major. 1e-300 under the roots keeps repeated singular values finite.
"""

import math

from pliant.kernels.device import cross, device, dot, select


@device
def rotation_sorted(app, aqq, apq):
    """Jacobi rotation (c, s) that zeroes apq and puts the larger diagonal entry first."""
    d = app - aqq
    a2 = 2.0 * apq
    e = abs(d) + math.sqrt(d * d + a2 * a2 + 1e-300)
    i = 1.0 / math.sqrt(e * e + a2 * a2)
    c = e * i  # the small-angle pair, |s| <= c
    s = a2 * i
    keep = d >= 0.0
    return (c if keep else abs(s)), (s if keep else math.copysign(c, s))


@device
def turn(c, s, x, y):
    return c * x + s * y, c * y - s * x


@device
def turn_columns(c, s, a, b):
    """Columns (c a + s b, c b - s a)."""
    a0, b0 = turn(c, s, a[0], b[0])
    a1, b1 = turn(c, s, a[1], b[1])
    a2, b2 = turn(c, s, a[2], b[2])
    return (a0, a1, a2), (b0, b1, b2)


@device
def orthogonalise(f, g, v, w):
    """One rotation that makes the columns f, g of B = F V orthogonal, and turns the columns v, w of V with them."""
    c, s = rotation_sorted(dot(f, f), dot(g, g), dot(f, g))
    f, g = turn_columns(c, s, f, g)
    v, w = turn_columns(c, s, v, w)
    return f, g, v, w


@device
def svd_sweep(f0, f1, f2, v0, v1, v2):
    """One cyclic sweep of one-sided Jacobi on the columns of B = F V."""
    f0, f1, v0, v1 = orthogonalise(f0, f1, v0, v1)
    f0, f2, v0, v2 = orthogonalise(f0, f2, v0, v2)
    f1, f2, v1, v2 = orthogonalise(f1, f2, v1, v2)
    return f0, f1, f2, v0, v1, v2


@device
def orthogonal(u):
    """Some unit vector orthogonal to the unit vector u, without a branch [Duff2017]."""
    sign = math.copysign(1.0, u[2])
    a = -1.0 / (sign + u[2])
    return 1.0 + sign * u[0] * u[0] * a, sign * u[0] * u[1] * a, -sign * u[0]


@device
def unit(x, least):
    """(x / |x|, |x|), or (e0, 0) when |x| <= least."""
    s = math.sqrt(dot(x, x))
    there = s > least
    i = 1.0 / (s if there else 1.0)
    return select(there, (x[0] * i, x[1] * i, x[2] * i), (1.0, 0.0, 0.0)), (s if there else 0.0)


@device
def svd3(F):
    """Signed SVD of a 3x3 matrix: four sweeps, unrolled for the lanes (residual 4e-10 at worst; not so with three)."""
    f0, f1, f2, v0, v1, v2 = svd_sweep(
        (F[0], F[3], F[6]), (F[1], F[4], F[7]), (F[2], F[5], F[8]), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    )
    f0, f1, f2, v0, v1, v2 = svd_sweep(f0, f1, f2, v0, v1, v2)
    f0, f1, f2, v0, v1, v2 = svd_sweep(f0, f1, f2, v0, v1, v2)
    f0, f1, f2, v0, v1, v2 = svd_sweep(f0, f1, f2, v0, v1, v2)
    # U from the (now orthogonal, descending) columns, robust to zero columns
    u0, s0 = unit(f0, 1e-150)
    d = dot(u0, f1)
    w, length = unit((f1[0] - d * u0[0], f1[1] - d * u0[1], f1[2] - d * u0[2]), 1e-15 * s0 + 1e-150)
    u1 = select(length > 0.0, w, orthogonal(u0))  # any direction will do when rank(F) <= 1
    u2 = cross(u0, u1)
    return packed(u0, u1, u2, (s0, dot(u1, f1), dot(u2, f2)), v0, v1, v2)


@device
def svd_surface(F):
    """Signed SVD of F = [f0 f1 n] with a unit third column n orthogonal to f0 and f1, which stays third: s2 = 1.

    The in-plane pair takes one Jacobi rotation; s1 is negative when (f0, f1, n) is left-handed.
    """
    n = F[2], F[5], F[8]
    f0, f1, v0, v1 = orthogonalise((F[0], F[3], F[6]), (F[1], F[4], F[7]), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    w, s0 = unit(f0, 1e-150)
    u0 = select(s0 > 0.0, w, orthogonal(n))
    u1 = cross(n, u0)
    return packed(u0, u1, n, (s0, dot(u1, f1), 1.0), v0, v1, (0.0, 0.0, 1.0))


@device
def packed(u0, u1, u2, s, v0, v1, v2):
    """(U, s, V) from the columns of U and V."""
    return (
        u0[0], u1[0], u2[0], u0[1], u1[1], u2[1], u0[2], u1[2], u2[2],
        s[0], s[1], s[2],
        v0[0], v1[0], v2[0], v0[1], v1[1], v2[1], v0[2], v1[2], v2[2],
    )  # fmt: skip


@device
def rotation(app, aqq, apq):
    """(c, s, app', aqq') of a two-sided Jacobi step; the new diagonal is mean +- r/2."""
    d = app - aqq
    a2 = 2.0 * apq
    a2 = a2 if abs(a2) > 1e-18 * (abs(app) + abs(aqq)) else 0.0  # keeps converged pivots out of the denormal range
    r = math.sqrt(d * d + a2 * a2 + 1e-300)
    e = abs(d) + r
    i = 1.0 / math.sqrt(e * e + a2 * a2)
    m = app + aqq
    r = math.copysign(r, d)
    return e * i, math.copysign(1.0, d) * a2 * i, 0.5 * (m + r), 0.5 * (m - r)


@device
def eigen_sweep(b, q0, q1, q2):
    """One cyclic sweep of two-sided Jacobi on a symmetric 3x3 matrix b; q are the columns of the eigenvectors."""
    b00, b01, b02, b11, b12, b22 = b
    c, s, b00, b11 = rotation(b00, b11, b01)
    b02, b12 = turn(c, s, b02, b12)
    q0, q1 = turn_columns(c, s, q0, q1)
    c, s, b00, b22 = rotation(b00, b22, b02)
    b01, b12 = turn(c, s, 0.0, b12)
    q0, q2 = turn_columns(c, s, q0, q2)
    c, s, b11, b22 = rotation(b11, b22, b12)
    b01, b02 = turn(c, s, b01, 0.0)
    q1, q2 = turn_columns(c, s, q1, q2)
    return (b00, b01, b02, b11, 0.0, b22), q0, q1, q2


@device
def psd3(A):
    """Projection of a symmetric 3x3 matrix onto the semidefinite ones, A - sum over w < 0 of w q q^T; four sweeps."""
    b, q, r, t = eigen_sweep(A, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    b, q, r, t = eigen_sweep(b, q, r, t)
    b, q, r, t = eigen_sweep(b, q, r, t)
    b, q, r, t = eigen_sweep(b, q, r, t)
    u = min(b[0], 0.0)
    v = min(b[3], 0.0)
    w = min(b[5], 0.0)
    return (
        A[0] - (u * q[0] * q[0] + v * r[0] * r[0] + w * t[0] * t[0]),
        A[1] - (u * q[0] * q[1] + v * r[0] * r[1] + w * t[0] * t[1]),
        A[2] - (u * q[0] * q[2] + v * r[0] * r[2] + w * t[0] * t[2]),
        A[3] - (u * q[1] * q[1] + v * r[1] * r[1] + w * t[1] * t[1]),
        A[4] - (u * q[1] * q[2] + v * r[1] * r[2] + w * t[1] * t[2]),
        A[5] - (u * q[2] * q[2] + v * r[2] * r[2] + w * t[2] * t[2]),
    )
