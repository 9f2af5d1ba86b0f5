"""The stage of an ordinary tree, compiled: inverse dynamics, its exact tangent column by column, Newton's method.

A coordinate changes its own joint and nothing else, so a column of the tangent needs one joint by complex steps; the
rest of its subtree follows linearly, and the wrenches come back along the path to the root.
"""

import numpy as np
from numba import njit

from pliant.articulated._joint_kernels import place, spring
from pliant.articulated._tree_kernels import bracket, down, forward, inertia_of, outer, up

_options = {"cache": True, "error_model": "numpy"}
STEP = 1e-30


@njit(**_options)
def inverse_dynamics(I, C, gravity, springs, F, tau, q, v, a):
    """(missing joint forces (nr,), joint wrenches W (n, 6), what `forward` gives): J^T (M Z - f) + R a - f_r."""
    n = len(I)
    K, B, Bd, P, Z, X, g = forward(I, C, gravity, q, v, a)
    W, f = np.empty((n, 6)), tau.copy()
    for i in range(n):
        outer(C, i, P, g, W)
        for k in range(6):
            W[i, k] = inertia_of(C, i, k) * Z[i, k] - W[i, k] + C[i, 43] * P[i, k]
    spring(springs, F, 0, len(springs), q, v, True, f)
    for i in range(n - 1, -1, -1):
        for k in range(I[i, 2], I[i, 2] + I[i, 3]):
            f[k] = C[i, 86] * a[k] - f[k]
            for m in range(6):
                f[k] += B[k, m] * W[i, m]
        if I[i, 0] >= 0:
            up(K, i, W, i, W, I[i, 0])
    return f, W, K, B, Bd, P, Z, X, g


@njit(**_options)
def mass_diagonal(I, C, gravity, q):
    """The diagonal of J^T M J + R (nr,), from the inertia of everything a joint carries."""
    zero = np.zeros(len(q))
    K, B, _, _, _, _, _ = forward(I, C, gravity, q, zero, zero)
    d, p = np.zeros(len(B)), np.zeros((len(I), 6))
    for j in range(len(I)):
        for k in range(I[j, 2], I[j, 2] + I[j, 3]):
            inside = np.zeros(len(I), np.bool_)
            inside[j] = True
            p[j], d[k] = B[k], C[j, 86]
            for i in range(j, len(I)):
                if i > j:
                    if I[i, 0] < j or not inside[I[i, 0]]:
                        continue
                    inside[i] = True
                    down(K, i, p, I[i, 0], p, i)
                for m in range(6):
                    d[k] += inertia_of(C, i, m) * p[i, m] * p[i, m]
    return d


@njit(**_options)
def _changed(R, dR, Y, j, out, k):
    """out[k] += dA Y[j] with A = A(R), R (12,) = (R, p)."""
    for c in range(3):
        turned = dR[3 * c] * Y[j, 0] + dR[3 * c + 1] * Y[j, 1] + dR[3 * c + 2] * Y[j, 2]
        out[k, c] += turned
        out[k, 3 + c] += dR[3 * c] * Y[j, 3] + dR[3 * c + 1] * Y[j, 4] + dR[3 * c + 2] * Y[j, 5]
        s = R[3 * c] * Y[j, 0] + R[3 * c + 1] * Y[j, 1] + R[3 * c + 2] * Y[j, 2]
        x, y = (c + 1) % 3, (c + 2) % 3  # p x e_c = p_y e_x - p_x e_y, cyclic
        out[k, 3 + x] += dR[9 + y] * s + R[9 + y] * turned
        out[k, 3 + y] -= dR[9 + x] * s + R[9 + x] * turned


@njit(**_options)
def _changed_back(R, dR, W, j, out, k):
    """out[k] += dA^T W[j]."""
    for c in range(3):
        x, y = (c + 1) % 3, (c + 2) % 3
        t = W[j, c] - R[9 + x] * W[j, 3 + y] + R[9 + y] * W[j, 3 + x]  # w - p x f
        dt = -dR[9 + x] * W[j, 3 + y] + dR[9 + y] * W[j, 3 + x]
        for b in range(3):
            out[k, b] += dR[3 * c + b] * t + R[3 * c + b] * dt
            out[k, 3 + b] += dR[3 * c + b] * W[j, 3 + c]


@njit(**_options)
def _wrench_change(C, i, P, dP, dZ, dg, dW):
    """dW[i] = M dZ - d(Coriolis and gravity) + d dP."""
    m = C[i, 39]
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        turn = (C[i, 36 + b] - C[i, 36 + c]) * (dP[i, b] * P[i, c] + P[i, b] * dP[i, c])
        swing = dP[i, 3 + b] * P[i, c] + P[i, 3 + b] * dP[i, c] - dP[i, 3 + c] * P[i, b] - P[i, 3 + c] * dP[i, b]
        dW[i, a] = C[i, 36 + a] * dZ[i, a] - turn + C[i, 43] * dP[i, a]
        dW[i, 3 + a] = m * (dZ[i, 3 + a] - swing - dg[i, a]) + C[i, 43] * dP[i, 3 + a]


@njit(**_options)
def tangent(I, C, gravity, springs, F, q, v, a, W, K, B, Bd, P, Z, X, g, w_mass, w_damping, w_stiffness):
    """A (nr, nr): the derivative of the inverse dynamics along (w_K, w_D, w_M) e_k in q, v and a, k = 1, 2, ..."""
    n, nr = len(I), len(q)
    A = np.zeros((nr, nr))
    qc, vc = q.astype(np.complex128), v.astype(np.complex128)
    Kc, Bc, Bdc = np.empty((1, 12), np.complex128), np.empty((6, 6), np.complex128), np.empty((6, 6), np.complex128)
    dP, dZ, dW, dX = np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6)), np.empty((1, 6))
    dg, dK, rise = np.empty((n, 3)), np.empty(12), np.empty((2, 6))
    inside = np.zeros(n, np.bool_)
    for j in range(n):
        f, dof, parent = I[j, 2], I[j, 3], I[j, 0]
        inside[:] = False
        inside[j] = True
        for i in range(j + 1, n):
            inside[i] = I[i, 0] >= j and inside[I[i, 0]]
        for k in range(f, f + dof):
            qc[k] += 1j * STEP * w_stiffness
            vc[k] += 1j * STEP * w_damping
            place(I, C, j, j + 1, qc, vc, Kc, Bc, Bdc)
            qc[k], vc[k] = q[k], v[k]
            for m in range(12):
                dK[m] = Kc[0, m].imag / STEP
            for m in range(6):
                dX[0, m] = B[k, m] * w_damping
                dP[j, m] = 0.0
                dZ[j, m] = B[k, m] * w_mass + Bd[k, m] * w_damping
                for r in range(dof):
                    dX[0, m] += Bc[r, m].imag / STEP * v[f + r]
                    dZ[j, m] += Bc[r, m].imag / STEP * a[f + r] + Bdc[r, m].imag / STEP * v[f + r]
            if parent >= 0:
                _changed(K[j], dK, P, parent, dP, j)
                _changed(K[j], dK, Z, parent, dZ, j)
                g0, g1, g2 = g[parent, 0], g[parent, 1], g[parent, 2]
            else:
                g0, g1, g2 = gravity[0], gravity[1], gravity[2]
            for m in range(3):
                dg[j, m] = dK[3 * m] * g0 + dK[3 * m + 1] * g1 + dK[3 * m + 2] * g2
            for m in range(6):
                dP[j, m] += dX[0, m]
            bracket(dP, j, X, j, dZ, j)
            bracket(P, j, dX, 0, dZ, j)
            _wrench_change(C, j, P, dP, dZ, dg, dW)
            for i in range(j + 1, n):
                if inside[i]:
                    _follow(I, C, K, i, P, X, dP, dZ, dg, dW)
            for i in range(n - 1, j, -1):
                if inside[i]:
                    for r in range(I[i, 2], I[i, 2] + I[i, 3]):
                        for m in range(6):
                            A[r, k] += B[r, m] * dW[i, m]
                    up(K, i, dW, i, dW, I[i, 0])
            A[k, k] += w_mass * C[j, 86]
            for r in range(dof):
                for m in range(6):
                    A[f + r, k] += B[f + r, m] * dW[j, m] + Bc[r, m].imag / STEP * W[j, m]
            rise[0] = 0.0
            up(K, j, dW, j, rise, 0)
            _changed_back(K[j], dK, W, j, rise, 0)
            i = parent
            while i >= 0:
                for r in range(I[i, 2], I[i, 2] + I[i, 3]):
                    for m in range(6):
                        A[r, k] += B[r, m] * rise[0, m]
                rise[1] = 0.0
                up(K, i, rise, 0, rise, 1)
                rise[0] = rise[1]
                i = I[i, 0]
    _spring_tangent(springs, F, q, v, w_damping, w_stiffness, A)
    return A


@njit(**_options)
def _follow(I, C, K, i, P, X, dP, dZ, dg, dW):
    """The changes of a link that follows its parent."""
    j = I[i, 0]
    down(K, i, dP, j, dP, i)
    down(K, i, dZ, j, dZ, i)
    bracket(dP, i, X, i, dZ, i)
    for m in range(3):
        dg[i, m] = K[i, 3 * m] * dg[j, 0] + K[i, 3 * m + 1] * dg[j, 1] + K[i, 3 * m + 2] * dg[j, 2]
    _wrench_change(C, i, P, dP, dZ, dg, dW)


@njit(**_options)
def _spring_tangent(springs, F, q, v, w_damping, w_stiffness, A):
    """A -= d tau of the springs in joints, by complex steps."""
    if len(springs) == 0:
        return
    qc, vc = q.astype(np.complex128), v.astype(np.complex128)
    f = np.zeros(len(q), np.complex128)
    for s in range(len(springs)):
        dof, first = springs[s, 1], springs[s, 2]
        for k in range(first, first + dof):
            f[first : first + dof] = 0.0
            qc[k] += 1j * STEP * w_stiffness
            vc[k] += 1j * STEP * w_damping
            spring(springs, F, s, s + 1, qc, vc, True, f)
            qc[k], vc[k] = q[k], v[k]
            for r in range(first, first + dof):
                A[r, k] -= f[r].imag / STEP


@njit(**_options)
def newton(I, C, gravity, springs, F, tau, c, target, base, z, weights, scale, relative, absolute, norms):
    """(z, iterations, threshold, done): full Newton steps on c^2 times the inverse dynamics at ((z - target)/c^2, ...).

    ``norms`` gets the residuals. Not done where a step does not lower the residual by a tenth, or they are too many.
    """
    cc = c * c
    r, W, K, B, Bd, P, Z, X, g = inverse_dynamics(I, C, gravity, springs, F, tau, z, (z - base) / c, (z - target) / cc)
    norm = cc * np.sqrt(np.sum(r * r / weights))
    threshold = max(relative * min(norm, scale), absolute * scale)
    norms[0] = norm
    k = 0
    while norm > threshold:
        if k == len(norms) - 1:
            return z, k, threshold, False
        v, a = (z - base) / c, (z - target) / cc
        A = tangent(I, C, gravity, springs, F, z, v, a, W, K, B, Bd, P, Z, X, g, 1.0, c, cc)
        z = z - np.linalg.solve(A, cc * r)
        r, W, K, B, Bd, P, Z, X, g = inverse_dynamics(
            I, C, gravity, springs, F, tau, z, (z - base) / c, (z - target) / cc
        )
        before, norm = norm, cc * np.sqrt(np.sum(r * r / weights))
        k += 1
        norms[k] = norm
        if not (norm <= 0.9 * before or norm <= threshold):
            return z, k, threshold, False
    return z, k, threshold, True
