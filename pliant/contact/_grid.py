"""What the kernels of detection are given: points in a hashed grid, triangles with their sides."""

from typing import NamedTuple

from pliant.arrays import Array, IntArray


class Grid(NamedTuple):
    """Points sorted into a hashed grid: bucket b holds ``points[start[b]:start[b + 1]]``.

    ``order`` are the points' numbers before sorting, ``vertex`` their numbers in x, ``body`` whose they are, ``owner``
    the body of all points in a bucket (-1: several).
    """

    points: Array
    order: IntArray
    vertex: IntArray
    body: IntArray
    start: IntArray
    owner: IntArray
    scale: float  # 1 / cell size
    mask: int


class Sides(NamedTuple):
    """Triangles F (k, 3) with normals N (k, 3), the body of each, and own (n, 3), the normals vertices have themselves.

    The first ``solids`` have one side, where N points; the others have two.
    """

    F: IntArray
    N: Array
    body: IntArray
    own: Array
    solids: int
