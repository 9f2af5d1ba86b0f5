"""Contact between soft bodies and of a body with itself: vertices inside tetrahedra, pushed to the surface.

A vertex inside a tet it does not belong to is mapped by its barycentric weights to the rest shape; the rest surface
point nearest to that place, carried along by its triangle, is where it should leave.
[Weidner2022, sec. 5.4, after McAdams 2011]
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from pliant.arrays import Array, IntArray
from pliant.contact._closest import hash_points, nearest_of_lists, points_in_tets
from pliant.contact.contacts import Contacts
from pliant.contact.triangles import NearestTriangle
from pliant.mesh.mesh import Mesh

NEAREST = 64  # triangles kept per tet; for tets near the surface these hold the nearest one of every point inside


@dataclass(frozen=True, eq=False)
class Hits:
    """Vertices found inside tets: ``vertex (c,)``, ``tet (c,)``, ``weights (c, 4)`` of the place within the tet."""

    vertex: IntArray
    tet: IntArray
    weights: Array


@dataclass(frozen=True, eq=False)
class Pairs:
    """Vertex-triangle pairs frozen at detection: the gap n . (x_p - sum_r w_r x_r) is linear in x."""

    nodes: IntArray  # (c, 4): vertex, triangle
    weights: Array  # (c, 4): 1, minus the barycentric weights
    normals: Array  # (c, 3)
    body: IntArray  # (c,) of the triangle

    def contacts(self, x: Array) -> Contacts:
        """The pairs with their gaps at positions ``x (n, 3)``."""
        c = len(self.body)
        y = np.einsum("cr,crd->cd", self.weights, x[self.nodes])
        gaps = (y * self.normals).sum(axis=1)
        return Contacts(self.nodes, self.weights, self.normals, gaps, np.zeros((c, 3)), np.zeros((c, 3, 3)), self.body)


class PairDetector:
    """Finds the pairs of bodies ``meshes`` whose vertices start at ``offsets`` of the scene's numbering."""

    def __init__(self, meshes: Sequence[Mesh], offsets: IntArray, *, self_contact: bool = True) -> None:
        self._self = self_contact
        self.X = np.concatenate([m.X for m in meshes])
        self.body = np.repeat(np.arange(len(meshes)), np.diff(offsets))
        solid = [(b, m) for b, m in enumerate(meshes) if m.kind == "tetrahedra"]
        pieces = {_shape(m): m for _, m in reversed(solid)}
        nearest = {shape: _rest_lists(m) for shape, m in pieces.items()}
        self.T = _stacked([m.T + offsets[b] for b, m in solid], 4)
        self.tet_body = np.repeat([b for b, _ in solid], [len(m.T) for _, m in solid]).astype(np.int64)
        surfaces = [m.surface() + offsets[b] for b, m in solid]
        first = np.concatenate([[0], np.cumsum([len(F) for F in surfaces])]).astype(np.int64)
        self.F = _stacked(surfaces, 3)
        lists, starts = [], [np.zeros(1, dtype=np.int64)]
        for (_, m), f in zip(solid, first, strict=False):
            start, flat = nearest[_shape(m)]
            lists.append(flat + f)
            starts.append(start[1:] + starts[-1][-1])
        self._lists = np.concatenate([*lists, np.zeros(0, np.int64)]).astype(np.int64)
        self._starts = np.concatenate(starts)
        self.vertices = np.concatenate([touchable_vertices(m) + o for m, o in zip(meshes, offsets, strict=False)])
        edge = self.X[self.T[:, 1]] - self.X[self.T[:, 0]]
        self._cell = 1.5 * float(np.linalg.norm(edge, axis=1).mean()) if len(self.T) else 1.0
        self._mask = (1 << max(8, int(2 * len(self.vertices)).bit_length())) - 1

    def hits(self, x: Array) -> Hits:
        """All vertices inside foreign tets at positions ``x (n, 3)``; one tet per vertex and body."""
        P = np.ascontiguousarray(x[self.vertices])
        start, order = hash_points(P, self._cell, self._mask)
        pairs, weights = points_in_tets(x, self.T, P, self.vertices, start, order, self._cell, self._mask, 64)
        vertex, tet = self.vertices[pairs[:, 0]], pairs[:, 1]
        if not self._self:
            keep = self.body[vertex] != self.tet_body[tet]
            vertex, tet, weights = vertex[keep], tet[keep], weights[keep]
        key = vertex * (self.tet_body.max(initial=0) + 1) + self.tet_body[tet]
        _, first = np.unique(key, return_index=True)
        return Hits(vertex[first], tet[first], weights[first])

    def detect(self, x: Array) -> Pairs:
        """Every hit as a pair with the deformed triangle through which it should leave."""
        found = self.hits(x)
        rest = np.einsum("ck,ckd->cd", found.weights, self.X[self.T[found.tet]])
        triangle, w, _, _ = nearest_of_lists(rest, self.X, self.F, self._starts, self._lists, found.tet)
        F = self.F[triangle]
        keep = (triangle >= 0) & (found.vertex[:, None] != F).all(axis=1)  # its own triangle is no contact
        F, w, vertex = F[keep], w[keep], found.vertex[keep]
        N = np.cross(x[F[:, 1]] - x[F[:, 0]], x[F[:, 2]] - x[F[:, 0]])
        length = np.linalg.norm(N, axis=1)
        good = length > 0.0
        return Pairs(
            np.column_stack([vertex, F])[good],
            np.column_stack([np.ones(len(w)), -w])[good],
            (N / np.where(good, length, 1.0)[:, None])[good],
            self.tet_body[found.tet[keep][good]],
        )

    def body_at(self, x: Array, point: Array) -> int:
        """The solid body that holds ``point (3,)``; -1 when none does."""
        P = np.asarray(point, dtype=np.float64)[None, :]
        start, order = hash_points(P, self._cell, self._mask)
        pairs, _ = points_in_tets(x, self.T, P, np.array([-1]), start, order, self._cell, self._mask, 1)
        return int(self.tet_body[pairs[0, 1]]) if len(pairs) else -1

    def detect_along(self, x: Array, ahead: Array) -> Pairs:
        """Pairs at x, and those that only appear at the predicted positions ``ahead``."""
        now, then = self.detect(x), self.detect(ahead)
        stride = self.tet_body.max(initial=0) + 1
        known = now.nodes[:, 0] * stride + now.body
        new = ~np.isin(then.nodes[:, 0] * stride + then.body, known)
        return Pairs(*(np.concatenate([getattr(now, k), getattr(then, k)[new]]) for k in vars(now)))


def touchable_vertices(mesh: Mesh) -> IntArray:
    """The vertices that can touch something: the surface of solids, every vertex of sheets and springs."""
    return np.unique(mesh.surface()) if mesh.kind == "tetrahedra" else np.arange(len(mesh.X))


def _shape(mesh: Mesh) -> tuple[bytes, bytes]:
    """The same for meshes that differ by a rigid motion: elements and relative edge lengths."""
    lengths = np.linalg.norm(mesh.X[mesh.T[:, 1:]] - mesh.X[mesh.T[:, :1]], axis=2)
    return mesh.T.tobytes(), np.round(lengths / lengths.mean(), 6).tobytes()


def _stacked(parts: list[IntArray], width: int) -> IntArray:
    return np.concatenate([*parts, np.zeros((0, width), dtype=np.int64)]).astype(np.int64)


def _rest_lists(mesh: Mesh) -> tuple[IntArray, IntArray]:
    """For every tet the surface triangles that can be nearest to a point inside it: CSR-like (start, triangles).

    With d0 the distance of the tet's middle to the surface and R its radius, they lie within d0 + 2 R of the middle.
    """
    F = mesh.surface()
    middle = mesh.X[mesh.T].mean(axis=1)
    radius = np.linalg.norm(mesh.X[mesh.T] - middle[:, None], axis=2).max(axis=1)
    depth = NearestTriangle(mesh.X, F).find(middle)[2]
    centre = mesh.X[F].mean(axis=1)
    reach = float(np.linalg.norm(mesh.X[F] - centre[:, None], axis=2).max())
    k = min(NEAREST, len(F))
    distance, index = cKDTree(centre).query(middle, k=k)
    distance, index = distance.reshape(-1, k), index.reshape(-1, k)
    near = distance <= (depth + 2.0 * radius + reach)[:, None]
    start = np.concatenate([[0], np.cumsum(near.sum(axis=1))]).astype(np.int64)
    return start, index[near].astype(np.int64)
