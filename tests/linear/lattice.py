"""Matrices for the tests of linear algebra: 3x3-block patterns of a lattice of tetrahedra, dense random ones."""

import numpy as np
import scipy.sparse as sp


def lattice(cells=(5, 3, 2), seed=0, mass=1e-2):
    """A positive definite matrix with the pattern of a bar of 6 tetrahedra per cell and three unknowns per node."""
    nx, ny, nz = cells
    node = np.arange((nx + 1) * (ny + 1) * (nz + 1)).reshape(nx + 1, ny + 1, nz + 1)
    corner = [node[a : nx + a, b : ny + b, c : nz + c].ravel() for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    around = [1, 3, 2, 6, 4, 5, 1]
    T = np.concatenate([np.stack([corner[k] for k in (0, p, q, 7)], 1) for p, q in zip(around, around[1:])])
    rng = np.random.default_rng(seed)
    stiff = (np.eye(4) - 0.25) * rng.uniform(0.5, 1.5, (len(T), 1, 1))
    rows, columns = np.repeat(T, 4, axis=1).ravel(), np.tile(T, (1, 4)).ravel()
    graph = sp.csr_matrix((stiff.ravel(), (rows, columns)), shape=(node.size, node.size))
    blocks = np.array([[2.0, 0.3, 0.2], [0.3, 1.5, 0.1], [0.2, 0.1, 1.0]])
    A = sp.csr_matrix(sp.kron(graph, blocks) + mass * sp.eye_array(3 * node.size))
    A.sort_indices()
    return A


def scattered(n=60, seed=0, density=0.05):
    """A positive definite matrix with no structure at all."""
    B = sp.random_array((n, n), density=density, rng=np.random.default_rng(seed), format="csr")
    A = sp.csr_matrix(B + B.T + 4.0 * sp.eye_array(n))
    A.sort_indices()
    return A
