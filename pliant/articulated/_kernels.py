"""Recursions over the tree in O(n), for real and complex numbers. Parents come before children; -1 is the world.

Everything is in body coordinates: B rows are the own columns A_ij S of J, (R, p) the frame of the parent body seen from
the child, so A_ip = [R 0; [p] R R] [Weidner2022, sec. 3.2].
"""

import numpy as np
from numba import njit

_options = {"cache": True, "error_model": "numpy"}


@njit(**_options)
def _to_child(R, p, y, out):
    """out = A(R, p) y."""
    a0 = R[0, 0] * y[0] + R[0, 1] * y[1] + R[0, 2] * y[2]
    a1 = R[1, 0] * y[0] + R[1, 1] * y[1] + R[1, 2] * y[2]
    a2 = R[2, 0] * y[0] + R[2, 1] * y[1] + R[2, 2] * y[2]
    out[0] = a0
    out[1] = a1
    out[2] = a2
    out[3] = R[0, 0] * y[3] + R[0, 1] * y[4] + R[0, 2] * y[5] + p[1] * a2 - p[2] * a1
    out[4] = R[1, 0] * y[3] + R[1, 1] * y[4] + R[1, 2] * y[5] + p[2] * a0 - p[0] * a2
    out[5] = R[2, 0] * y[3] + R[2, 1] * y[4] + R[2, 2] * y[5] + p[0] * a1 - p[1] * a0


@njit(**_options)
def _to_parent(R, p, w, out):
    """out += A(R, p)^T w."""
    t0 = w[0] + p[2] * w[4] - p[1] * w[5]  # omega rows of A^T: R^T (w_omega + [p]^T w_nu)
    t1 = w[1] + p[0] * w[5] - p[2] * w[3]
    t2 = w[2] + p[1] * w[3] - p[0] * w[4]
    for k in range(3):
        out[k] += R[0, k] * t0 + R[1, k] * t1 + R[2, k] * t2
        out[3 + k] += R[0, k] * w[3] + R[1, k] * w[4] + R[2, k] * w[5]


@njit(**_options)
def _bracket(a, b, out):
    """out -= ad(a) b."""
    out[0] -= a[1] * b[2] - a[2] * b[1]
    out[1] -= a[2] * b[0] - a[0] * b[2]
    out[2] -= a[0] * b[1] - a[1] * b[0]
    out[3] -= a[1] * b[5] - a[2] * b[4] + a[4] * b[2] - a[5] * b[1]
    out[4] -= a[2] * b[3] - a[0] * b[5] + a[5] * b[0] - a[3] * b[2]
    out[5] -= a[0] * b[4] - a[1] * b[3] + a[3] * b[1] - a[4] * b[0]


@njit(**_options)
def _compose(A, B, out):
    """out = A B for frames (4, 4)."""
    for i in range(3):
        for j in range(4):
            out[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]
        out[i, 3] += A[i, 3]
    out[3, 0] = out[3, 1] = out[3, 2] = 0.0
    out[3, 3] = 1.0


@njit(**_options)
def place(parent, E0, Q, Eb):
    """World frames of joints E_wj = E_wp E0 Q and bodies E_wi = E_wj Eb."""
    n = len(parent)
    Ej, Ei = np.empty((n, 4, 4), Q.dtype), np.empty((n, 4, 4), Q.dtype)
    local = np.empty((4, 4), Q.dtype)
    for i in range(n):
        if parent[i] < 0:
            _compose(E0[i], Q[i], Ej[i])
        else:
            _compose(E0[i], Q[i], local)
            _compose(Ej[parent[i]], local, Ej[i])
        _compose(Ej[i], Eb[i], Ei[i])
    return Ej, Ei


@njit(**_options)
def relative(parent, Ei):
    """(R, p): the parent body frame seen from each body."""
    n = len(parent)
    R, p = np.zeros((n, 3, 3), Ei.dtype), np.zeros((n, 3), Ei.dtype)
    for i in range(n):
        if parent[i] < 0:
            continue
        E, P = Ei[i], Ei[parent[i]]
        for a in range(3):
            for b in range(3):
                R[i, a, b] = E[0, a] * P[0, b] + E[1, a] * P[1, b] + E[2, a] * P[2, b]
            for c in range(3):
                p[i, a] += E[c, a] * (P[c, 3] - E[c, 3])
    return R, p


@njit(**_options)
def own_columns(link, Eij, S):
    """Columns A_ij S of each coordinate: S (nr, 6) in joint frames to body frames E_ij = Eb^-1."""
    B = np.empty_like(S)
    for k in range(len(link)):
        E = Eij[link[k]]
        _to_child(E[:3, :3], E[:3, 3], S[k], B[k])
    return B


@njit(**_options)
def apply(parent, ptr, R, p, B, x):
    """y = J x (n, 6), root to leaf."""
    n = len(parent)
    y = np.zeros((n, 6), (R.ravel()[:1] * x[:1]).dtype if len(x) else R.dtype)
    for i in range(n):
        if parent[i] >= 0:
            _to_child(R[i], p[i], y[parent[i]], y[i])
        for k in range(ptr[i], ptr[i + 1]):
            for a in range(6):
                y[i, a] += B[k, a] * x[k]
    return y


@njit(**_options)
def apply_rate(parent, ptr, R, p, B, Bdot, phi, x):
    """(J x, Jdot x): Jdot_i = A_ip Jdot_p + (A_ip ad(phi_p) - ad(phi_i) A_ip) J_p + own."""
    n = len(parent)
    y, z = np.zeros((n, 6), phi.dtype), np.zeros((n, 6), phi.dtype)
    turned, moved = np.zeros(6, phi.dtype), np.zeros(6, phi.dtype)
    for i in range(n):
        j = parent[i]
        if j >= 0:
            _to_child(R[i], p[i], y[j], y[i])
            for a in range(6):
                turned[a] = z[j, a]
            _bracket(y[j], phi[j], turned)  # + ad(phi_p) y_p
            _to_child(R[i], p[i], turned, moved)
            _bracket(phi[i], y[i], moved)
            for a in range(6):
                z[i, a] = moved[a]
        for k in range(ptr[i], ptr[i + 1]):
            for a in range(6):
                y[i, a] += B[k, a] * x[k]
                z[i, a] += Bdot[k, a] * x[k]
    return y, z


@njit(**_options)
def apply_transpose(parent, ptr, R, p, B, y):
    """x = J^T y, leaf to root."""
    w = y.copy()
    x = np.zeros(len(B), y.dtype)
    for i in range(len(parent) - 1, -1, -1):
        for k in range(ptr[i], ptr[i + 1]):
            s = B[k, 0] * w[i, 0]
            for a in range(1, 6):
                s += B[k, a] * w[i, a]
            x[k] = s
        if parent[i] >= 0:
            _to_parent(R[i], p[i], w[i], w[parent[i]])
    return x


@njit(**_options)
def accumulate(parent, receiver, R, p, y):
    """Joint wrenches w_i = y_i + sum over children of A^T w: leaf to root; ``receiver`` is normally the parent."""
    w = y.copy()
    for i in range(len(parent) - 1, -1, -1):
        if parent[i] >= 0:
            _to_parent(R[i], p[i], w[i], w[receiver[i]])
    return w


@njit(**_options)
def jacobian_columns(parent, ptr, R, p, B, columns):
    """Dense J (6n, nr) one column after the other; ``columns`` is nr."""
    n = len(parent)
    J = np.zeros((6 * n, columns))
    e = np.zeros(6)
    for i in range(n):
        j = parent[i]
        if j >= 0:
            for k in range(ptr[i]):
                if np.any(J[6 * j : 6 * j + 6, k] != 0.0):
                    _to_child(R[i], p[i], J[6 * j : 6 * j + 6, k], e)
                    J[6 * i : 6 * i + 6, k] = e
        for k in range(ptr[i], ptr[i + 1]):
            J[6 * i : 6 * i + 6, k] = B[k]
    return J


@njit(**_options)
def wrenches(E, phi, inertia, gravity):
    """Coriolis and gravity wrenches ad(phi)^T M phi + (0, m R^T g) (n, 6)."""
    n = len(E)
    f = np.zeros((n, 6), phi.dtype)
    for i in range(n):
        w, v, I, m = phi[i, :3], phi[i, 3:], inertia[i], inertia[i, 5]
        L0, L1, L2 = I[0] * w[0], I[1] * w[1], I[2] * w[2]
        f[i, 0] = L1 * w[2] - L2 * w[1]
        f[i, 1] = L2 * w[0] - L0 * w[2]
        f[i, 2] = L0 * w[1] - L1 * w[0]
        for a in range(3):
            f[i, 3 + a] = m * (E[i, 0, a] * gravity[0] + E[i, 1, a] * gravity[1] + E[i, 2, a] * gravity[2])
        f[i, 3] += m * (v[1] * w[2] - v[2] * w[1])
        f[i, 4] += m * (v[2] * w[0] - v[0] * w[2])
        f[i, 5] += m * (v[0] * w[1] - v[1] * w[0])
    return f


@njit(**_options)
def _cholesky(A, k):
    """In place lower Cholesky of the leading (k, k) block; the smallest pivot relative to its diagonal entry."""
    worst = np.inf
    for j in range(k):
        before = A[j, j]
        d = A[j, j]
        for m in range(j):
            d -= A[j, m] * A[j, m]
        worst = min(worst, d / before if before > 0.0 else -1.0)
        d = np.sqrt(d) if d > 0.0 else 1e-150
        A[j, j] = d
        for i in range(j + 1, k):
            s = A[i, j]
            for m in range(j):
                s -= A[i, m] * A[j, m]
            A[i, j] = s / d
    return worst


@njit(**_options)
def _cholesky_solve(L, k, x):
    """x <- (L L^T)^-1 x."""
    for i in range(k):
        for m in range(i):
            x[i] -= L[i, m] * x[m]
        x[i] /= L[i, i]
    for i in range(k - 1, -1, -1):
        for m in range(i + 1, k):
            x[i] -= L[m, i] * x[m]
        x[i] /= L[i, i]


@njit(**_options)
def _congruence(R, p, P, out):
    """out += A^T P A with A = A(R, p)."""
    T = np.zeros((6, 6))
    for c in range(6):  # columns of P, then rows of the result
        _to_parent(R, p, P[:, c], T[:, c])
    for r in range(6):
        _to_parent(R, p, T[r], out[r])


@njit(**_options)
def factor(parent, ptr, R, p, B, diagonal, extra):
    """(L, U, pivots): Cholesky factors of 1/Psi (n, 6, 6), columns U = Mh B (nr, 6), smallest relative pivots (n,)."""
    n = len(parent)
    Mh = diagonal.copy()
    L, U = np.zeros((n, 6, 6)), np.zeros_like(B)
    pivots = np.full(n, np.inf)
    y = np.zeros(6)
    for i in range(n - 1, -1, -1):
        a, k = ptr[i], ptr[i + 1] - ptr[i]
        for c in range(k):
            for r in range(6):
                s = 0.0
                for m in range(6):
                    s += Mh[i, r, m] * B[a + c, m]
                U[a + c, r] = s
        for r in range(k):
            for c in range(k):
                s = extra[i, r, c]
                for m in range(6):
                    s += B[a + r, m] * U[a + c, m]
                L[i, r, c] = s
        pivots[i] = _cholesky(L[i], k)
        if parent[i] < 0:
            continue
        for r in range(6):  # Pi = Mh - U Psi U^T, row by row
            for c in range(k):
                y[c] = U[a + c, r]
            _cholesky_solve(L[i], k, y)
            for m in range(6):
                for c in range(k):
                    Mh[i, r, m] -= y[c] * U[a + c, m]
        _congruence(R[i], p[i], Mh[i], Mh[parent[i]])
    return L, U, pivots


@njit(**_options)
def solve(parent, ptr, R, p, B, L, U, x):
    """y with (J^T A J + a) y = x: leaf to root for the articulated forces, root to leaf for the rates."""
    n = len(parent)
    force = np.zeros((n, 6))
    y, u = x.copy(), np.zeros(6)
    for i in range(n - 1, -1, -1):
        a, k = ptr[i], ptr[i + 1] - ptr[i]
        for c in range(k):
            for m in range(6):
                y[a + c] -= B[a + c, m] * force[i, m]
        if parent[i] < 0:
            continue
        for c in range(k):
            u[c] = y[a + c]
        _cholesky_solve(L[i], k, u)
        for c in range(k):
            for m in range(6):
                force[i, m] += U[a + c, m] * u[c]
        _to_parent(R[i], p[i], force[i], force[parent[i]])
    V = force
    for i in range(n):
        a, k = ptr[i], ptr[i + 1] - ptr[i]
        if parent[i] < 0:
            V[i, :] = 0.0
        else:
            _to_child(R[i], p[i], V[parent[i]], V[i])
        for c in range(k):
            u[c] = y[a + c]
            for m in range(6):
                u[c] -= U[a + c, m] * V[i, m]
        _cholesky_solve(L[i], k, u)
        for c in range(k):
            y[a + c] = u[c]
            for m in range(6):
                V[i, m] += B[a + c, m] * u[c]
    return y
