"""The array types that cross every public boundary. Floats are float64, indices int64, units SI."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.errors import SceneError

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
IndexArray = NDArray[np.signedinteger]  # row pointers and columns of sparse matrices: 32 or 64 bit

# The C library gives large blocks back to the system as soon as they are freed, and to touch new ones takes a tenth of
# a step of a few thousand elements. It keeps blocks up to the size of the largest one that it has seen freed, 32 MB.
np.empty(4_000_000)


class Work:
    """Memory for a work array of ``size`` values, kept for the next use: for arrays beyond those 32 MB.

    Two that work at the same time get an array each, and one of them is kept. Copies and pickles have none.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._spare: list[Array] = []

    @contextmanager
    def lent(self) -> Iterator[Array]:
        """An array (size,) with any values, for the time of a ``with`` block."""
        try:
            array = self._spare.pop()
        except IndexError:
            array = np.empty(self.size)
        yield array
        self._spare[:] = [array]

    def __reduce__(self) -> tuple[type["Work"], tuple[int]]:
        return Work, (self.size,)


def indices(given: object, where: str) -> tuple[IntArray, int | None]:
    """Numbers of vertices or elements; given as such, or by a mask, whose length is returned as well."""
    name = where.rsplit(".", 1)[-1]
    try:
        values: NDArray[Any] = np.asarray(given)
    except ValueError:  # rows of different lengths
        values = np.array([np.nan])
    if values.dtype == bool and values.ndim == 1:
        return np.flatnonzero(values), len(values)
    if values.size and values.dtype.kind not in "iu":
        remedy = f"give numbers of {name}, or a mask over all of them"
        raise SceneError(f"{name} are {given!r}", where=where, remedy=remedy)
    return values.astype(np.int64).ravel(), None


def require_among(numbers: IntArray, mask: int | None, count: int, where: str, thing: str = "vertex") -> None:
    """Refuse numbers that are not among ``count`` things, and a mask over another number of them."""
    if mask not in (None, count):
        raise SceneError(f"a mask over {mask}", where=where, remedy=f"there are {count}: give one boolean for each")
    bad = numbers[(numbers < 0) | (numbers >= count)]
    if len(bad):
        remedy = f"use 0..{count - 1}" if count else "there is none"
        raise SceneError(f"{thing} {bad[0]} does not exist", where=where, remedy=remedy)


def unit(a: Array) -> Array:
    """Vectors (..., 3) divided by their lengths; what has length 1 up to rounding stays as it is.

    So a direction that is written to a file and read again is the same to the last bit.
    """
    length = np.linalg.norm(a, axis=-1, keepdims=True)
    return np.asarray(np.where(abs(length - 1.0) <= 4.0 * np.finfo(np.float64).eps, a, a / length))


def cross(a: Array, b: Array) -> Array:
    """a x b for vectors (..., 3) that broadcast, like `numpy.cross` without its search for axes."""
    out = np.empty(np.broadcast_shapes(a.shape, b.shape), dtype=np.result_type(a, b))
    a0, a1, a2 = a[..., 0], a[..., 1], a[..., 2]
    b0, b1, b2 = b[..., 0], b[..., 1], b[..., 2]
    out[..., 0], out[..., 1], out[..., 2] = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    return out
