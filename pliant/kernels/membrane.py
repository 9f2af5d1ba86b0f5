"""Membrane kernels: triangles of the corotated linear sheet, one after another; fixed order, hence deterministic."""

import numpy as np
from numba import njit


@njit(cache=True, error_model="numpy")
def singular(F):
    """F (3, 2) = U diag(s1, s2) V^T with U = (u1, u2, u3) a right-handed frame; total at rank 1 and 0."""
    a = F[0, 0] ** 2 + F[1, 0] ** 2 + F[2, 0] ** 2
    b = F[0, 0] * F[0, 1] + F[1, 0] * F[1, 1] + F[2, 0] * F[2, 1]
    c = F[0, 1] ** 2 + F[1, 1] ** 2 + F[2, 1] ** 2
    angle = 0.5 * np.arctan2(2.0 * b, a - c)
    cs, sn = np.cos(angle), np.sin(angle)
    V = np.array([[cs, -sn], [sn, cs]])
    U = np.zeros((3, 3))
    s = np.zeros(2)
    for k in range(2):
        for i in range(3):
            U[i, k] = F[i, 0] * V[0, k] + F[i, 1] * V[1, k]
        s[k] = np.sqrt(U[0, k] ** 2 + U[1, k] ** 2 + U[2, k] ** 2)
    if s[0] < 1e-150:
        U[:, 0] = np.array([1.0, 0.0, 0.0])
    else:
        U[:, 0] /= s[0]
    if s[1] < 1e-13 * s[0] or s[1] < 1e-150:  # a needle has no second direction: take any
        axis = np.argmin(np.abs(U[:, 0]))
        e = np.zeros(3)
        e[axis] = 1.0
        e -= U[axis, 0] * U[:, 0]
        U[:, 1] = e / np.sqrt(e[0] ** 2 + e[1] ** 2 + e[2] ** 2)
    else:
        U[:, 1] /= s[1]
    U[0, 2] = U[1, 0] * U[2, 1] - U[2, 0] * U[1, 1]
    U[1, 2] = U[2, 0] * U[0, 1] - U[0, 0] * U[2, 1]
    U[2, 2] = U[0, 0] * U[1, 1] - U[1, 0] * U[0, 1]
    return U, s, V


@njit(cache=True, error_model="numpy")
def deformation(x, faces, b):
    """F (m, 3, 2) = sum_k x_k b_k^T."""
    F = np.zeros((len(faces), 3, 2))
    for e in range(len(faces)):
        for k in range(3):
            for i in range(3):
                for j in range(2):
                    F[e, i, j] += x[faces[e, k], i] * b[e, k, j]
    return F


@njit(cache=True, error_model="numpy")
def value(x, faces, b, A, mu, la):
    total = 0.0
    F = deformation(x, faces, b)
    for e in range(len(faces)):
        U, s, V = singular(F[e])
        t = s[0] + s[1] - 2.0
        total += A[e] * (mu * ((s[0] - 1.0) ** 2 + (s[1] - 1.0) ** 2) + 0.5 * la * t * t)
    return total


@njit(cache=True, error_model="numpy")
def element_gradients(x, faces, b, A, mu, la):
    """g (m, 3, 3): A P b_k with P = U diag(psi_1, psi_2) V^T."""
    g = np.zeros((len(faces), 3, 3))
    F = deformation(x, faces, b)
    for e in range(len(faces)):
        U, s, V = singular(F[e])
        for a in range(2):
            psi = 2.0 * mu * (s[a] - 1.0) + la * (s[0] + s[1] - 2.0)
            for k in range(3):
                w = A[e] * psi * (V[0, a] * b[e, k, 0] + V[1, a] * b[e, k, 1])
                for i in range(3):
                    g[e, k, i] += w * U[i, a]
    return g


@njit(cache=True, error_model="numpy")
def element_hessians(x, faces, b, A, mu, la, psd):
    """H (m, 9, 9) from the six eigenmatrices of an isotropic 3 x 2 energy: stretch (2), flip, twist, out of plane (2)."""
    H = np.zeros((len(faces), 9, 9))
    F = deformation(x, faces, b)
    w = np.zeros((6, 9))
    lam = np.zeros(6)
    r = np.sqrt(0.5)
    for e in range(len(faces)):
        U, s, V = singular(F[e])
        total = s[0] + s[1]
        psi0 = 2.0 * mu * (s[0] - 1.0) + la * (total - 2.0)
        psi1 = 2.0 * mu * (s[1] - 1.0) + la * (total - 2.0)
        lam[0] = 2.0 * mu + 2.0 * la  # u1 v1 + u2 v2
        lam[1] = 2.0 * mu  # u1 v1 - u2 v2
        lam[2] = 2.0 * mu  # flip
        lam[3] = (psi0 + psi1) / max(total, 1e-12)  # twist
        lam[4] = psi0 / max(s[0], 1e-12)
        lam[5] = psi1 / max(s[1], 1e-12)
        for k in range(3):
            c0 = V[0, 0] * b[e, k, 0] + V[1, 0] * b[e, k, 1]
            c1 = V[0, 1] * b[e, k, 0] + V[1, 1] * b[e, k, 1]
            for i in range(3):
                w[0, 3 * k + i] = r * (U[i, 0] * c0 + U[i, 1] * c1)
                w[1, 3 * k + i] = r * (U[i, 0] * c0 - U[i, 1] * c1)
                w[2, 3 * k + i] = r * (U[i, 0] * c1 + U[i, 1] * c0)
                w[3, 3 * k + i] = r * (U[i, 0] * c1 - U[i, 1] * c0)
                w[4, 3 * k + i] = U[i, 2] * c0
                w[5, 3 * k + i] = U[i, 2] * c1
        for a in range(6):
            l = A[e] * lam[a]
            if psd and l < 0.0:
                continue
            for i in range(9):
                for j in range(9):
                    H[e, i, j] += l * w[a, i] * w[a, j]
    return H


@njit(cache=True)
def gather(g, faces, n):
    """Sum element rows g (m, k, 3) of ``faces (m, k)`` into (n, 3)."""
    out = np.zeros((n, 3))
    for e in range(faces.shape[0]):
        for k in range(faces.shape[1]):
            for i in range(3):
                out[faces[e, k], i] += g[e, k, i]
    return out


@njit(cache=True)
def scatter(H, slots, nnz):
    """Sum element matrices H (m, 3k, 3k) into the values of a pattern; ``slots (m, k, k, 3, 3)``."""
    data = np.zeros(nnz)
    for e in range(slots.shape[0]):
        for p in range(slots.shape[1]):
            for q in range(slots.shape[2]):
                for i in range(3):
                    for j in range(3):
                        data[slots[e, p, q, i, j]] += H[e, 3 * p + i, 3 * q + j]
    return data
