"""The inside of a rigid body that is given by its surface: what finds vertices in soft bodies finds them in links."""

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.mesh.mesh import Mesh

FLAT = 1e-9  # of the largest tetrahedron: a triangle in one plane with the first vertex encloses nothing with it


def filled(X: Array, F: IntArray) -> Mesh:
    """The closed surface X (n, 3), F (k, 3) as tetrahedra over the same vertices: a fan from the first one.

    Where the first vertex does not see every triangle from the inside (the body is not convex), the surface itself.
    """
    X, F = np.asarray(X, dtype=np.float64), np.asarray(F, dtype=np.int64)
    edges = X[F] - X[0]
    volume = np.linalg.det(edges)
    size = float(np.abs(volume).max(initial=0.0))
    if size == 0.0 or (volume < -FLAT * size).any():
        return Mesh(X, F)
    chosen = F[volume > FLAT * size]
    return Mesh(X, np.column_stack([np.zeros(len(chosen), dtype=np.int64), chosen]))
