"""One velocity step, or the accelerations, of an ordinary tree in one compiled call: kinematics, forces, recursion.

    (J^T A J + a) u = J^T w + c,    A = M + h d,    a = R + h D_r + beta h^2 K_r,    c = R v + h f_r

by the articulated-body recursion [Featherstone1983]: leaf to root the inertia and the wrench that a link shows its
parent, root to leaf the rates. R is the armature. Everything is in body coordinates; `_joint_kernels` has ``I``, ``C``.
"""

import numpy as np
from numba import njit

from pliant.articulated._joint_kernels import angular, place, relative_rotation, spring
from pliant.articulated._kernels import _cholesky, _cholesky_solve

_options = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_within = {**_options, "forceinline": True}


@njit(**_within)
def down(K, i, Y, j, Z, k):
    """Z[k] = A Y[j]: a twist of the parent in the frame of link i."""
    y0, y1, y2, y3, y4, y5 = Y[j, 0], Y[j, 1], Y[j, 2], Y[j, 3], Y[j, 4], Y[j, 5]
    a0 = K[i, 0] * y0 + K[i, 1] * y1 + K[i, 2] * y2
    a1 = K[i, 3] * y0 + K[i, 4] * y1 + K[i, 5] * y2
    a2 = K[i, 6] * y0 + K[i, 7] * y1 + K[i, 8] * y2
    Z[k, 0], Z[k, 1], Z[k, 2] = a0, a1, a2
    Z[k, 3] = K[i, 0] * y3 + K[i, 1] * y4 + K[i, 2] * y5 + K[i, 10] * a2 - K[i, 11] * a1
    Z[k, 4] = K[i, 3] * y3 + K[i, 4] * y4 + K[i, 5] * y5 + K[i, 11] * a0 - K[i, 9] * a2
    Z[k, 5] = K[i, 6] * y3 + K[i, 7] * y4 + K[i, 8] * y5 + K[i, 9] * a1 - K[i, 10] * a0


@njit(**_within)
def up(K, i, W, j, Z, k):
    """Z[k] += A^T W[j]: a wrench on link i as it acts on its parent."""
    w3, w4, w5 = W[j, 3], W[j, 4], W[j, 5]
    t0 = W[j, 0] + K[i, 11] * w4 - K[i, 10] * w5
    t1 = W[j, 1] + K[i, 9] * w5 - K[i, 11] * w3
    t2 = W[j, 2] + K[i, 10] * w3 - K[i, 9] * w4
    Z[k, 0] += K[i, 0] * t0 + K[i, 3] * t1 + K[i, 6] * t2
    Z[k, 1] += K[i, 1] * t0 + K[i, 4] * t1 + K[i, 7] * t2
    Z[k, 2] += K[i, 2] * t0 + K[i, 5] * t1 + K[i, 8] * t2
    Z[k, 3] += K[i, 0] * w3 + K[i, 3] * w4 + K[i, 6] * w5
    Z[k, 4] += K[i, 1] * w3 + K[i, 4] * w4 + K[i, 7] * w5
    Z[k, 5] += K[i, 2] * w3 + K[i, 5] * w4 + K[i, 8] * w5


@njit(**_within)
def bracket(a, i, b, j, out, k):
    """out[k] += ad(a[i]) b[j]."""
    a0, a1, a2, a3, a4, a5 = a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5]
    b0, b1, b2, b3, b4, b5 = b[j, 0], b[j, 1], b[j, 2], b[j, 3], b[j, 4], b[j, 5]
    out[k, 0] += a1 * b2 - a2 * b1
    out[k, 1] += a2 * b0 - a0 * b2
    out[k, 2] += a0 * b1 - a1 * b0
    out[k, 3] += a1 * b5 - a2 * b4 + a4 * b2 - a5 * b1
    out[k, 4] += a2 * b3 - a0 * b5 + a5 * b0 - a3 * b2
    out[k, 5] += a0 * b4 - a1 * b3 + a3 * b1 - a4 * b0


@njit(**_options)
def forward(I, C, gravity, q, v, a):
    """K (n, 12), B, Bd (nr, 6), twists P, accelerations Z = J a + Jdot v, own motions X = B v, gravity g (n, 3)."""
    n, nr = len(I), len(q)
    store = np.empty(33 * n + 12 * nr)  # one allocation: several take as long as a link
    K, P, Z = store[: 12 * n].reshape(n, 12), store[12 * n : 18 * n].reshape(n, 6), store[18 * n : 24 * n].reshape(n, 6)
    X, g = store[24 * n : 30 * n].reshape(n, 6), store[30 * n : 33 * n].reshape(n, 3)
    B, Bd = store[33 * n : 33 * n + 6 * nr].reshape(nr, 6), store[33 * n + 6 * nr :].reshape(nr, 6)
    place(I, C, 0, n, q, v, K, B, Bd)
    for i in range(n):
        j, f = I[i, 0], I[i, 2]
        if j >= 0:
            down(K, i, P, j, P, i)
            down(K, i, Z, j, Z, i)
            g0, g1, g2 = g[j, 0], g[j, 1], g[j, 2]
        else:
            P[i, :] = 0.0
            Z[i, :] = 0.0
            g0, g1, g2 = gravity[0], gravity[1], gravity[2]
        for c in range(3):
            g[i, c] = K[i, 3 * c] * g0 + K[i, 3 * c + 1] * g1 + K[i, 3 * c + 2] * g2
        X[i, :] = 0.0
        for k in range(f, f + I[i, 3]):
            for c in range(6):
                X[i, c] += B[k, c] * v[k]
                Z[i, c] += B[k, c] * a[k] + Bd[k, c] * v[k]
        for c in range(6):
            P[i, c] += X[i, c]
        bracket(P, i, X, i, Z, i)
    return K, B, Bd, P, Z, X, g


@njit(**_within)
def outer(C, i, P, g, F):
    """F[i] = ad(phi)^T M phi + (0, m g): Coriolis and gravity."""
    w0, w1, w2, v0, v1, v2 = P[i, 0], P[i, 1], P[i, 2], P[i, 3], P[i, 4], P[i, 5]
    L0, L1, L2, m = C[i, 36] * w0, C[i, 37] * w1, C[i, 38] * w2, C[i, 39]
    F[i, 0] = L1 * w2 - L2 * w1
    F[i, 1] = L2 * w0 - L0 * w2
    F[i, 2] = L0 * w1 - L1 * w0
    F[i, 3] = m * (g[i, 0] + v1 * w2 - v2 * w1)
    F[i, 4] = m * (g[i, 1] + v2 * w0 - v0 * w2)
    F[i, 5] = m * (g[i, 2] + v0 * w1 - v1 * w0)


@njit(**_within)
def inertia_of(C, i, c):
    return C[i, 36 + c] if c < 3 else C[i, 39]


@njit(**_options)
def advance(I, C, gravity, springs, F, tau, q, v, h, beta, moving):
    """(u, q + h u, relative residual, weakest pivot): new rates where ``moving``, else accelerations (h = 1).

    ``tau (nr,)`` are further joint forces. Accelerations take all damping at v, steps at the new rates.
    """
    n, nr = len(I), len(q)
    K, B, _, P, Z, _, g = forward(I, C, gravity, q, v, np.zeros(nr))
    w, c = np.empty((n, 6)), tau.copy()
    for i in range(n):
        outer(C, i, P, g, w)
        for k in range(6):
            m = inertia_of(C, i, k)
            w[i, k] = h * (w[i, k] - m * Z[i, k]) + (m if moving else -C[i, 43]) * P[i, k]
    a = np.zeros((nr, 6))  # the block of every joint, row by row
    spring(springs, F, 0, len(springs), q, v, not moving, c)
    if moving:
        _slopes(springs, F, q, h, beta, a)
    for i in range(n):
        for k in range(I[i, 2], I[i, 2] + I[i, 3]):
            a[k, k - I[i, 2]] += C[i, 86]
            c[k] = h * c[k] + (C[i, 86] * v[k] if moving else 0.0)
    u, V, worst = _solve(I, C, K, B, w, c, a, h if moving else 0.0)
    return u, q + h * u, _residual(I, C, K, B, w, c, a, u, V, h if moving else 0.0), worst


@njit(**_options)
def _slopes(springs, F, q, h, beta, a):
    """a += h d P^T P + beta h^2 k d(P^T e)/dq without its negative curvature, as `JointSpring` does."""
    for m in range(len(springs)):
        dof, first, turn = springs[m, 1], springs[m, 2], springs[m, 3]
        k, d = beta * h * h * F[m, 0], h * F[m, 1]
        for c in range(dof):
            if turn < 0 or c < turn or c >= turn + 3:
                a[first + c, c] += k + d
        if turn >= 0:
            _turning_slopes(F, m, k, d, turn, first + turn, q, a)


@njit(**_options)
def _turning_slopes(F, m, k, d, turn, at, q, a):
    """The same for a rotation vector q[at:at+3]."""
    zero, T = np.zeros(len(q)), np.empty(27)
    angular(q, zero, at, T[:9], T[9:18])
    S, H = T[:9].copy().reshape(3, 3), np.zeros((3, 3))
    if k > 0.0:
        e = np.zeros(3)
        relative_rotation(F[m, 2 + turn : 5 + turn], q, at, e, T[18:26])
        angular(e, e, 0, T[:9], T[9:18])
        H = S.T @ np.linalg.solve(T[:9].copy().reshape(3, 3), S)
        for r in range(3):
            zero[at + r] = 1.0
            angular(q, zero, at, T[:9], T[9:18])
            zero[at + r] = 0.0
            for s in range(3):
                H[s, r] += T[9 + s] * e[0] + T[12 + s] * e[1] + T[15 + s] * e[2]
        values, vectors = np.linalg.eigh(0.5 * (H + H.T))
        H = (vectors * np.maximum(values, 0.0)) @ vectors.T
    SS = S.T @ S
    for r in range(3):
        for s in range(3):
            a[at + r, turn + s] += k * H[r, s] + d * SS[r, s]


@njit(**_within)
def _row(x, y, z, R):
    """(x, y, z) R."""
    return x * R[0] + y * R[3] + z * R[6], x * R[1] + y * R[4] + z * R[7], x * R[2] + y * R[5] + z * R[8]


@njit(**_within)
def _turned(R, b):
    """R^T b R for 3x3 matrices, row by row."""
    t0, t1, t2 = _row(b[0], b[1], b[2], R)
    t3, t4, t5 = _row(b[3], b[4], b[5], R)
    t6, t7, t8 = _row(b[6], b[7], b[8], R)
    return (
        R[0] * t0 + R[3] * t3 + R[6] * t6, R[0] * t1 + R[3] * t4 + R[6] * t7, R[0] * t2 + R[3] * t5 + R[6] * t8,
        R[1] * t0 + R[4] * t3 + R[7] * t6, R[1] * t1 + R[4] * t4 + R[7] * t7, R[1] * t2 + R[4] * t5 + R[7] * t8,
        R[2] * t0 + R[5] * t3 + R[8] * t6, R[2] * t1 + R[5] * t4 + R[8] * t7, R[2] * t2 + R[5] * t5 + R[8] * t8,
    )  # fmt: skip


@njit(**_within)
def _block(M, i, r, c):
    """The 3x3 block of M[i] (6, 6) that begins at (r, c)."""
    return (
        M[i, r, c], M[i, r, c + 1], M[i, r, c + 2],
        M[i, r + 1, c], M[i, r + 1, c + 1], M[i, r + 1, c + 2],
        M[i, r + 2, c], M[i, r + 2, c + 1], M[i, r + 2, c + 2],
    )  # fmt: skip


@njit(**_within)
def _show(K, i, M, j):
    """M[j] += A^T M[i] A for the symmetric M[i] (6, 6): turned to the parent's axes, then shifted by r = R^T p."""
    R = (K[i, 0], K[i, 1], K[i, 2], K[i, 3], K[i, 4], K[i, 5], K[i, 6], K[i, 7], K[i, 8])
    p0, p1, p2 = K[i, 9], K[i, 10], K[i, 11]
    r = _row(p0, p1, p2, R)
    J, L, m = _turned(R, _block(M, i, 0, 0)), _turned(R, _block(M, i, 3, 0)), _turned(R, _block(M, i, 3, 3))
    # [1 -[r]; 0 1] N [1 0; [r] 1]: lower left t = L + m [r], upper left J + L^T [r] - [r] t
    t = _plus_cross(L, m, r)
    for x in range(3):
        for y in range(3):
            M[j, 3 + x, 3 + y] += m[3 * x + y]
            M[j, 3 + x, y] += t[3 * x + y]
            M[j, x, 3 + y] += t[3 * y + x]
    s = _plus_cross(J, (L[0], L[3], L[6], L[1], L[4], L[7], L[2], L[5], L[8]), r)
    for y in range(3):
        M[j, 0, y] += s[y] - (r[1] * t[6 + y] - r[2] * t[3 + y])
        M[j, 1, y] += s[3 + y] - (r[2] * t[y] - r[0] * t[6 + y])
        M[j, 2, y] += s[6 + y] - (r[0] * t[3 + y] - r[1] * t[y])


@njit(**_within)
def _plus_cross(a, b, r):
    """a + b [r] for 3x3 matrices, row by row."""
    return (
        a[0] + b[1] * r[2] - b[2] * r[1], a[1] + b[2] * r[0] - b[0] * r[2], a[2] + b[0] * r[1] - b[1] * r[0],
        a[3] + b[4] * r[2] - b[5] * r[1], a[4] + b[5] * r[0] - b[3] * r[2], a[5] + b[3] * r[1] - b[4] * r[0],
        a[6] + b[7] * r[2] - b[8] * r[1], a[7] + b[8] * r[0] - b[6] * r[2], a[8] + b[6] * r[1] - b[7] * r[0],
    )  # fmt: skip


@njit(**_within)
def _solve(I, C, K, B, w, c, a, damped):
    """u (nr,), the twists V = J u (n, 6), and the smallest pivot relative to its diagonal entry."""
    n, nr = len(I), len(B)
    M, p, y = np.zeros((n, 6, 6)), w.copy(), c.copy()
    store = np.empty(12 * nr + 6)
    L, U, x = store[: 6 * nr].reshape(nr, 6), store[6 * nr : 12 * nr].reshape(nr, 6), store[12 * nr :]
    worst = np.inf
    for i in range(n - 1, -1, -1):
        f, dof, j = I[i, 2], I[i, 3], I[i, 0]
        for k in range(6):
            M[i, k, k] += inertia_of(C, i, k) + damped * C[i, 43]
        for k in range(f, f + dof):
            for r in range(6):
                s = 0.0
                for m in range(6):
                    s += M[i, r, m] * B[k, m]
                U[k, r] = s
            for m in range(6):
                y[k] += B[k, m] * p[i, m]
            for r in range(f, k + 1):
                s = a[k, r - f]
                for m in range(6):
                    s += B[k, m] * U[r, m]
                L[k, r - f] = s
        if dof == 1:
            worst = min(worst, 1.0 if L[f, 0] > 0.0 else -1.0)
            L[f, 0] = 1.0 / L[f, 0]
        elif dof > 1:
            worst = min(worst, _cholesky(L[f:], dof))
        if j < 0:
            continue
        if dof == 1:
            s = L[f, 0]
            for r in range(6):
                for m in range(6):
                    M[i, r, m] -= s * U[f, r] * U[f, m]
                p[i, r] -= U[f, r] * s * y[f]
        elif dof > 1:
            for r in range(6):
                for k in range(dof):
                    x[k] = U[f + k, r]
                _cholesky_solve(L[f:], dof, x)
                for k in range(dof):
                    for m in range(6):
                        M[i, r, m] -= x[k] * U[f + k, m]
                    p[i, r] -= x[k] * y[f + k]
        _show(K, i, M, j)
        up(K, i, p, i, p, j)
    V = p
    for i in range(n):
        f, dof, j = I[i, 2], I[i, 3], I[i, 0]
        if j < 0:
            V[i, :] = 0.0
        else:
            down(K, i, V, j, V, i)
        for k in range(dof):
            x[k] = y[f + k]
            for m in range(6):
                x[k] -= U[f + k, m] * V[i, m]
        if dof == 1:
            x[0] *= L[f, 0]
        elif dof > 1:
            _cholesky_solve(L[f:], dof, x)
        for k in range(dof):
            y[f + k] = x[k]
            for m in range(6):
                V[i, m] += B[f + k, m] * x[k]
    return y, V, worst


@njit(**_within)
def _residual(I, C, K, B, w, c, a, u, V, damped):
    """|J^T (A V - w) + a u - c| / |J^T w + c|."""
    n = len(I)
    left, right = np.empty((n, 6)), w.copy()
    for i in range(n):
        for k in range(6):
            left[i, k] = (inertia_of(C, i, k) + damped * C[i, 43]) * V[i, k] - w[i, k]
    off, size = 0.0, 0.0
    for i in range(n - 1, -1, -1):
        f, dof, j = I[i, 2], I[i, 3], I[i, 0]
        for k in range(f, f + dof):
            x, y = -c[k], c[k]
            for m in range(dof):
                x += a[k, m] * u[f + m]
            for m in range(6):
                x += B[k, m] * left[i, m]
                y += B[k, m] * right[i, m]
            off += x * x
            size += y * y
        if j >= 0:
            up(K, i, left, i, left, j)
            up(K, i, right, i, right, j)
    return np.sqrt(off) / max(np.sqrt(size), 1e-300)
