"""Central differences and comparisons: what all checks are made of."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array


def derivative(function: Callable[[Array], Any], x: Array, eps: float = 1e-6) -> Array:
    """(f(x + e) - f(x - e)) / 2 eps for every coordinate: (m, n) for vectors f (m,), (n,) for numbers."""
    columns = []
    for k in range(len(x)):
        e = np.zeros_like(x)
        e[k] = eps
        columns.append((np.asarray(function(x + e)) - np.asarray(function(x - e))) / (2.0 * eps))
    return np.array(columns).T if columns else np.zeros((len(np.asarray(function(x))), 0))


def along(function: Callable[[Array], Any], x: Array, direction: Array, eps: float = 1e-6) -> Array:
    """The derivative of a function of x along a direction."""
    return (np.asarray(function(x + eps * direction)) - np.asarray(function(x - eps * direction))) / (2.0 * eps)


def dense(A: Any) -> Array:
    """A matrix as an array."""
    return np.asarray(A.toarray() if sp.issparse(A) else A, dtype=np.float64)


def agree(what: str, found: Any, expected: Any, tolerance: float, *, floor: float = 1e-12) -> None:
    """Refuse what differs from what is expected by more than a part of its size (at least ``floor``)."""
    A, B = dense(found), dense(expected)
    assert A.shape == B.shape, f"{what}: shape {A.shape}, expected {B.shape}"
    if not A.size:
        return
    assert np.isfinite(A).all(), f"{what}: not finite"
    size = max(float(np.abs(B).max()), floor)
    error = float(np.abs(A - B).max())
    place = np.unravel_index(int(np.argmax(np.abs(A - B))), A.shape)
    assert error <= tolerance * size, (
        f"{what}: differs by {error / size:.2g} of its size, more than {tolerance:.2g}; "
        f"largest at {tuple(int(k) for k in place)}: {A[place]:.9g}, expected {B[place]:.9g}"
    )


def symmetric(what: str, A: Any, tolerance: float = 1e-12) -> None:
    """Refuse a matrix that is not."""
    agree(f"{what} is symmetric", dense(A), dense(A).T, tolerance)


def semidefinite(what: str, A: Any, sign: float = 1.0, tolerance: float = 1e-10) -> None:
    """Refuse a matrix whose symmetric part has an eigenvalue of the other sign (+1: none below 0, -1: none above)."""
    B = dense(A)
    if not B.size:
        return
    w = sign * np.linalg.eigvalsh(0.5 * (B + B.T))
    size = max(float(np.abs(w).max()), 1e-12)
    said = "positive" if sign > 0 else "negative"
    assert w.min() >= -tolerance * size, f"{what} is not {said} semidefinite: eigenvalue {sign * w.min():.3g}"


def same_bytes(what: str, a: Array, b: Array) -> None:
    """Refuse arrays that are not equal bit for bit."""
    assert a.shape == b.shape and a.dtype == b.dtype, f"{what}: {a.shape} {a.dtype} and {b.shape} {b.dtype}"
    assert a.tobytes() == b.tobytes(), f"{what}: differ by up to {float(np.abs(a - b).max()):.3g}"
