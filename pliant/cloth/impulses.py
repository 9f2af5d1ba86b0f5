"""Impulses of contact rows as the guess for the next step."""

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.cloth.constraints import PUSHES, Pushes, RowBuilder


def remembered_impulses(z: Array, pushes: Pushes, n: int) -> Array:
    """Impulses of the first PUSHES rows of each vertex (n, PUSHES), -1 where there was no row: the memory of a step."""
    pressed = np.full((n, PUSHES), -1.0)
    pressed[pushes.vertex, pushes.ordinals] = z
    return pressed


def expected_impulses(memory: Array | None, origin: IntArray, bound: RowBuilder) -> Array | None:
    """The impulses of the last step at the same vertices; rows that are new press when their bound is touched."""
    if memory is None:
        return None
    before = origin[bound.pushes.vertex]
    kept = np.where(before >= 0, memory[before, bound.pushes.ordinals], -1.0)
    return np.where(kept >= 0, kept, np.where(bound.right > -1e-6, 1.0, 0.0))
