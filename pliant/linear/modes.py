"""Vibration modes: the lowest eigenpairs of K U = M U Lam with U^T M U = I [Chen2019, Sec. 4.3].

Shift and invert with a block Lanczos iteration: B = (K - shift M)^-1 M is self-adjoint in the inner product of M, and
its largest eigenvalues theta = 1 / (lam - shift) belong to the lowest modes. Blocks find multiple eigenvalues (the six
rigid modes of a free body) reliably, and let all right-hand sides of one iteration share one pass through the factor.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.errors import NotPositiveDefinite, PliantError
from pliant.linear.base import Factor, LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.threads import one_thread

BASIS_BLOCKS = 8  # blocks of vectors kept before the basis is compressed to its best ones
MAX_BLOCKS = 60


class ShiftInvert(NamedTuple):
    """(K - shift M)^-1 = scale factor^-1. The factor of A = M + h D + h^2 K of an implicit step is one:
    for D = alpha M + beta K, scale = h^2 + h beta and shift = -(1 + h alpha) / scale."""

    factor: Factor
    shift: float
    scale: float = 1.0


@dataclass(frozen=True)
class Modes:
    """``U`` (N, s) with U^T M U = I, ``lam`` (s,) ascending [1/s^2]; ``solves`` with the factor; the largest residual.

    ``residual`` is ||B u - theta u||_M / theta: the part of u, in the norm of M, that is not of this eigenspace.
    """

    U: Array
    lam: Array
    solves: int
    residual: float
    converged: bool
    inverse: ShiftInvert | None = None


def lowest(
    K: sp.csr_matrix,
    M: sp.csr_matrix,
    s: int,
    *,
    inverse: ShiftInvert | None = None,
    linear: LinearSolver = Cholesky(),  # noqa: B008  (a frozen value)
    guess: Array | None = None,
    tolerance: float = 1e-6,
) -> Modes:
    """The s algebraically smallest eigenpairs of K u = lam M u (K = +Hessian of the energy, M positive definite).

    ``inverse`` reuses a factor whose shift lies below the spectrum; without it a shift is chosen, negative, so that
    rigid modes and a moderately indefinite K are no harm. ``guess`` (N, >= 1) are modes of a similar system.
    """
    N = K.shape[0]
    if not 0 < s <= N:
        raise PliantError(f"{s} modes of a system with {N} degrees of freedom", where="lowest")
    if 4 * s + 20 >= N:
        lam, U = scipy.linalg.eigh(K.toarray(), M.toarray(), subset_by_index=[0, s - 1])
        return Modes(_signed(U), lam, 0, 0.0, True)
    inverse = inverse or shift_invert(K, M, linear)
    X = _start(N, s + min(s, 4), guess)
    theta, U, columns, residual = _largest(lambda V: inverse.scale * inverse.factor.solve(M @ V), M, X, s, tolerance)
    lam = inverse.shift + 1.0 / theta
    order = np.argsort(lam, kind="stable")
    return Modes(_signed(U[:, order]), lam[order], columns, residual, residual <= tolerance, inverse)


def highest(K: sp.csr_matrix, M: sp.csr_matrix, *, tolerance: float = 1e-3) -> float:
    """The largest eigenvalue of K u = lam M u [1/s^2] from below, to about ``tolerance`` squared; for step limits."""
    N = K.shape[0]
    if N <= 24:
        return float(scipy.linalg.eigvalsh(K.toarray(), M.toarray())[-1])
    mass = Cholesky().factor(sp.csr_matrix(M))
    theta, *_ = _largest(lambda V: mass.solve(K @ V), M, _start(N, 2, None), 1, tolerance)
    return float(theta[0])


def shift_invert(K: sp.csr_matrix, M: sp.csr_matrix, linear: LinearSolver = Cholesky()) -> ShiftInvert:  # noqa: B008
    """A factor of K - shift M with a shift below all eigenvalues: slightly negative, lowered until Cholesky agrees."""
    mean = float(np.abs(K.diagonal()).sum() / M.diagonal().sum())
    if mean == 0.0:
        raise PliantError("K has an empty diagonal", where="shift_invert")
    for decade in range(-7, 3):
        shift = -mean * 10.0**decade
        try:
            return ShiftInvert(linear.factor(K - shift * M), shift)
        except NotPositiveDefinite:
            continue
    raise NotPositiveDefinite(
        f"K - shift M is indefinite down to shift = {shift:.3g}", where="shift_invert", remedy="check the sign of K"
    )


def _largest(
    apply: Callable[[Array], Array], M: sp.csr_matrix, X: Array, s: int, tolerance: float
) -> tuple[Array, Array, int, float]:
    """(theta, vectors, operator columns, residual): the s largest eigenpairs of an operator self-adjoint in M."""
    p, columns = X.shape[1], 0
    with one_thread():
        Q, Z = np.zeros((len(X), 0)), np.zeros((len(X), 0))
        for _ in range(MAX_BLOCKS):
            X = _orthonormal(X, Q, M)
            new = apply(X)
            columns += X.shape[1]
            Q, Z = np.hstack([Q, X]), np.hstack([Z, new])
            H = Q.T @ (M @ Z)
            theta, S = np.linalg.eigh(0.5 * (H + H.T))
            theta, S = theta[::-1], S[:, ::-1]
            best = S[:, :s]
            R = Z @ best - Q @ (best * theta[:s])
            residual = float(np.max(np.sqrt(np.einsum("ij,ij->j", R, M @ R)) / np.abs(theta[:s])))
            if residual <= tolerance or Q.shape[1] + p > len(Q):
                break
            X = new
            if Q.shape[1] + p > BASIS_BLOCKS * p:
                keep = S[:, : 2 * p]
                X = Z @ S[:, :p] - Q @ (S[:, :p] * theta[:p])
                Q, Z = Q @ keep, Z @ keep
        return theta[:s], Q @ best, columns, residual


def _orthonormal(X: Array, Q: Array, M: sp.csr_matrix) -> Array:
    """The part of X that is M-orthogonal to Q, M-orthonormal; columns that depend on others are left out."""
    X = X / np.sqrt(np.einsum("ij,ij->j", X, M @ X))
    for _ in range(3):
        X = X - Q @ (Q.T @ (M @ X))
        gram = X.T @ (M @ X)
        d, V = np.linalg.eigh(0.5 * (gram + gram.T))
        keep = d > 1e-14 * d[-1]
        X = X @ (V[:, keep] / np.sqrt(d[keep]))
    return X


def _start(N: int, p: int, guess: Array | None) -> Array:
    """A start block: the guess first, then vectors that are always the same."""
    X = np.random.default_rng(0).standard_normal((N, p))
    if guess is not None and guess.shape[0] == N:
        k = min(p, guess.shape[1])
        X[:, :k] = guess[:, :k]
    return X


def _signed(U: Array) -> Array:
    """Every column with its largest entry positive, so that equal modes are equal arrays."""
    return U * np.where(U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])] < 0.0, -1.0, 1.0)
