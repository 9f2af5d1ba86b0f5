"""A hand that pulls at a point of the material, whatever the mesh does there."""

from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array
from pliant.cloth._conform import locate
from pliant.cloth.sheet import Sheet
from pliant.kernels.bind import entry


@dataclass(frozen=True, eq=False)
class Grip:
    """A spring ``k`` [N/m] of zero length from the material point ``X (2,)`` to ``target (3,)`` [m]."""

    X: Array
    target: Array
    k: float

    def held(self, sheet: Sheet) -> tuple[int, Array, Array]:
        """The face that holds the point, its weights (3,) there, and where it is (3,)."""
        face, weights = entry(locate)(sheet.X, sheet.faces, len(sheet.faces), self.X)
        return face, weights, np.asarray(weights @ sheet.x[sheet.faces[face]])

    def energy(self, sheet: Sheet) -> float:
        return 0.5 * self.k * float(np.sum((self.held(sheet)[2] - self.target) ** 2))
