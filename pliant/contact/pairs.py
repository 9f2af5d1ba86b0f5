"""Contact between soft bodies and of a body with itself: vertices inside tetrahedra, pushed to the surface.

A vertex inside a tet it does not belong to is mapped by its barycentric weights to the rest shape; the rest surface
point nearest to that place, carried along by its triangle, is where it should leave.
[Weidner2022, sec. 5.4, after McAdams 2011]
Only triangles that face the vertex of a solid (their normal against its own) are ways out: near an edge the nearest
triangle may be one of the side, and a block standing on another would be pushed off it. Sheets leave by the nearest.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray
from pliant.contact._closest import above_triangles, candidates, hash_points, inside_tets, nearest_of_lists, normals
from pliant.contact._formula_kernels import plane_frames
from pliant.contact._grid import Grid, Lists, Sides, Ways
from pliant.contact.contacts import Contacts
from pliant.contact.nearby import Nearby
from pliant.mesh.mesh import Mesh

NOBODY = -3  # in place of a body whose points are left out
PLACES = 64  # on the ways of vertices that are looked at
NEAREST = 64  # triangles kept per tet: for tets near the surface they hold the nearest ones of every point inside


@dataclass(frozen=True, eq=False)
class Hits:
    """Vertices found inside tets: ``vertex (c,)``, ``tet (c,)``, ``weights (c, 4)`` of the place within the tet."""

    vertex: IntArray
    tet: IntArray
    weights: Array


@dataclass(frozen=True, eq=False)
class ClosePairs:
    """Vertices and the planes of the triangles they were found at, which turn with these."""

    nodes: IntArray  # (c, 4): vertex, triangle
    side: Array  # (c,): 1 where e_1 x e_2 points to the vertex's side, else -1
    body: IntArray  # (c,) of the triangle

    def contacts(self, x: Array, thickness: float | Array = 0.0) -> Contacts:
        """The pairs with their gaps beyond ``thickness``, one for all or (c,), at positions ``x (n, 3)``."""
        c = len(self.body)
        normals, w, gaps = plane_frames(x, self.nodes, self.side)
        weights = np.column_stack([np.ones(c), -w])
        still, flat = np.zeros((c, 3)), np.zeros((c, 3, 3))
        return Contacts(self.nodes, weights, normals, gaps - thickness, still, flat, self.body, self.nodes[:, 1:])

    def plus(self, more: "ClosePairs") -> "ClosePairs":
        """These pairs, and those of ``more`` whose vertex does not meet the same body here already."""
        if not len(self.body) or not len(more.body):
            return self if len(self.body) else more
        stride = max(self.body.max(initial=0), more.body.max(initial=0)) + 1
        new = ~np.isin(more.nodes[:, 0] * stride + more.body, self.nodes[:, 0] * stride + self.body)
        return ClosePairs(*(np.concatenate([getattr(self, k), getattr(more, k)[new]]) for k in vars(self)))


def no_pairs() -> ClosePairs:
    """Nothing is near."""
    return ClosePairs(np.zeros((0, 4), dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64))


class Tables(NamedTuple):
    """``scale`` and ``mask`` of the grid; the first ``solids`` triangles are of solids; ``kin (b,)``, who never touches
    whom; ``shunned``, whose points tets and triangles leave out; ``lists`` of the triangles near every tet at rest.
    """

    scale: float
    mask: int
    solids: int
    kin: IntArray
    shunned: tuple[IntArray, IntArray]
    lists: Lists


class PairDetector:
    """Finds the pairs of bodies ``meshes`` whose vertices start at ``offsets`` of the scene's numbering."""

    def __init__(
        self,
        meshes: Sequence[Mesh],
        offsets: IntArray,
        *,
        group: IntArray | None = None,
        apart: IntArray | None = None,
        self_contact: bool = True,
    ) -> None:
        self.X = np.concatenate([m.X for m in meshes])
        self.body = np.repeat(np.arange(len(meshes)), np.diff(offsets))
        solid = [(b, m) for b, m in enumerate(meshes) if m.kind == "tetrahedra"]
        sheets = [(b, m) for b, m in enumerate(meshes) if m.kind == "triangles"]
        self.T = _stacked([m.T + offsets[b] for b, m in solid], 4)
        self.tet_body = np.repeat([b for b, _ in solid], [len(m.T) for _, m in solid]).astype(np.int64)
        surfaces = [m.surface() + offsets[b] for b, m in solid]
        self._solids = sum(len(F) for F in surfaces)
        self.F = _stacked([*surfaces, *(m.T + offsets[b] for b, m in sheets)], 3)  # outward sides first, then sheets
        self.face_body = self.body[self.F[:, 0]]
        group = -1 - np.arange(len(meshes)) if group is None else group
        self._kin = np.where(group >= 0, len(meshes) + group, np.arange(len(meshes)))  # who never touches whom
        self._apart = np.zeros(0, int) if apart is None else apart @ (len(meshes), 1)  # as single numbers
        alone = group >= 0 if self_contact else np.ones(len(meshes), dtype=bool)
        tets, faces = (np.where(alone[b], self._kin[b], NOBODY) for b in (self.tet_body, self.face_body))
        self._shunned = tets, faces
        self._lists = _joined_lists([m for _, m in solid], [len(F) for F in surfaces])
        self.vertices = np.concatenate([touchable_vertices(m) + o for m, o in zip(meshes, offsets, strict=False)])
        edge = self.X[self.F[:, 1]] - self.X[self.F[:, 0]]
        self._scale = 1.0 / (1.5 * float(np.linalg.norm(edge, axis=1).mean())) if len(self.F) else 1.0
        self._mask = (1 << max(8, int(2 * len(self.vertices)).bit_length())) - 1
        where = self.vertices, self._kin[self.body[self.vertices]], self._scale, self._mask
        self._tets, self._faces = Nearby(self.T, tets, *where), Nearby(self.F, faces, *where)

    def tables(self) -> "Tables":
        """What detection elsewhere needs besides."""
        return Tables(self._scale, self._mask, self._solids, self._kin, self._shunned, self._lists)

    def hits(self, x: Array) -> Hits:
        """All vertices inside foreign tets at positions ``x (n, 3)``; one tet per vertex and body."""
        vertex, tet = self._tets.pairs(x, 0.0)
        inside, weights = inside_tets(x, self.T, x, vertex, tet)
        vertex, tet, weights = vertex[inside], tet[inside], weights[inside]
        if len(self._apart):
            may = self._may(vertex, self.tet_body[tet])
            vertex, tet, weights = vertex[may], tet[may], weights[may]
        first = self._firsts(vertex, self.tet_body[tet])
        return Hits(vertex[first], tet[first], weights[first])

    def _may(self, vertex: IntArray, body: IntArray) -> NDArray[np.bool_]:
        """Whether vertices may touch the bodies they are at."""
        return ~np.isin(self.body[vertex] * (self.body[-1] + 1) + body, self._apart)

    def _firsts(self, vertex: IntArray, body: IntArray) -> IntArray:
        """The first of every combination of vertex and body met."""
        return np.unique(vertex * (self.body[-1] + 1) + body, return_index=True)[1]

    def detect(self, x: Array) -> ClosePairs:
        """Every hit as a pair with the deformed triangle through which it should leave."""
        found = self.hits(x)
        if not len(found.vertex):
            return no_pairs()
        rest = np.einsum("ck,ckd->cd", found.weights, self.X[self.T[found.tet]])
        N, own = self._normals(x)
        ways = Ways(N, own[found.vertex])
        triangle, _, _, _ = nearest_of_lists(rest, self.X, self.F, self._lists, found.tet, ways)
        F = self.F[triangle]
        keep = (triangle >= 0) & (found.vertex[:, None] != F).all(axis=1)  # its own triangle is no contact
        return self._pairs(found.vertex[keep], triangle[keep], N, np.ones(int(keep.sum())))

    def apart(self, pairs: ClosePairs, thickness: Array) -> Array:
        """How far vertices (c,) [m] stay from their triangles: ``thickness (c,)``, in one body no more than at rest.

        So the two sides of a cut in a sheet, which lie on each other, do not push each other away.
        """
        own = np.flatnonzero((self.body[pairs.nodes[:, 0]] == pairs.body) & (thickness > 0.0))
        if not len(own):
            return thickness
        apart = thickness.copy()
        apart[own] = np.minimum(apart[own], self.rest_distance(pairs.nodes[own]))
        return apart

    def rest_distance(self, nodes: IntArray) -> Array:
        """How far vertices ``nodes[:, 0]`` are from triangles ``nodes[:, 1:]`` in the rest shape (c,) [m]."""
        each = np.arange(len(nodes))
        lists = Lists(np.arange(len(nodes) + 1), each)
        _, _, d2, _ = nearest_of_lists(self.X[nodes[:, 0]], self.X, nodes[:, 1:], lists, each, None)
        return np.sqrt(d2)

    def near(self, x: Array, reach: float) -> ClosePairs:
        """Vertices outside, straight above a triangle within ``reach`` [m]: the nearest one per vertex and body.

        Sheets have two sides; the one where the vertex is counts.
        """
        vertex, triangle = self._faces.pairs(x, reach)
        if not len(vertex):
            return no_pairs()
        N, own = self._normals(x)
        above, w = above_triangles(x, Sides(self.F, N, own, self._solids), reach, vertex, triangle)
        vertex, triangle, w = vertex[above], triangle[above], w[above]
        if len(self._apart):
            may = self._may(vertex, self.face_body[triangle])
            vertex, triangle, w = vertex[may], triangle[may], w[may]
        y = x[vertex] - np.einsum("ck,ckd->cd", w, x[self.F[triangle]])
        order = np.argsort((y * y).sum(axis=1), kind="stable")
        chosen = order[self._firsts(vertex[order], self.face_body[triangle[order]])]
        side = np.where((y * N[triangle]).sum(axis=1) < 0.0, -1.0, 1.0)
        return self._pairs(vertex[chosen], triangle[chosen], N, side[chosen])

    def _normals(self, x: Array) -> tuple[Array, Array]:
        """Those of all triangles (k, 3), and at the vertices (n, 3): 0 on sheets, which may be met from either side."""
        N, own = normals(x, self.F[: self._solids])
        return np.concatenate([N, normals(x, self.F[self._solids :])[0]]), own

    def _pairs(self, vertex: IntArray, triangle: IntArray, N: Array, side: Array) -> ClosePairs:
        """Pairs on their sides, without those on triangles that have no normal in ``N (k, 3)``."""
        good = N[triangle].any(axis=1)
        vertex, triangle = vertex[good], triangle[good]
        return ClosePairs(np.column_stack([vertex, self.F[triangle]]), side[good], self.face_body[triangle])

    def body_at(self, x: Array, point: Array) -> int:
        """The solid body that holds ``point (3,)``; -1 when none does."""
        P, nobody = np.asarray(point, dtype=np.float64)[None, :], np.array([-1])
        grid = Grid(*hash_points(P, nobody, np.array([0]), self._scale, self._mask))
        slot, tet = candidates(x, self.T, np.full_like(self.tet_body, NOBODY), grid, 0.0)
        holding = tet[inside_tets(x, self.T, grid.points, slot, tet)[0]]
        return int(self.tet_body[holding[0]]) if len(holding) else -1

    def detect_along(self, x: Array, way: Array, *, slack: float, thickness: float, margin: float) -> ClosePairs:
        """Pairs at x, those near enough to meet, and those found where vertices would be after the ``way (n, 3)`` [m].

        A body that stops another one is met by the next in the same step, which velocities do not foretell: it takes
        the near ones to see that coming. They are looked for as far as the longest way and ``slack`` [m], what
        accelerations may add to it, but not beyond ``margin`` [m]; that should be shorter than the triangles, above
        which vertices must stay. Longer ways are looked at in several places, so that nothing thicker than a triangle
        is passed. All distances are those beyond the ``thickness``.
        """
        return detected_along(self, x, way, slack=slack, thickness=thickness, margin=margin)


def detected_along(detector: Any, x: Any, way: Any, *, slack: float, thickness: float, margin: float) -> Any:
    """`PairDetector.detect_along` for anything that can `detect` and see what is `near`."""
    far = _longest(way) + slack
    found = detector.detect(x).plus(detector.near(x, thickness + min(far, margin)))
    if far <= margin:
        return found
    apart = _longest(way - way.mean(axis=0))
    for s in np.linspace(0.0, 1.0, min(int(apart / margin) + 2, PLACES + 1))[1:].tolist():
        found = found.plus(detector.detect(x + s * way))
    return found


def _longest(ways: Any) -> float:
    """The length of the longest of vectors (n, 3)."""
    return float((ways * ways).sum(axis=1).max()) ** 0.5 if len(ways) else 0.0


def touchable_vertices(mesh: Mesh) -> IntArray:
    """The vertices that can touch something: the surface of solids, every vertex of sheets and springs."""
    return np.unique(mesh.surface()) if mesh.kind == "tetrahedra" else np.arange(len(mesh.X))


def _shape(mesh: Mesh) -> tuple[bytes, bytes]:
    """The same for meshes that differ by a rigid motion: elements and relative edge lengths."""
    lengths = np.linalg.norm(mesh.X[mesh.T[:, 1:]] - mesh.X[mesh.T[:, :1]], axis=2)
    return mesh.T.tobytes(), np.round(lengths / lengths.mean(), 6).tobytes()


def _stacked(parts: list[IntArray], width: int) -> IntArray:
    return np.concatenate([*parts, np.zeros((0, width), dtype=np.int64)]).astype(np.int64)


def _joined_lists(meshes: list[Mesh], faces: list[int]) -> Lists:
    """`_rest_lists` of all solids together; bodies of the same shape share the work."""
    pieces = {_shape(m): m for m in reversed(meshes)}
    nearest = {shape: _rest_lists(m) for shape, m in pieces.items()}
    lists, starts, first = [np.zeros(0, np.int64)], [np.zeros(1, np.int64)], 0
    for m, count in zip(meshes, faces, strict=True):
        start, flat = nearest[_shape(m)]
        lists.append(flat + first)
        starts.append(start[1:] + starts[-1][-1])
        first += count
    return Lists(np.concatenate(starts), np.concatenate(lists).astype(np.int64))


def _rest_lists(mesh: Mesh) -> tuple[IntArray, IntArray]:
    """For every tet the surface triangles nearest to its middle in the rest shape: starts and triangles of `Lists`."""
    from scipy.spatial import cKDTree

    center = mesh.X[mesh.surface()].mean(axis=1)
    k = min(NEAREST, len(center))
    index = cKDTree(center).query(mesh.X[mesh.T].mean(axis=1), k=k)[1].reshape(-1)
    return k * np.arange(len(mesh.T) + 1, dtype=np.int64), index.astype(np.int64)
