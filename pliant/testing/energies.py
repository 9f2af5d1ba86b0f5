"""Checks of energies: derivatives, the projection, and what an internal energy may not notice."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.energies.base import Internal, Limiting, Pairing
from pliant.testing.differences import agree, dense, derivative, semidefinite, symmetric
from pliant.testing.materials import rotations


def check_energy(
    energy: Any, x: Array, *, eps: float = 1e-6, tolerance: float = 1e-6, changing: bool = False, dim: int = 3
) -> None:
    """An energy at the coordinates ``x``: gradient, Hessian, projection, rotations where it is `Internal`.

    ``changing`` says that the pattern of its Hessian may change with x, as that of contacts does. The size of a step
    of the differences is ``eps``; ``tolerance`` is relative.
    """
    kept = x.copy()
    name = f"{type(energy).__name__} {energy.name!r}"
    g, H = energy.gradient(x), energy.hessian(x)
    agree(f"{name}: gradient", g, derivative(energy.value, x, eps), tolerance, floor=1e-9)
    agree(f"{name}: Hessian", H, derivative(energy.gradient, x, eps), tolerance, floor=1e-9)
    symmetric(f"{name}: Hessian", H)
    P = energy.hessian(x, psd=True)
    semidefinite(f"{name}: Hessian with psd=True", P)
    least = float(np.linalg.eigvalsh(dense(H)).min())
    if least >= 0.0:  # then nothing is to be projected, up to blocks whose sum is definite though they are not
        semidefinite(f"{name}: projected minus exact Hessian", dense(P) - dense(H), tolerance=1e-9)
    _check_pattern(name, energy, x, changing)
    if isinstance(energy, Internal) and energy.internal:
        check_frame_indifference(energy, x, dim=dim)
    if isinstance(energy, Pairing):
        semidefinite(f"{name}: persistent Hessian", energy.persistent_hessian(x, psd=True))
    assert np.array_equal(x, kept), f"{name} changes the coordinates it is given"


def _check_pattern(name: str, energy: Any, x: Array, changing: bool) -> None:
    """CSR, sorted, and the same index arrays at every call where the pattern does not change."""
    A, B = energy.hessian(x), energy.hessian(x + 1e-9)
    assert isinstance(A, sp.csr_matrix), f"{name}: the Hessian is a {type(A).__name__}, not a csr_matrix"
    ordered = all(np.all(np.diff(A.indices[a:b]) > 0) for a, b in zip(A.indptr[:-1], A.indptr[1:], strict=True))
    assert ordered, f"{name}: the indices of the Hessian are not sorted, or occur twice"
    if not changing:
        same = A.indptr is B.indptr and A.indices is B.indices
        assert same, f"{name}: the Hessian has new index arrays at every call; keep one Pattern"


def check_frame_indifference(energy: Any, x: Array, *, dim: int = 3, tolerance: float = 1e-9) -> None:
    """W(R x + c) = W(x) and grad W(R x + c) = R grad W(x): moving and turning a body costs nothing."""
    rng = np.random.default_rng(5)
    R = rotations(rng, 1)[0] if dim == 3 else _plane_rotation(0.7)
    moved = (x.reshape(-1, dim) @ R.T + rng.normal(size=dim)).ravel()
    name = f"{type(energy).__name__} {energy.name!r}"
    W, g = energy.value(x), energy.gradient(x)
    size = max(abs(W), float(np.abs(g).max()) * float(np.ptp(x)), 1e-9)
    assert abs(energy.value(moved) - W) <= tolerance * size, f"{name} is not invariant: {W:.9g} becomes another"
    turned = (g.reshape(-1, dim) @ R.T).ravel()
    agree(f"{name}: gradient after a rotation", energy.gradient(moved), turned, tolerance, floor=size)


def check_limit(energy: Any, x: Array, dx: Array) -> None:
    """`Limiting`: W is finite up to the limit along dx, and not finite, or no longer guarded, beyond it."""
    assert isinstance(energy, Limiting), f"{type(energy).__name__} has no limit"
    s, value = energy.limit(x, dx), energy.value  # type: ignore[attr-defined]
    assert s > 0.0, f"{type(energy).__name__}: the limit {s} along an admissible direction"
    for part in (0.5, 0.99):
        W = value(x + part * min(s, 1.0) * dx)
        assert np.isfinite(W), f"{type(energy).__name__}: infinite before its limit, at {part} of it"


def _plane_rotation(angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])
