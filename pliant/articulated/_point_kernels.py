"""Derivatives of points on a tree, in world coordinates about a point c near the tree, so that little cancels.

Coordinate k moves what its link carries with the velocity v_k + w_k x (x - c). With forces g on points, and over the
points that k moves, F = sum g and N = sum (x - c) g^T:

    dx/dq_k = v_k + w_k x (x - c)        d2x/dq_j dq_k = w_j x dx/dq_k       (j on the way from the root to k)
    sum g . d2x/dq_j dq_k = w_j . (v_k x F + (N - tr N) w_k)

Coordinates of one joint add what their own columns of the joint's subspace change: dS_k/dq_j on the wrench (F, N).
"""

from typing import Any

import numpy as np
from numba import njit

from pliant.arrays import Array, IntArray

_options: Any = {"cache": True, "error_model": "numpy"}


@njit(**_options)
def positions(frames: Array, link: IntArray, x: Array) -> Array:
    """World positions (p, 3) of points x (p, 3) in the frames (n, 4, 4) of the links ``link (p,)``.

    Added up in the order of NumPy's einsum, to the same bytes.
    """
    out = np.empty((len(x), 3), frames.dtype)
    for i in range(len(x)):
        E = frames[link[i]]
        for a in range(3):
            out[i, a] = E[a, 0] * x[i, 0] + E[a, 2] * x[i, 2] + E[a, 1] * x[i, 1] + E[a, 3]
    return out


@njit(**_options)
def center(frames: Array) -> Array:
    """The mean (3,) of the origins of frames (n, 4, 4)."""
    out = np.zeros(3, frames.dtype)
    for i in range(len(frames)):
        for a in range(3):
            out[a] += frames[i, a, 3]
    return out / len(frames)


@njit(**_options)
def world_columns(frames: Array, link: IntArray, B: Array, c: Array) -> Array:
    """(w, v) (k, 6) at c of twists B (k, 6) in the frames (n, 4, 4) of the links ``link (k,)``."""
    out = np.empty_like(B)
    for k in range(len(B)):
        E = frames[link[k]]
        for a in range(3):
            out[k, a] = E[a, 0] * B[k, 0] + E[a, 1] * B[k, 1] + E[a, 2] * B[k, 2]
            out[k, 3 + a] = E[a, 0] * B[k, 3] + E[a, 1] * B[k, 4] + E[a, 2] * B[k, 5]
        r0, r1, r2 = c[0] - E[0, 3], c[1] - E[1, 3], c[2] - E[2, 3]
        w = out[k]
        out[k, 3] += w[1] * r2 - w[2] * r1
        out[k, 4] += w[2] * r0 - w[0] * r2
        out[k, 5] += w[0] * r1 - w[1] * r0
    return out


@njit(**_options)
def jacobian(parent: IntArray, ptr: IntArray, s: Array, x: Array, link: IntArray, indptr: IntArray, rank: IntArray):  # type: ignore[no-untyped-def]
    """Entries of dx/dq for points x (p, 3), from c, of the links ``link (p,)``; ``s`` are the world columns.

    Row 3 i + a begins at ``indptr[3 i + a]``; in it, coordinate k has the place ``rank[k]``.
    """
    data = np.zeros(indptr[-1], s.dtype)
    for i in range(len(x)):
        b = link[i]
        while b >= 0:
            for k in range(ptr[b], ptr[b + 1]):
                w = s[k]
                data[indptr[3 * i] + rank[k]] = w[3] + w[1] * x[i, 2] - w[2] * x[i, 1]
                data[indptr[3 * i + 1] + rank[k]] = w[4] + w[2] * x[i, 0] - w[0] * x[i, 2]
                data[indptr[3 * i + 2] + rank[k]] = w[5] + w[0] * x[i, 1] - w[1] * x[i, 0]
            b = parent[b]
    return data


@njit(**_options)
def moments(parent: IntArray, x: Array, g: Array, link: IntArray) -> tuple:  # type: ignore[type-arg]
    """F (n, 3) and N (n, 3, 3) of the points that each link and all behind it carry, x (p, 3) from c."""
    n = len(parent)
    F, N = np.zeros((n, 3)), np.zeros((n, 3, 3))
    for i in range(len(x)):
        for a in range(3):
            F[link[i], a] += g[i, a]
            for b in range(3):
                N[link[i], a, b] += x[i, a] * g[i, b]
    for i in range(n - 1, -1, -1):
        if parent[i] >= 0:
            F[parent[i]] += F[i]
            N[parent[i]] += N[i]
    return F, N


@njit(**_options)
def curvature(parent: IntArray, ptr: IntArray, s: Array, F: Array, N: Array, indptr: IntArray, rank: IntArray):  # type: ignore[no-untyped-def]
    """Entries of sum g . d2x/dq dq without what joints add of their own; rows begin at ``indptr``, places ``rank``."""
    data = np.zeros(indptr[-1])
    for b in range(len(parent)):
        f, M = F[b], N[b]
        t = M[0, 0] + M[1, 1] + M[2, 2]
        for k in range(ptr[b], ptr[b + 1]):
            w = s[k]
            y0 = w[4] * f[2] - w[5] * f[1] + M[0, 0] * w[0] + M[0, 1] * w[1] + M[0, 2] * w[2] - t * w[0]
            y1 = w[5] * f[0] - w[3] * f[2] + M[1, 0] * w[0] + M[1, 1] * w[1] + M[1, 2] * w[2] - t * w[1]
            y2 = w[3] * f[1] - w[4] * f[0] + M[2, 0] * w[0] + M[2, 1] * w[1] + M[2, 2] * w[2] - t * w[2]
            a = b
            while a >= 0:
                for j in range(ptr[a], ptr[a + 1]):
                    value = s[j, 0] * y0 + s[j, 1] * y1 + s[j, 2] * y2
                    data[indptr[k] + rank[j]] = value
                    if a != b:
                        data[indptr[j] + rank[k]] = value
                a = parent[a]
    return data


@njit(**_options)
def add_own(data, columns, members, d, F, N, indptr, rank):  # type: ignore[no-untyped-def]
    """Add dS_k/dq_j . (moment, F) within joints: ``d (dof, m, dof, 6)`` are world columns at c, [j, joint, k]."""
    for i in range(len(members)):
        f, M = F[members[i]], N[members[i]]
        m0, m1, m2 = M[1, 2] - M[2, 1], M[2, 0] - M[0, 2], M[0, 1] - M[1, 0]
        for j in range(columns.shape[1]):
            for k in range(columns.shape[1]):
                e = d[j, i, k]
                value = e[0] * m0 + e[1] * m1 + e[2] * m2 + e[3] * f[0] + e[4] * f[1] + e[5] * f[2]
                data[indptr[columns[i, k]] + rank[columns[i, j]]] += value
