"""What the constraints of an articulated system did in a velocity step."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from pliant.arrays import Array
from pliant.articulated.constraints.rows import ConstraintRows, owners_of


@dataclass(frozen=True)
class Impulses:
    """Multipliers of the step per constraint: force = G^T impulse / h. Motors read their torque here.

    ``power`` [W] is what the constraints that prescribe a rate put in: force times rate, row by row.
    """

    owners: tuple[int, ...]  # positions in system.constraints, one per row
    values: Array  # (rows,)
    h: float
    power: float = 0.0

    @staticmethod
    def of(rows: Sequence[ConstraintRows], values: Array, h: float) -> "Impulses":
        """From the rows, equalities first, and their multipliers."""
        owners = tuple(owners_of(rows).tolist())
        rates = np.concatenate([np.zeros(0), *(0.0 * r.rate if r.inequality else r.rate for r in rows)])
        return Impulses(owners, values, h, float(rates @ values) / h)

    def force(self, constraint: int) -> Array:
        """Constraint forces [N or N m] of the rows of one constraint."""
        return self.values[np.array(self.owners, dtype=int) == constraint] / self.h


@lru_cache(maxsize=8)
def no_impulses(h: float) -> Impulses:
    """Of a step in which nothing restricted the motion."""
    return Impulses((), _NONE, h)


_NONE = np.zeros(0)
