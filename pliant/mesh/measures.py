"""Sizes of elements: signed volumes, areas and lengths, edge lengths, shape quality."""

from math import factorial

import numpy as np

from pliant.arrays import Array, IntArray

_PAIRS = {2: ((0, 1),), 3: ((0, 1), (1, 2), (2, 0)), 4: ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))}


def measures(X: Array, T: IntArray) -> Array:
    """Volume [m^3], area [m^2] or length [m] of every element, (m,).

    Signed where the sign has a meaning, i.e. where the element fills its space (tets; planar triangles):
    det[X1-X0, ...] / d!. Otherwise sqrt(det(D^T D)) / k! with D the k edge vectors.
    """
    D = X[T[:, 1:]] - X[T[:, :1]]
    k, d = D.shape[1:]
    if k == d == 3:
        return np.einsum("mi,mi->m", np.cross(D[:, 0], D[:, 1]), D[:, 2]) / 6
    if k == d:
        return np.linalg.det(D) / factorial(k)
    if k == 2:
        return np.linalg.norm(np.cross(D[:, 0], D[:, 1]), axis=1) / 2
    return np.linalg.norm(D[:, 0], axis=1)


def signed(X: Array, T: IntArray) -> bool:
    """Whether the elements fill their space, so that orientation is inversion."""
    return T.shape[1] == X.shape[1] + 1


def edge_lengths(X: Array, T: IntArray) -> Array:
    """Lengths [m] of the edges of every element, (m, 6 | 3 | 1)."""
    i, j = np.array(_PAIRS[T.shape[1]]).T
    return np.linalg.norm(X[T[:, j]] - X[T[:, i]], axis=2)


def radius_ratio(X: Array, T: IntArray) -> Array:
    """Quality d * inradius / circumradius of every element, (m,): 1 regular (springs too), 0 flat, < 0 inverted."""
    k = T.shape[1]
    if k == 2:
        return np.ones(len(T))
    V = measures(X, T)
    if k == 3:
        a, b, c = edge_lengths(X, T).T
        inradius, product = 2 * np.abs(V) / (a + b + c), a * b * c
        return np.where(V >= 0, 1.0, -1.0) * 2 * inradius * 4 * np.abs(V) / np.where(product > 0, product, 1)
    faces = sum(measures(X, T[:, list(f)]) for f in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)))
    l = edge_lengths(X, T)
    # Circumradius from the products of opposite edges (the tetrahedral Heron formula): 24 V R = sqrt(...)
    p, q, r = l[:, 0] * l[:, 5], l[:, 1] * l[:, 4], l[:, 2] * l[:, 3]
    s = np.sqrt(np.maximum((p + q + r) * (p + q - r) * (p - q + r) * (-p + q + r), 0))
    scale = np.asarray(faces) * s
    return np.where(V >= 0, 1.0, -1.0) * 216 * V**2 / np.where(scale > 0, scale, np.inf)


def dihedral_angles(X: Array, T: IntArray) -> Array:
    """The six dihedral angles [rad] of every tet, (m, 6)."""
    Y = X[T]
    normals = [
        np.cross(Y[:, b] - Y[:, a], Y[:, c] - Y[:, a]) for a, b, c in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))
    ]
    lengths = [np.linalg.norm(n, axis=1) for n in normals]
    angles = []
    for i, j in _PAIRS[4]:
        scale = lengths[i] * lengths[j]
        cosine = -np.einsum("mi,mi->m", normals[i], normals[j]) / np.where(scale > 0, scale, 1)
        angles.append(np.arccos(np.clip(cosine, -1, 1)))
    return np.stack(angles, axis=1)
