"""Signed singular value decompositions and the 3x3 semidefinite projection: fixed sweeps, no branches, no NaN.

F = U diag(s) V^T with rotations U and V, s0 >= s1 >= |s2|, so that s2 carries the sign of det F. Every function
returns the 21-tuple (U, s, V), matrices row-major. 1e-300 inside the square roots keeps repeated singular values finite.
"""

import math

from pliant.kernels.device import device


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
def svd_sweep(f, v):
    """One cyclic sweep of one-sided Jacobi on B = F V."""
    f00, f01, f02, f10, f11, f12, f20, f21, f22 = f
    v00, v01, v02, v10, v11, v12, v20, v21, v22 = v
    c, s = rotation_sorted(f00 * f00 + f10 * f10 + f20 * f20, f01 * f01 + f11 * f11 + f21 * f21, f00 * f01 + f10 * f11 + f20 * f21)
    f00, f01 = turn(c, s, f00, f01); f10, f11 = turn(c, s, f10, f11); f20, f21 = turn(c, s, f20, f21)
    v00, v01 = turn(c, s, v00, v01); v10, v11 = turn(c, s, v10, v11); v20, v21 = turn(c, s, v20, v21)
    c, s = rotation_sorted(f00 * f00 + f10 * f10 + f20 * f20, f02 * f02 + f12 * f12 + f22 * f22, f00 * f02 + f10 * f12 + f20 * f22)
    f00, f02 = turn(c, s, f00, f02); f10, f12 = turn(c, s, f10, f12); f20, f22 = turn(c, s, f20, f22)
    v00, v02 = turn(c, s, v00, v02); v10, v12 = turn(c, s, v10, v12); v20, v22 = turn(c, s, v20, v22)
    c, s = rotation_sorted(f01 * f01 + f11 * f11 + f21 * f21, f02 * f02 + f12 * f12 + f22 * f22, f01 * f02 + f11 * f12 + f21 * f22)
    f01, f02 = turn(c, s, f01, f02); f11, f12 = turn(c, s, f11, f12); f21, f22 = turn(c, s, f21, f22)
    v01, v02 = turn(c, s, v01, v02); v11, v12 = turn(c, s, v11, v12); v21, v22 = turn(c, s, v21, v22)
    return (f00, f01, f02, f10, f11, f12, f20, f21, f22), (v00, v01, v02, v10, v11, v12, v20, v21, v22)


@device
def orthogonal(u0, u1, u2):
    """Some unit vector orthogonal to the unit vector u, without a branch [Duff2017]."""
    sign = math.copysign(1.0, u2)
    a = -1.0 / (sign + u2)
    return 1.0 + sign * u0 * u0 * a, sign * u0 * u1 * a, -sign * u0


@device
def unit(x0, x1, x2, least):
    """(x / |x|, |x|), or (e0, 0) when |x| <= least."""
    s = math.sqrt(x0 * x0 + x1 * x1 + x2 * x2)
    there = s > least
    i = 1.0 / (s if there else 1.0)
    return (x0 * i if there else 1.0), (x1 * i if there else 0.0), (x2 * i if there else 0.0), (s if there else 0.0)


@device
def cross(a0, a1, a2, b0, b1, b2):
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@device
def svd3(F):
    """Signed SVD of a 3x3 matrix: four sweeps (residual 4e-10 at worst; three are not enough), unrolled for the lanes."""
    f, v = svd_sweep(F, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    f, v = svd_sweep(f, v)
    f, v = svd_sweep(f, v)
    f, v = svd_sweep(f, v)
    # U from the (now orthogonal, descending) columns, robust to zero columns
    u00, u10, u20, s0 = unit(f[0], f[3], f[6], 1e-150)
    d = u00 * f[1] + u10 * f[4] + u20 * f[7]
    w0, w1, w2, s1 = unit(f[1] - d * u00, f[4] - d * u10, f[7] - d * u20, 1e-15 * s0 + 1e-150)
    p0, p1, p2 = orthogonal(u00, u10, u20)  # used only when rank(F) <= 1
    u01 = w0 if s1 > 0.0 else p0
    u11 = w1 if s1 > 0.0 else p1
    u21 = w2 if s1 > 0.0 else p2
    s1 = u01 * f[1] + u11 * f[4] + u21 * f[7]
    u02, u12, u22 = cross(u00, u10, u20, u01, u11, u21)
    s2 = u02 * f[2] + u12 * f[5] + u22 * f[8]
    return u00, u01, u02, u10, u11, u12, u20, u21, u22, s0, s1, s2, v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]


@device
def svd_surface(F):
    """Signed SVD of F = [f0 f1 n] with a unit third column n orthogonal to f0 and f1, which stays third: s2 = 1.

    The in-plane pair takes one Jacobi rotation; s1 is negative when (f0, f1, n) is left-handed.
    """
    c, s = rotation_sorted(F[0] * F[0] + F[3] * F[3] + F[6] * F[6], F[1] * F[1] + F[4] * F[4] + F[7] * F[7], F[0] * F[1] + F[3] * F[4] + F[6] * F[7])
    b00, b01 = turn(c, s, F[0], F[1]); b10, b11 = turn(c, s, F[3], F[4]); b20, b21 = turn(c, s, F[6], F[7])
    n0, n1, n2 = F[2], F[5], F[8]
    w0, w1, w2, s0 = unit(b00, b10, b20, 1e-150)
    p0, p1, p2 = orthogonal(n0, n1, n2)  # used only when F vanishes in the plane
    u00 = w0 if s0 > 0.0 else p0
    u10 = w1 if s0 > 0.0 else p1
    u20 = w2 if s0 > 0.0 else p2
    u01, u11, u21 = cross(n0, n1, n2, u00, u10, u20)
    s1 = u01 * b01 + u11 * b11 + u21 * b21
    return u00, u01, n0, u10, u11, n1, u20, u21, n2, s0, s1, 1.0, c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0


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
def eigen_sweep(b, q):
    """One cyclic sweep of two-sided Jacobi on a symmetric 3x3 matrix."""
    b00, b01, b02, b11, b12, b22 = b
    q00, q01, q02, q10, q11, q12, q20, q21, q22 = q
    c, s, b00, b11 = rotation(b00, b11, b01)
    b02, b12 = turn(c, s, b02, b12)
    q00, q01 = turn(c, s, q00, q01); q10, q11 = turn(c, s, q10, q11); q20, q21 = turn(c, s, q20, q21)
    c, s, b00, b22 = rotation(b00, b22, b02)
    b01, b12 = turn(c, s, 0.0, b12)
    q00, q02 = turn(c, s, q00, q02); q10, q12 = turn(c, s, q10, q12); q20, q22 = turn(c, s, q20, q22)
    c, s, b11, b22 = rotation(b11, b22, b12)
    b01, b02 = turn(c, s, b01, 0.0)
    q01, q02 = turn(c, s, q01, q02); q11, q12 = turn(c, s, q11, q12); q21, q22 = turn(c, s, q21, q22)
    return (b00, b01, b02, b11, 0.0, b22), (q00, q01, q02, q10, q11, q12, q20, q21, q22)


@device
def psd3(A):
    """Projection of a symmetric 3x3 matrix onto the semidefinite ones, A - sum over w<0 of w q q^T; four sweeps."""
    b, q = eigen_sweep(A, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    b, q = eigen_sweep(b, q)
    b, q = eigen_sweep(b, q)
    b, q = eigen_sweep(b, q)
    w0 = min(b[0], 0.0)
    w1 = min(b[3], 0.0)
    w2 = min(b[5], 0.0)
    return (
        A[0] - (w0 * q[0] * q[0] + w1 * q[1] * q[1] + w2 * q[2] * q[2]),
        A[1] - (w0 * q[0] * q[3] + w1 * q[1] * q[4] + w2 * q[2] * q[5]),
        A[2] - (w0 * q[0] * q[6] + w1 * q[1] * q[7] + w2 * q[2] * q[8]),
        A[3] - (w0 * q[3] * q[3] + w1 * q[4] * q[4] + w2 * q[5] * q[5]),
        A[4] - (w0 * q[3] * q[6] + w1 * q[4] * q[7] + w2 * q[5] * q[8]),
        A[5] - (w0 * q[6] * q[6] + w1 * q[7] * q[7] + w2 * q[8] * q[8]),
    )  # fmt: skip
