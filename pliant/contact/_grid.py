"""What the kernels of detection are given: points in a hashed grid, triangles with their sides, lists of triangles."""

from typing import NamedTuple

from pliant.arrays import Array, IntArray


class Grid(NamedTuple):
    """Points sorted into a hashed grid: bucket b holds the slots ``start[b]:start[b + 1]``.

    Of the point in each slot, ``vertex`` is its number in x, ``body`` whose it is; ``owner`` is the body of all points
    in a bucket (-1: several, -2: none).
    """

    points: Array
    vertex: IntArray
    body: IntArray
    start: IntArray
    owner: IntArray
    scale: float  # 1 / cell size
    mask: int


class Sides(NamedTuple):
    """Triangles F (k, 3) with normals N (k, 3); own (n, 3) are the normals that vertices have themselves.

    The first ``solids`` have one side, where N points; the others have two.
    """

    F: IntArray
    N: Array
    own: Array
    solids: int


class Lists(NamedTuple):
    """Lists of triangles: list i is ``flat[start[i]:start[i + 1]]``."""

    start: IntArray
    flat: IntArray


class Ways(NamedTuple):
    """Which triangles lead out: their normals ``outward (k, 3)``, and the points' own, ``away (p, 3)``."""

    outward: Array
    away: Array
