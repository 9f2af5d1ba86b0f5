"""Pairs of vertices and triangles on the device: the CPU's detection, with a thread for every tet and triangle.

Points are sorted into the buckets of a hashed grid; every element looks through its cells, once to count what it finds,
once to write it down. Sorts are stable and sums have an order, so the same bytes come out every time.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from pliant.arrays import IntArray
from pliant.contact.pairs import PairDetector
from pliant.cuda import _detect_kernels as kernels
from pliant.cuda.device import arrays, launch, to_device
from pliant.cuda.translate import kernel


@dataclass(frozen=True, eq=False)
class DevicePairs:
    """`ClosePairs` on the device: ``nodes (4, c)``, ``side (c,)``, ``body (c,)`` of the triangle."""

    nodes: Any
    side: Any
    body: Any

    def __len__(self) -> int:
        return len(self.side)

    def plus(self, more: "DevicePairs") -> "DevicePairs":
        """These pairs, and those of ``more`` whose vertex does not meet the same body here already."""
        if not len(self) or not len(more):
            return self if len(self) else more
        xp = arrays()
        stride = int(max(self.body.max(), more.body.max())) + 1
        mine, theirs = (p.nodes[0] * stride + p.body for p in (self, more))
        new = xp.flatnonzero(~xp.isin(theirs, mine))
        return DevicePairs(
            xp.concatenate([self.nodes, more.nodes[:, new]], axis=1),
            xp.concatenate([self.side, more.side[new]]),
            xp.concatenate([self.body, more.body[new]]),
        )


class Buckets(NamedTuple):
    """Points in buckets: their numbers, whose they are, where buckets start, whose all points in a bucket are."""

    vertex: Any
    kin: Any
    start: Any
    owner: Any
    scale: float
    mask: int


@cache
def _kernel(name: str, meets: str = "") -> Any:
    """A kernel by its name; each compiles on its first launch in a process."""
    bound = {"meets": vars(kernels)[meets]} if meets else {}
    return kernel(vars(kernels)[name], **bound)


class DeviceDetector:
    """`PairDetector` on the device; positions are device arrays (n, 3)."""

    def __init__(self, host: PairDetector) -> None:
        tables = host.tables()
        self._scale, self._mask, self._solids = tables.scale, tables.mask, tables.solids
        self._bodies = int(host.body[-1]) + 1
        self.X, self.T, self.F = (to_device(a) for a in (host.X, host.T, host.F))
        self._lists = to_device(tables.lists.start), to_device(tables.lists.flat)
        self._shunned = tuple(to_device(a) for a in tables.shunned)
        self._body, self._tet_body, self._face_body = (to_device(a) for a in (host.body, host.tet_body, host.face_body))
        self._vertices, self._kin = to_device(host.vertices), to_device(tables.kin[host.body[host.vertices]])
        self._around = _around(host.F[: self._solids], len(host.X))

    def detect(self, x: Any) -> DevicePairs:
        """Every vertex inside a tet, with the deformed triangle through which it should leave."""
        xp = arrays()
        N, own = self._normals(x)
        vertex, tet = self._found("in_tet", x, self.T, self._shunned[0], N, own, 0.0)
        if not len(vertex):
            return self._nothing()
        first = self._firsts(vertex, self._tet_body[tet])
        vertex, tet = vertex[first], tet[first]
        triangle = xp.empty(len(vertex), dtype=np.int64)
        arguments = (x, self.X, self.T, self.F, *self._lists, N, own, vertex, tet, triangle)
        launch(_kernel("exit_pass"), len(vertex), arguments)
        keep = xp.flatnonzero((triangle >= 0) & (self.F[triangle] != vertex[:, None]).all(axis=1))
        return self._pairs(vertex[keep], triangle[keep], N, xp.ones(len(keep)))

    def near(self, x: Any, reach: float) -> DevicePairs:
        """Vertices outside, straight above a triangle within ``reach`` [m]: the nearest one per vertex and body."""
        xp = arrays()
        N, own = self._normals(x)
        vertex, triangle = self._found("above", x, self.F, self._shunned[1], N, own, reach)
        if not len(vertex):
            return self._nothing()
        apart, side = xp.empty(len(vertex)), xp.empty(len(vertex))
        arguments = (x, self.F, N, own, self._solids, reach, vertex, triangle, apart, side)
        launch(_kernel("side_pass"), len(vertex), arguments)
        order = xp.argsort(apart, kind="stable")
        chosen = order[self._firsts(vertex[order], self._face_body[triangle[order]])]
        return self._pairs(vertex[chosen], triangle[chosen], N, side[chosen])

    def apart(self, pairs: DevicePairs, thickness: Any) -> Any:
        """How far vertices (c,) [m] stay from their triangles, as `PairDetector.apart`."""
        apart, own = thickness.copy(), self._body[pairs.nodes[0]] == pairs.body
        launch(_kernel("apart_pass"), len(pairs), (self.X, pairs.nodes, own, apart))
        return apart

    def _nothing(self) -> DevicePairs:
        xp = arrays()
        return DevicePairs(xp.zeros((4, 0), dtype=np.int64), xp.zeros(0), xp.zeros(0, dtype=np.int64))

    def _pairs(self, vertex: Any, triangle: Any, N: Any, side: Any) -> DevicePairs:
        """Pairs on their sides, without those on triangles that have no normal."""
        xp = arrays()
        good = xp.flatnonzero((N[triangle] != 0.0).any(axis=1))
        vertex, triangle = vertex[good], triangle[good]
        return DevicePairs(xp.concatenate([vertex[None], self.F[triangle].T]), side[good], self._face_body[triangle])

    def _found(
        self, meets: str, x: Any, elements: Any, shunned: Any, N: Any, own: Any, reach: float
    ) -> tuple[Any, Any]:
        """Vertices (c,) and the elements (c,) that meet them, by element."""
        xp, m, grid = arrays(), len(elements), self._buckets(x)
        first, found = xp.zeros(m, dtype=np.int64), xp.empty((2, 1), dtype=np.int64)
        common = (x, elements, shunned, *grid, N, own, self._solids, reach)
        look = _kernel("box_pass", meets)
        launch(look, m, (*common, False, first, found))
        ends = xp.cumsum(first)
        total = int(ends[-1]) if m else 0
        found = xp.empty((2, total), dtype=np.int64)
        if total:
            launch(look, m, (*common, True, ends - first, found))
        return found[0], found[1]

    def _buckets(self, x: Any) -> Buckets:
        xp = arrays()
        key = xp.empty(len(self._vertices), dtype=np.int64)
        launch(_kernel("hash_pass"), len(key), (x, self._vertices, self._scale, self._mask, key))
        order = xp.argsort(key, kind="stable")
        start = xp.searchsorted(key[order], xp.arange(self._mask + 2))
        owner, kin = xp.empty(self._mask + 1, dtype=np.int64), self._kin[order]
        launch(_kernel("owner_pass"), len(owner), (start, kin, owner))
        return Buckets(self._vertices[order], kin, start, owner, self._scale, self._mask)

    def _normals(self, x: Any) -> tuple[Any, Any]:
        """Area normals of all triangles, and their sums at the vertices of solids."""
        N, own = arrays().empty((len(self.F), 3)), arrays().empty((len(x), 3))
        launch(_kernel("normal_pass"), len(N), (x, self.F, N))
        launch(_kernel("vertex_pass"), len(own), (N, *self._around, own))
        return N, own

    def _firsts(self, vertex: Any, body: Any) -> Any:
        """The first of every combination of vertex and body met."""
        xp = arrays()
        key = vertex * self._bodies + body
        order = xp.argsort(key, kind="stable")
        key = key[order]
        new = xp.ones(len(key), dtype=bool)
        new[1:] = key[1:] != key[:-1]
        return order[new]


def _around(F: IntArray, n: int) -> tuple[Any, Any]:
    """(ptr, off): off[ptr[i]:ptr[i + 1]] are the triangles of vertex i, ascending."""
    order = np.argsort(F.ravel(), kind="stable")
    ptr = np.searchsorted(F.ravel()[order], np.arange(n + 1))
    return to_device(ptr.astype(np.int64)), to_device(order // 3)
