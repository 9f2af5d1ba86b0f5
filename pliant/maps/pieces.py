"""The connected pieces of a body, what holds each of them, and what must be done where nothing does."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray


@dataclass(frozen=True, eq=False)
class Pieces:
    """``piece (n,)`` numbers the piece of every vertex; ``held (count,)`` says which have prescribed vertices."""

    piece: IntArray
    held: Array

    @property
    def count(self) -> int:
        return len(self.held)


def pieces_of(K: sp.csr_matrix, d: int, free: IntArray) -> Pieces:
    """Pieces of the vertex graph of a stiffness matrix K (n d, n d); prescribed coordinates hold their piece."""
    n = K.shape[0] // d
    graph = sp.csr_matrix((np.ones(K.nnz), K.indices // d, K.indptr), shape=(n * d, n))[::d]
    count, piece = sp.csgraph.connected_components(graph, directed=False)
    prescribed = np.ones(n * d, dtype=bool)
    prescribed[free] = False
    held = np.zeros(count, dtype=bool)
    held[piece[np.flatnonzero(prescribed) // d]] = True
    return Pieces(piece.astype(np.int64), held)


def promoted(pieces: Pieces, X: Array, dynamic: IntArray) -> IntArray:
    """Dynamic vertices, with the vertex nearest the centroid added in every piece that has neither these nor pins."""
    chosen = list(dynamic)
    for k in range(pieces.count):
        mine = np.flatnonzero(pieces.piece == k)
        if pieces.held[k] or np.isin(mine, dynamic).any():
            continue
        chosen.append(int(mine[np.argmin(((X[mine] - X[mine].mean(axis=0)) ** 2).sum(axis=1))]))
    return np.unique(np.asarray(chosen, dtype=np.int64))


def loose(pieces: Pieces, X: Array, dynamic: IntArray) -> list[IntArray]:
    """Vertices of the unpinned pieces whose dynamic nodes leave a rigid motion free (one, two, or all on one line)."""
    out = []
    for k in range(pieces.count):
        mine = np.flatnonzero(pieces.piece == k)
        nodes = np.intersect1d(mine, dynamic)
        if pieces.held[k] or len(nodes) == len(mine):
            continue
        spread = np.linalg.svd(X[nodes] - X[nodes].mean(axis=0), compute_uv=False) if len(nodes) > 1 else np.zeros(1)
        size = float(np.linalg.norm(np.ptp(X[mine], axis=0)))
        if (spread > 1e-6 * size).sum() < min(2, X.shape[1]):
            out.append(mine)
    return out
