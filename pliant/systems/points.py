"""The points of several parts as a function of all their coordinates."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Remembered
from pliant.pattern import empty, side_by_side, taken
from pliant.systems.base import Part
from pliant.systems.joined import SideBySide


class PartPoints:
    """All points of the parts, or the chosen ``rows (p,)`` of them, as a function of all coordinates."""

    def __init__(self, parts: Sequence[Part], slices: Sequence[slice], rows: IntArray | None = None) -> None:
        self._parts, self._slices, self._rows = tuple(parts), tuple(slices), rows
        self.dofs = None if rows is None else (3 * rows[:, None] + np.arange(3)).ravel()
        self._ends = np.cumsum([0, *(3 * len(part.positions(part.rest)) for part in parts)])
        self._join, self.lift, self.jacobian = SideBySide(), Remembered(self._lift), Remembered(self._jacobian)

    def _lift(self, q: Array) -> Array:
        pairs = zip(self._parts, self._slices, strict=True)
        x = np.concatenate([part.positions(q[s]).ravel() for part, s in pairs])
        return x if self.dofs is None else x[self.dofs]

    def _jacobian(self, q: Array) -> sp.csr_matrix:
        pairs = zip(self._parts, self._slices, strict=True)
        J = self._join([part.point_jacobian(q[s]) for part, s in pairs])
        return J if self.dofs is None else taken(J, self.dofs, np.arange(J.shape[1]))

    def curvature(self, q: Array, g: Array) -> sp.csr_matrix:
        """d(J^T g)/dq for fixed forces g on the points, part by part."""
        full = g
        if self.dofs is not None:
            full = np.zeros(self._ends[-1])
            full[self.dofs] = g
        blocks = [
            part.curvature(q[s], full[a:b]) if full[a:b].any() else empty(s.stop - s.start, s.stop - s.start)
            for part, s, a, b in zip(self._parts, self._slices, self._ends[:-1], self._ends[1:], strict=True)
        ]
        return side_by_side(blocks)
