"""Triangles for obstacles that have a formula, as contact between surfaces needs them."""

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.mesh.topology import edges


def icosphere(levels: int) -> tuple[Array, IntArray]:
    """The unit sphere as a refined icosahedron with outward triangles."""
    p = (1.0 + np.sqrt(5.0)) / 2.0
    X = np.array([[0, s, t * p] for s in (-1, 1) for t in (-1, 1)], dtype=np.float64)
    X = np.vstack([X, np.roll(X, 1, axis=1), np.roll(X, 2, axis=1)])
    X /= np.linalg.norm(X, axis=1)[:, None]
    near = np.linalg.norm(X[:, None] - X[None], axis=2) < 1.2
    F = np.array(
        [(i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] & near[j, k] & near[i, k]]
    )
    F = outward(X, F)
    for _ in range(levels):
        X, F = _refined(X, F)
    return X, F.astype(np.int64)


def _refined(X: Array, F: IntArray) -> tuple[Array, IntArray]:
    """Every triangle in four, new vertices on the unit sphere."""
    E = edges(F)
    middle = X[E].mean(axis=1)
    number = {(int(a), int(b)): len(X) + i for i, (a, b) in enumerate(E)}
    split = [
        [number[(min(a, b), max(a, b))] for a, b in ((f[0], f[1]), (f[1], f[2]), (f[2], f[0]))] for f in F.tolist()
    ]
    u, v, w = np.array(split).T
    a, b, c = F.T
    corners = [(a, u, w), (u, b, v), (w, v, c), (u, v, w)]
    return np.vstack([X, middle / np.linalg.norm(middle, axis=1)[:, None]]), np.vstack(
        [np.column_stack(t) for t in corners]
    )


def cuboid(center: Array, size: Array) -> tuple[Array, IntArray]:
    """A box of twelve triangles."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    F = np.vstack([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return corners * size + center, F.astype(np.int64)


def rod(center: Array, axis: Array, radius: float, length: float, sides: int = 48) -> tuple[Array, IntArray]:
    """A cylinder with flat caps fanned from their middles."""
    u = np.linalg.svd(axis[None, :])[2][1]
    w = np.cross(axis, u)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = radius * (np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * w)
    low, high = center - 0.5 * length * axis, center + 0.5 * length * axis
    X = np.vstack([ring + low, ring + high, low, high])
    i, j = np.arange(sides), (np.arange(sides) + 1) % sides
    caps = [np.column_stack([j, i, 0 * i + 2 * sides]), np.column_stack([i + sides, j + sides, 0 * i + 2 * sides + 1])]
    side = [np.column_stack([i, j, j + sides]), np.column_stack([i, j + sides, i + sides])]
    return X, outward(X - center, np.vstack(caps + side)).astype(np.int64)


def outward(X: Array, F: IntArray) -> IntArray:
    """Triangles of a star-shaped surface about the origin, turned to face away from it."""
    normal = np.cross(X[F[:, 1]] - X[F[:, 0]], X[F[:, 2]] - X[F[:, 0]])
    inward = (normal * X[F].mean(axis=1)).sum(axis=1) < 0.0
    F = F.copy()
    F[inward] = F[inward][:, ::-1]
    return F
