"""Which points may be near which triangles or tets: found through a grid, and kept while nothing has moved far.

The distance of a point p to an element with corners c_k changes by no more than max_k |d_p - d_(c_k)|, where d are the
displacements of vertices. Where these differ by at most m since pairs within R were found, all pairs within R - m are
among them. So a list that reaches a little too far serves several steps [Verlet 1967], and what is read from it is the
same as from a new one.
"""

from math import dist
from typing import NamedTuple

from pliant.arrays import Array, IntArray
from pliant.contact._closest import candidates, hash_points
from pliant.contact._grid import Grid
from pliant.contact._reach import within_reach

SKIN = 0.25  # how much too far a list reaches, in mean edges
LASTING = 4  # steps that a list should serve: where things move faster, none is kept
ROUNDING = 1e-9  # of the skin: what is found within a reach is decided by distances, never by the boxes around elements


class WidePairs(NamedTuple):
    """The pairs (vertex, element) within ``reach`` of each other at the positions ``x (n, 3)``."""

    x: Array
    reach: float
    vertex: IntArray
    element: IntArray


class Nearby:
    """The pairs of ``vertices`` and ``elements (m, k)`` that are near each other: corners of triangles or tets.

    ``kin (v,)`` says whose the vertices are; element e leaves out those of ``shunned[e]``. The grid has ``mask + 1``
    buckets of cells that are 1/``scale`` wide, one and a half mean edges.
    """

    def __init__(
        self, elements: IntArray, shunned: IntArray, vertices: IntArray, kin: IntArray, scale: float, mask: int
    ) -> None:
        self._elements, self._shunned, self._vertices, self._kin = elements, shunned, vertices, kin
        self._scale, self._mask = scale, mask
        self._skin = SKIN / (1.5 * scale)
        self._kept: WidePairs | None = None
        self._last: Array | None = None

    def pairs(self, x: Array, reach: float) -> tuple[IntArray, IntArray]:
        """Vertices (c,) and elements (c,): all pairs within ``reach`` [m] at ``x (n, 3)``, and perhaps farther ones.

        Those of one vertex are in the order of elements.
        """
        kept, last = self._kept, self._last
        if kept is not None and reach + _spread(x - kept.x) <= kept.reach:
            return kept.vertex, kept.element
        self._last = x.copy()
        if last is None or not LASTING * _spread(x - last) <= self._skin:
            return self._boxed(x, reach + ROUNDING * self._skin)
        wide = reach + self._skin
        vertex, element = self._boxed(x, wide)
        near = within_reach(x, self._elements, vertex, element, wide)
        self._kept = WidePairs(self._last, (1.0 - ROUNDING) * wide, vertex[near], element[near])
        return self._kept.vertex, self._kept.element

    def _boxed(self, x: Array, reach: float) -> tuple[IntArray, IntArray]:
        """All pairs whose vertex is within ``reach`` of the box of the element."""
        grid = Grid(*hash_points(x[self._vertices], self._vertices, self._kin, self._scale, self._mask))
        slot, element = candidates(x, self._elements, self._shunned, grid, reach)
        return grid.vertex[slot], element


def _spread(d: Array) -> float:
    """How much displacements (n, 3) differ from each other at most [m]."""
    return dist(d.max(axis=0), d.min(axis=0)) if len(d) else 0.0
