"""The axis parameter that several joints share."""

import numpy as np

from pliant.arrays import Array, unit
from pliant.errors import SceneError, require_numbers


def unit_axis(axis: object, where: str) -> Array:
    """``axis`` (..., 3) as unit vectors; a zero axis is refused."""
    a = require_numbers(axis, where, "give three numbers, not all zero")
    if a.shape[-1:] != (3,) or not np.all(np.isfinite(a)) or np.any(np.linalg.norm(a, axis=-1) < 1e-12):
        raise SceneError(
            f"joint axis {np.round(a, 6).tolist()} is not a direction",
            where=where,
            remedy="give three numbers, not all zero",
        )
    return unit(a)
