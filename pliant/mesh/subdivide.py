"""Triangles cut smaller: long edges are halved, in all of their triangles at once, so that no gaps open."""

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.mesh.topology import group_rows


def subdivided(X: Array, F: IntArray, length: float) -> tuple[sp.csr_matrix, IntArray]:
    """Triangles (k, 3) without an edge longer than ``length`` [m], and the weights S (m, n) of their vertices S X.

    The vertices X (n, 3) come first. Every other one lies on a triangle of F, whose vertices it has weights of. An edge
    is halved when it is the longest of all its triangles; other triangles and edges stay as they are.
    """
    S = sp.identity(len(X), format="csr")
    while True:
        Y = S @ X
        sides = np.sort(np.stack([F, np.roll(F, -1, axis=1)], axis=2).reshape(-1, 2), axis=1)
        first, edge, _ = group_rows(sides)
        E, edge = sides[first], edge.reshape(-1, 3)
        size = np.linalg.norm(Y[E[:, 1]] - Y[E[:, 0]], axis=1)
        if not (size > length).any():
            return S, F
        rank = np.empty(len(E), dtype=np.int64)
        rank[np.argsort(size, kind="stable")] = np.arange(len(E))
        halved = size > length
        halved[edge[rank[edge] < rank[edge].max(axis=1, keepdims=True)]] = False
        number = np.where(halved, len(Y) + np.cumsum(halved) - 1, -1)
        S = sp.vstack([S, 0.5 * (S[E[halved, 0]] + S[E[halved, 1]])], format="csr")
        F = _split(F, number[edge])


def _split(F: IntArray, middle: IntArray) -> IntArray:
    """Triangles in two where one of ``middle (k, 3)`` is not -1: the vertex in the middle of edge r, r + 1."""
    parts = [F[(middle < 0).all(axis=1)]]
    for r in range(3):
        which = middle[:, r] >= 0
        (a, b, c), m = np.roll(F[which], -r, axis=1).T, middle[which, r]
        parts += [np.column_stack([a, m, c]), np.column_stack([m, b, c])]
    return np.concatenate(parts)
