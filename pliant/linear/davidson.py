"""Modes near known ones by block Davidson: Rayleigh-Ritz on a basis widened by preconditioned residuals.

    K U = M U Lam,  U^T M U = I;      T = P^-1 (K U - M U Lam),  P ~ K - shift M

P may be the factor of a neighbouring matrix (the same body at rest, or some steps ago): it sets the rate at which the
error falls and never biases the result. T is the error of U to first order, in units of an angle, so it says when to
stop; the vectors returned have been improved by it once more. One product with K and one with M per block.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array

Operator = Callable[[Array], Array]  # (n, k) -> (n, k)
DEPENDENT = 1e-10  # part of the largest eigenvalue of the Gram matrix below which a direction is left out


@dataclass(frozen=True, eq=False)
class Refined:
    """Ritz pairs ``lam (p,)`` ascending and ``U (n, p)``, U^T M U = I.

    ``turn`` is the largest sine by which the first s of them turned in the last of the ``blocks``; ``solves`` counts
    right-hand sides.
    """

    lam: Array
    U: Array
    turn: float
    blocks: int
    solves: int


def refined(
    K: Operator,
    M: Operator,
    precondition: Operator,
    start: Array,
    sizes: tuple[int, int],
    *,
    tolerance: float,
    blocks: int,
) -> Refined:
    """The s lowest modes near the span of ``start (n, k >= p)``, ``sizes`` = (s, p), and p - s more as guards.

    At least one and at most ``blocks`` blocks of p right-hand sides; it ends when the s modes turned by no more than
    ``tolerance``.
    """
    s, p = sizes
    basis = Basis.of(start, K(start), M(start))
    used, solves, turn = 0, 0, np.inf
    while used < blocks and turn > tolerance:
        lam, S = basis.ritz(p)
        T = precondition(basis.KQ @ S - (basis.MQ @ S) * lam)
        MT = M(T)
        size = np.sqrt(np.maximum(np.einsum("ij,ij->j", T, MT), 1e-300))
        turn = float(size[:s].max(initial=0.0))
        basis = basis.widened(T / size, K(T) / size, MT / size)
        used, solves = used + 1, solves + T.shape[1]
    lam, S = basis.ritz(p)
    return Refined(lam, basis.Q @ S, turn, used, solves)


@dataclass(frozen=True, eq=False)
class Basis:
    """Vectors Q (n, k) of about unit size, not orthogonal, with K Q, M Q, G = Q^T M Q and H = Q^T K Q."""

    Q: Array
    KQ: Array
    MQ: Array
    G: Array
    H: Array

    @staticmethod
    def of(Q: Array, KQ: Array, MQ: Array) -> "Basis":
        return Basis(Q, KQ, MQ, Q.T @ MQ, Q.T @ KQ)

    def widened(self, T: Array, KT: Array, MT: Array) -> "Basis":
        """With more vectors; only their products with the others are computed."""
        Q = np.hstack([self.Q, T])
        G, H = bordered(self.G, Q.T @ MT), bordered(self.H, Q.T @ KT)
        return Basis(Q, np.hstack([self.KQ, KT]), np.hstack([self.MQ, MT]), G, H)

    def ritz(self, p: int) -> tuple[Array, Array]:
        """The p lowest Ritz values, and coefficients S of vectors Q S with (Q S)^T M Q S = I."""
        d, V = np.linalg.eigh(0.5 * (self.G + self.G.T))
        keep = d > DEPENDENT * d[-1]
        V = V[:, keep] / np.sqrt(d[keep])
        lam, S = np.linalg.eigh(V.T @ (0.5 * (self.H + self.H.T)) @ V)
        return lam[:p], V @ S[:, :p]


def bordered(A: Array, columns: Array) -> Array:
    """The symmetric matrix with A in the corner and the new ``columns`` to its right."""
    k = len(A)
    return np.block([[A, columns[:k]], [columns[:k].T, columns[k:]]])
