"""Points inside a mesh: which element holds each, with which weights. A fine surface then follows a coarse body."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import MeshError
from pliant.mesh.measures import edge_lengths
from pliant.mesh.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Embedding:
    """Points p_i = sum_k weights[i, k] x[vertices[i, k]] for any positions x of the mesh, rest or deformed.

    Weights sum to one; points outside the mesh have a negative weight in the element next to them.
    """

    element: IntArray  # (p,)
    vertices: IntArray  # (p, k)
    weights: Array  # (p, k)

    @property
    def outside(self) -> IntArray:
        """Numbers of the points outside the mesh."""
        return np.flatnonzero(self.weights.min(axis=1) < -1e-9)

    def positions(self, x: Array) -> Array:
        """Where the points are when the vertices are at ``x (n, d)`` [m]; (p, d)."""
        return np.einsum("pk,pkd->pd", self.weights, x[self.vertices])

    def matrix(self, n: int) -> sp.csr_matrix:
        """The weights as a matrix (p, n): ``matrix @ x`` are the positions, its transpose spreads forces."""
        rows = np.repeat(np.arange(len(self.weights)), self.weights.shape[1])
        return sp.csr_matrix((self.weights.ravel(), (rows, self.vertices.ravel())), shape=(len(self.weights), n))


def embed(mesh: Mesh, points: Array) -> Embedding:
    """The containing element and barycentric weights of every point (p, d); outside, those of the nearest elements."""
    P = np.asarray(points, dtype=np.float64)
    if mesh.T.shape[1] != mesh.dim + 1:
        raise MeshError(
            f"{mesh.kind} do not fill space", where="embed", remedy="use a tet mesh or a planar triangle mesh"
        )
    if P.ndim != 2 or P.shape[1] != mesh.dim or not np.isfinite(P).all():
        remedy = f"give finite points of shape (p, {mesh.dim})"
        raise MeshError(f"points have shape {P.shape}", where="embed", remedy=remedy)
    origin = mesh.X[mesh.T[:, 0]]
    inverse = np.linalg.inv(np.swapaxes(mesh.X[mesh.T[:, 1:]] - origin[:, None], 1, 2))

    def weights_of(point: IntArray, element: IntArray) -> Array:
        w = np.einsum("pij,pj->pi", inverse[element], P[point] - origin[element])
        return np.column_stack((1 - w.sum(axis=1), w))

    point, element = _candidates(mesh, P)
    chosen = np.full(len(P), -1, dtype=np.int64)
    _keep_best(chosen, point, element, weights_of(point, element).min(axis=1), at_least=-1e-9)
    lost = np.flatnonzero(chosen < 0)
    if len(lost):
        from scipy.spatial import cKDTree

        k = min(32, len(mesh.T))
        near = cKDTree(mesh.X[mesh.T].mean(axis=1)).query(P[lost], k=k)[1].reshape(len(lost), k)
        point, element = np.repeat(lost, k), near.ravel()
        _keep_best(chosen, point, element, weights_of(point, element).min(axis=1), at_least=-np.inf)
    return Embedding(chosen, mesh.T[chosen], weights_of(np.arange(len(P)), chosen))


def _keep_best(chosen: IntArray, point: IntArray, element: IntArray, score: Array, *, at_least: float) -> None:
    """Give every point its element with the highest score (ties: the lowest number), if that is high enough."""
    order = np.lexsort((element, -score, point))
    first = order[np.unique(point[order], return_index=True)[1]]
    first = first[score[first] >= at_least]
    chosen[point[first]] = element[first]


def _candidates(mesh: Mesh, P: Array) -> tuple[IntArray, IntArray]:
    """Pairs (point, element) that share a cell of a grid as wide as an average element."""
    low, high = mesh.bounds
    width = max(float(edge_lengths(mesh.X, mesh.T).mean()), float((high - low).max()) / 512)
    cells = np.floor((high - low) / width).astype(np.int64) + 1
    cell_of = lambda Y: np.clip(np.floor((Y - low) / width).astype(np.int64), 0, cells - 1)
    lowest, highest = (cell_of(f(mesh.X[mesh.T], axis=1)) for f in (np.min, np.max))
    span = highest - lowest + 1
    count = span.prod(axis=1)
    element = np.repeat(np.arange(len(mesh.T)), count)
    local = np.arange(len(element)) - np.repeat(np.cumsum(count) - count, count)
    cell = np.zeros(len(element), dtype=np.int64)
    for axis in range(mesh.dim):  # mixed radix: the local number of a cell gives its offset along every axis
        cell = cell * cells[axis] + lowest[element, axis] + local % span[element, axis]
        local = local // span[element, axis]
    order = np.argsort(cell, kind="stable")
    cell, element = cell[order], element[order]
    here = np.zeros(len(P), dtype=np.int64)
    for axis, c in enumerate(cell_of(P).T):
        here = here * cells[axis] + c
    start, end = np.searchsorted(cell, here, "left"), np.searchsorted(cell, here, "right")
    point = np.repeat(np.arange(len(P)), end - start)
    offset = np.arange(len(point)) - np.repeat(np.cumsum(end - start) - (end - start), end - start)
    element = element[np.repeat(start, end - start) + offset]
    slack = 1e-9 * width
    boxed = np.ones(len(point), dtype=bool)
    for axis in range(mesh.dim):
        x, corners = P[point, axis], mesh.X[mesh.T, axis]
        boxed &= (x >= corners.min(axis=1)[element] - slack) & (x <= corners.max(axis=1)[element] + slack)
    return point[boxed], element[boxed]
