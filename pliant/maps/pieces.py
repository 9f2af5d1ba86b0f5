"""The connected pieces of a body, what holds each of them, and what must be done where nothing does."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray


@dataclass(frozen=True, eq=False)
class Pieces:
    """``piece (n,)`` numbers the piece of every vertex, ``pinned (n,)`` marks those with prescribed coordinates."""

    piece: IntArray
    pinned: NDArray[np.bool_]

    @property
    def count(self) -> int:
        return int(self.piece.max(initial=-1)) + 1

    @property
    def held(self) -> NDArray[np.bool_]:
        """Which pieces have a pinned vertex (count,)."""
        held = np.zeros(self.count, dtype=bool)
        held[self.piece[self.pinned]] = True
        return held

    def vertices(self) -> list[IntArray]:
        """The vertices of every piece."""
        order = np.argsort(self.piece, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.piece, minlength=self.count))[:-1])


def pieces_of(K: sp.csr_matrix, d: int, free: IntArray) -> Pieces:
    """Pieces of the vertex graph of a stiffness matrix K (n d, n d); prescribed coordinates hold their piece."""
    n = K.shape[0] // d
    graph = sp.csr_matrix((np.ones(K.nnz), K.indices // d, K.indptr), shape=(n * d, n))[::d]
    _, piece = sp.csgraph.connected_components(graph, directed=False)
    pinned = np.zeros((n, d), dtype=bool)
    pinned.reshape(-1)[np.setdiff1d(np.arange(n * d), free)] = True
    return Pieces(piece.astype(np.int64), np.asarray(pinned.any(axis=1)))


def promoted(pieces: Pieces, X: Array, dynamic: IntArray) -> IntArray:
    """Dynamic vertices, with the vertex nearest the centroid added in every piece that has none and can move rigidly:
    one without pins, or hinged (one pinned vertex in the plane, pinned vertices on a line in space).
    """
    chosen = list(dynamic)
    for mine in pieces.vertices():
        pinned = mine[pieces.pinned[mine]]
        if np.isin(mine, dynamic).any() or (len(pinned) and fixed(X, mine, pinned)):
            continue
        center = ((X[mine] - X[mine].mean(axis=0)) ** 2).sum(axis=1)
        chosen.append(int(mine[np.argmin(np.where(pieces.pinned[mine], np.inf, center))]))
    return np.unique(np.asarray(chosen, dtype=np.int64))


def movable(pieces: Pieces, X: Array) -> list[IntArray]:
    """Vertices of the pieces that their pins alone do not hold rigidly."""
    return [mine for mine in pieces.vertices() if not fixed(X, mine, mine[pieces.pinned[mine]])]


def loose(candidates: list[IntArray], pieces: Pieces, X: Array, dynamic: IntArray) -> list[IntArray]:
    """Those of the `movable` pieces whose pinned and dynamic vertices leave a rigid motion free: few, or on a line."""
    return [mine for mine in candidates if not fixed(X, mine, mine[pieces.pinned[mine] | np.isin(mine, dynamic)])]


def fixed(X: Array, piece: IntArray, anchors: IntArray) -> bool:
    """Whether holding ``anchors`` leaves a piece no rigid motion: two points in the plane, three not on a line."""
    if len(anchors) in (0, 1):
        return len(anchors) == len(piece)
    spread = np.linalg.svd(X[anchors] - X[anchors].mean(axis=0), compute_uv=False)
    size = float(np.linalg.norm(np.ptp(X[piece], axis=0)))
    return len(anchors) == len(piece) or int((spread > 1e-6 * size).sum()) >= X.shape[1] - 1
