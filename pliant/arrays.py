"""The array types that cross every public boundary. Floats are float64, indices int64, units SI."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
IndexArray = NDArray[np.signedinteger]  # row pointers and columns of sparse matrices: 32 or 64 bit


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
