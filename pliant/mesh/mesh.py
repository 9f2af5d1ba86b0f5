"""The constant geometry: rest positions and elements."""

from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array, IntArray


@dataclass(frozen=True)
class Mesh:
    """Rest positions ``X (n, 3)`` [m] and elements ``T (m, k)``: k = 4 tetrahedra, 3 triangles, 2 springs.

    Planar solids have ``X (n, 2)``. ``region (m,)`` numbers the parts of a mesh (layers, tendons, ...).
    """

    X: Array
    T: IntArray
    region: IntArray | None = None

    @property
    def dim(self) -> int:
        return self.X.shape[1]

    def where(self, predicate: object) -> IntArray:
        """Indices of the vertices for which ``predicate(X)`` (an (n,) boolean array) holds."""
        return np.flatnonzero(predicate(self.X))  # type: ignore[operator]
