"""Vectors as three components, each a number or an array of numbers: formulas for the CPU and for a GPU alike.

Formulas are plain functions of such components. NumPy evaluates them on all contacts at once; `pliant.cuda.translate`
compiles the same source for one contact. So they choose by `where` and know no other branches.
"""

from typing import Any

import numpy as np
from numpy import sqrt

from pliant.arrays import Array

Vector = tuple[Any, Any, Any]


def dot(a: Vector, b: Vector) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def minus(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scaled(s: Any, a: Vector) -> Vector:
    return s * a[0], s * a[1], s * a[2]


def cross(a: Vector, b: Vector) -> Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def length(a: Vector) -> Any:
    return sqrt(dot(a, a))


def components(x: Array) -> Vector:
    """Of vectors (..., 3)."""
    return x[..., 0], x[..., 1], x[..., 2]


def stacked(a: Vector, shape: tuple[int, ...]) -> Array:
    """Vectors (..., 3) of components that may be the same for all."""
    out = np.empty((*shape, 3))
    out[..., 0], out[..., 1], out[..., 2] = a
    return out
