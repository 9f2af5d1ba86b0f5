"""Who touches whom: edges, faces, boundaries, connected pieces, manifoldness. Pure functions of the elements."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from pliant.arrays import IntArray

# Facets of a positive simplex, ordered so that they face outwards.
_FACETS = {4: ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)), 3: ((0, 1), (1, 2), (2, 0)), 2: ((0,), (1,))}
_EDGES = {4: ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)), 3: ((0, 1), (1, 2), (2, 0)), 2: ((0, 1),)}


def group_rows(A: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Equal rows of A (m, k): index of the first row of every group, group of every row (m,), size of every group."""
    if A.shape[1] == 1:
        _, first, group, count = np.unique(A[:, 0], return_index=True, return_inverse=True, return_counts=True)
        return first, group.ravel(), count
    order = np.lexsort(A.T[::-1])
    rows = A[order]
    new = np.concatenate(([True], np.any(rows[1:] != rows[:-1], axis=1))) if len(A) else np.zeros(0, dtype=bool)
    label = np.cumsum(new) - 1
    group = np.empty(len(A), dtype=np.int64)
    group[order] = label
    return order[new], group, np.bincount(label, minlength=int(new.sum()))


def edges(T: IntArray) -> IntArray:
    """Unique edges (e, 2) with i < j, sorted."""
    E = np.sort(T[:, _EDGES[T.shape[1]]].reshape(-1, 2), axis=1)
    return E[group_rows(E)[0]]


def facets(T: IntArray) -> IntArray:
    """All facets of all elements, outward (m * k, k - 1): faces of tets, edges of triangles, ends of springs."""
    return T[:, _FACETS[T.shape[1]]].reshape(-1, T.shape[1] - 1)


def boundary_facets(T: IntArray) -> IntArray:
    """Facets that belong to one element only, outward, in element order (b, k - 1)."""
    F = facets(T)
    _, group, count = group_rows(np.sort(F, axis=1))
    return F[count[group] == 1]


def facet_neighbours(T: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs (a, b) of elements that share a facet, each pair once."""
    _, group, count = group_rows(np.sort(facets(T), axis=1))
    order = np.argsort(group, kind="stable")
    same = group[order[1:]] == group[order[:-1]]
    k = T.shape[1]
    return order[:-1][same] // k, order[1:][same] // k


def components(n: int, T: IntArray) -> tuple[int, IntArray]:
    """Number of connected pieces and the piece of every element (m,); elements are joined by a shared vertex."""
    k = T.shape[1]
    i, j = np.repeat(T[:, 0], k - 1), T[:, 1:].ravel()
    graph = sp.coo_matrix((np.ones(len(i)), (i, j)), shape=(n, n))
    label = connected_components(graph, directed=False)[1][T[:, 0]]
    found, piece = np.unique(label, return_inverse=True)
    return len(found), piece.ravel().astype(np.int64)


@dataclass(frozen=True, eq=False)
class NonManifold:
    """Facets of more than two elements, and edges and vertices where the surface of a mesh touches itself."""

    facets: IntArray  # (f, k - 1) vertices
    edges: IntArray  # (e, 2)
    vertices: IntArray  # (v,)

    def __bool__(self) -> bool:
        return bool(len(self.facets) or len(self.edges) or len(self.vertices))


def non_manifold(T: IntArray) -> NonManifold:
    """Places where a tet or triangle mesh is not a manifold (springs never are asked to be)."""
    empty = NonManifold(np.zeros((0, T.shape[1] - 1), np.int64), np.zeros((0, 2), np.int64), np.zeros(0, np.int64))
    if T.shape[1] == 2:
        return empty
    F = facets(T)
    first, _, count = group_rows(np.sort(F, axis=1))
    crowded = F[first[count > 2]]
    if T.shape[1] == 3:
        return NonManifold(crowded, np.sort(crowded, axis=1), _pinched(T))
    S = boundary_facets(T)
    E = np.sort(S[:, _FACETS[3]].reshape(-1, 2), axis=1)
    first, _, count = group_rows(E)
    return NonManifold(crowded, E[first[count != 2]], _pinched(S))


def _pinched(S: IntArray) -> IntArray:
    """Vertices whose triangles are not one fan: their corners, joined across shared edges, fall into several sets."""
    start = np.arange(S.size)  # corner 3 t + k is vertex k of triangle t and the start of its edge k
    end = start - start % 3 + (start + 1) % 3
    swapped = S.ravel()[start] > S.ravel()[end]
    low, high = np.where(swapped, end, start), np.where(swapped, start, end)
    _, group, _ = group_rows(np.stack((S.ravel()[low], S.ravel()[high]), axis=1))
    order = np.argsort(group, kind="stable")
    same = group[order[1:]] == group[order[:-1]]
    a, b = order[:-1][same], order[1:][same]
    i, j = np.concatenate((low[a], high[a])), np.concatenate((low[b], high[b]))
    graph = sp.coo_matrix((np.ones(len(i)), (i, j)), shape=(S.size, S.size))
    label = connected_components(graph, directed=False)[1]
    fans = np.unique(np.stack((S.ravel(), label), axis=1), axis=0)[:, 0]
    return np.flatnonzero(np.bincount(fans) > 1)


def euler_characteristic(F: IntArray) -> int:
    """V - E + F of a triangle surface: 2 for a sphere, 0 for a torus, 2 - 2g for g handles."""
    return len(np.unique(F)) - len(edges(F)) + len(F)
