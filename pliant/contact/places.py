"""Where bodies touch obstacles: at their vertices, rigid ones also within triangles that are larger than an obstacle.

A face that is larger than a ball would let it through between its vertices. So points of such faces touch, too: sums
over the vertices of their triangle, whose weights carry the forces to them. Where a triangle faces something flat its
corners say all, and a point counts only where it is nearer than they foretell.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Contacts
from pliant.contact.obstacles import Obstacle
from pliant.contact.pose import Pose
from pliant.mesh.measures import edge_lengths, measures
from pliant.mesh.mesh import Mesh
from pliant.mesh.subdivide import subdivided

MOST = 20_000  # points within the triangles of a body
FLAT = 1e-9  # of the largest distance: what corners foretell that well is flat


@dataclass(frozen=True, eq=False)
class SkinPoints:
    """Points ``sum_r weights_r x[nodes_r]`` of bodies, both (p, 4): single vertices, then those within triangles.

    ``corners (s, 3)`` are the rows of the vertices of these triangles, ``size (s,)`` [m] how far the first is away at
    most. ``spacing`` [m] is how far the points in them are apart, inf where there are none; ``rough`` says where that
    lets an obstacle pass.
    """

    nodes: IntArray
    weights: Array
    corners: IntArray
    size: Array
    spacing: float = np.inf
    rough: str = ""

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def first(self) -> IntArray:
        """A vertex of the body (p,) of every point."""
        return np.ascontiguousarray(self.nodes[:, 0])

    @property
    def alone(self) -> int:
        """How many are single vertices: the first ones."""
        return len(self.nodes) - len(self.corners)

    def at(self, x: Array, which: IntArray | None = None) -> Array:
        """Where they are, or those of ``which`` (ascending), when the vertices are at ``x (n, 3)``: (p, 3)."""
        which = np.arange(len(self)) if which is None else which
        alone, within = np.split(which, [int(np.searchsorted(which, self.alone))])
        return np.concatenate(
            [x[self.first[alone]], (self.weights[within, :3, None] * x[self.nodes[within, :3]]).sum(1)]
        )

    def telling(self, obstacle: Obstacle, pose: Pose, x: Array, reach: Array | float) -> IntArray:
        """Those that may touch an obstacle at ``pose``: vertices, and others nearer to it than their corners foretell.

        Of the latter only those that are closer than ``reach`` [m], one or (p,).
        """
        alone = np.arange(self.alone)
        if not len(self.corners):
            return alone
        g = obstacle.distance(pose.local(x[self.first[: self.alone]]))[0]
        reach = np.broadcast_to(reach, len(self))[self.alone :]
        near = np.flatnonzero(g[self.corners[:, 0]] < reach + self.size)  # distances change no faster than places
        told = (self.weights[self.alone + near, :3] * g[self.corners[near]]).sum(axis=1)
        own = obstacle.distance(pose.local(self.at(x, self.alone + near)))[0]
        slack = FLAT * float(np.abs(g).max(initial=0.0))
        return np.concatenate([alone, self.alone + near[own < told - slack]])

    def contacts(
        self, which: IntArray, normals: Array, gaps: Array, drift: Array, bend: Array | None, other: int | IntArray
    ) -> Contacts:
        """The contacts (c,) of some of them with obstacles."""
        c = len(which)
        flat = np.zeros((c, 3, 3)) if bend is None else bend
        owner, frame = np.broadcast_to(other, c).copy(), np.full((c, 3), -1)
        return Contacts(self.nodes[which], self.weights[which], normals, gaps, drift, flat, owner, frame)


def vertices(skin: IntArray) -> SkinPoints:
    """The vertices ``skin`` alone."""
    weights = np.tile([1.0, 0.0, 0.0, 0.0], (len(skin), 1))
    return SkinPoints(np.repeat(skin[:, None], 4, axis=1), weights, np.zeros((0, 3), dtype=np.int64), np.zeros(0))


def places(
    meshes: Sequence[Mesh | None], names: Sequence[str], starts: IntArray, skin: IntArray, obstacles: Sequence[Obstacle]
) -> SkinPoints:
    """Of bodies whose vertices begin at ``starts``: those of the ``skin``, and points within triangles too large.

    They are so where a body has an edge longer than the thinnest obstacle is thick; containers meet no middle of a
    face. The points are half of that thickness apart. Bodies that are None have none.
    """
    single, bodies = vertices(skin), [o for o in obstacles if not o.container]
    sizes = [(*breadths(o.surface()[0]), o.name) for o in bodies]
    least = min((size for size, _, _ in sizes), default=np.inf)
    across, name = min(((size, name) for _, size, name in sizes), default=(np.inf, ""))
    found, spacing, rough = [], np.inf, ""
    cuts: dict[tuple[bytes, bytes], tuple[IntArray, Array]] = {}
    for mesh, own, start in zip(meshes, names, starts, strict=False):
        longest = _longest(mesh)
        if mesh is None or longest <= least:
            continue
        F = mesh.surface()
        apart = max(0.5 * least, float(np.sqrt(8.0 * measures(mesh.X, F).sum() / MOST)))  # each has apart^2/8 or more
        alike = F.tobytes(), np.round(edge_lengths(mesh.X, F) / apart, 6).tobytes()
        if alike not in cuts:
            cuts[alike] = _within(subdivided(mesh.X, F, apart)[0])
        nodes, weights = cuts[alike]
        found.append((nodes + start, weights, np.full(len(nodes), longest)))
        spacing = min(spacing, apart)
        if apart > across:
            rough = _missed(own, longest, name, across)
    if not found:
        return single
    nodes, weights, size = (np.concatenate(parts) for parts in zip(*found, strict=True))
    row = np.zeros(int(skin.max()) + 1, dtype=np.int64)
    row[skin] = np.arange(len(skin))
    both = np.concatenate([single.nodes, nodes]), np.concatenate([single.weights, weights])
    return SkinPoints(*both, row[nodes[:, :3]], size, spacing, rough)


def _within(S: sp.csr_matrix) -> tuple[IntArray, Array]:
    """Nodes and weights (s, 4) of the vertices that are not the first ones: S has at most three weights in a row."""
    S = S[S.shape[1] :]
    row = np.repeat(np.arange(S.shape[0]), np.diff(S.indptr))
    slot = np.arange(S.nnz) - S.indptr[row]
    nodes = np.repeat(S.indices[S.indptr[:-1], None], 4, axis=1).astype(np.int64)
    weights = np.zeros(nodes.shape)
    nodes[row, slot], weights[row, slot] = S.indices, S.data
    return nodes, weights


def too_coarse(meshes: Sequence[Mesh | None], names: Sequence[str], obstacles: Sequence[Obstacle]) -> str:
    """Says which body has triangles that an obstacle fits through, if there is one; those that are None have none."""
    longest, own = max(((_longest(m), n) for m, n in zip(meshes, names, strict=True)), default=(0.0, ""))
    small = [(breadths(o.surface()[0])[1], o.name) for o in obstacles if not o.container]
    least, name = min(small, default=(np.inf, ""))
    return _missed(own, longest, name, least) if longest > least else ""


def _missed(body: str, longest: float, obstacle: str, least: float) -> str:
    return f"body {body!r} has edges of {longest:.3g} m, obstacle {obstacle!r} is {least:.3g} m thick"


def _longest(mesh: Mesh | None) -> float:
    """The longest edge [m] of a surface."""
    return 0.0 if mesh is None else float(edge_lengths(mesh.X, mesh.surface()).max())


def breadths(X: Array) -> tuple[float, float]:
    """The least width [m] of a body with the vertices X, and the least at right angles to it; inf without vertices."""
    if not len(X):
        return float("inf"), float("inf")
    least, n = _width(X)
    return least, _width(X @ np.linalg.svd(n[None])[2][1:].T)[0]


def _width(X: Array) -> tuple[float, Array]:
    """The least width of a convex hull between a face and what is opposite, and its direction."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(X)
    widths = -(X[hull.vertices] @ hull.equations[:, :-1].T + hull.equations[:, -1]).min(axis=0)
    thinnest = int(np.argmin(widths))
    return float(widths[thinnest]), hull.equations[thinnest, :-1]
