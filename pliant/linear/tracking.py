"""Low modes followed from step to step: one block of right-hand sides per step instead of an eigen-solve.

The modes V of the last step and Y = A^-1 M V, A the factored matrix of this step, span a space in which Rayleigh-Ritz
on K finds the modes of this step to second order in their change. A need only be close to c_m M + c_k K: a poor one
slows convergence and never biases the result. The matrix M + h D + h^2 K of an implicit step will do, so no other is
ever factored. [Chen2019, sec. 6.3.2]
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from pliant.arrays import Array

Operator = Callable[[Array], Array]  # (n, k) -> (n, k)
ORTHOGONAL = 1e-4  # directions of the first block that keep this much in Gram-Schmidt need no second pass
NEGLIGIBLE = 1e-7  # directions shorter than this, relative to Y, are left out: their images are mostly round-off
DEPENDENT = 1e-5  # and so are those that much shorter than the longest


@dataclass(frozen=True)
class Pencil:
    """The operators of K u = lam M u, and ``solve`` = A^-1.

    ``weights`` (c_m, c_k) says that A is exactly c_m M + c_k K; then K A^-1 B needs no product with K.
    """

    K: Operator
    M: Operator
    solve: Operator
    weights: tuple[float, float] | None = None

    def image(self, B: Array, Y: Array) -> Array:
        """K Y for Y = A^-1 B."""
        if self.weights is None:
            return self.K(Y)
        c_m, c_k = self.weights
        return (B - c_m * self.M(Y)) / c_k


@dataclass(frozen=True, eq=False)
class Tracked:
    """Ritz pairs ``lam (p,)`` ascending and ``U (n, p)``, U^T M U = I; ``error`` bounds the change of the last block.

    ``rider`` is A^-1 of the right-hand side that came along, ``solves`` counts right-hand sides without it.
    """

    lam: Array
    U: Array
    error: float
    solves: int
    blocks: int
    rider: Array


def track(pencil: Pencil, start: Array, s: int, rider: Array, *, tolerance: float = 0.1, blocks: int = 3) -> Tracked:
    """The s lowest modes near ``start (n, p >= s)``, in as many blocks as they need to move less than ``tolerance``.

    What is compared with ``tolerance`` is the sine of the angle between A^-1 M u and the old space. For A = M + h^2 K
    it is h^2 |K u - lam M u|, about the part of the step that couples u to the rest: modes may be far from exact when
    h^2 lam is small, but then a step hardly feels it. ``rider (n,)`` is solved along with the first block.
    """
    n, p = start.shape
    MU = pencil.M(start)
    both = pencil.solve(np.column_stack([MU, rider]))
    Y, y = np.ascontiguousarray(both[:, :-1]), both[:, -1]
    basis, change = TrackedBasis(start, MU, pencil.K(start)).widened(pencil, Y, pencil.image(MU, Y))
    lam, U = basis.ritz(p)
    used = 1
    while used < blocks and change[:s].max(initial=0.0) > tolerance and basis.B.shape[1] + p <= n:
        wide, change = basis.widened(pencil, pencil.solve(pencil.M(U)))
        used += 1
        if wide.B.shape[1] == basis.B.shape[1]:  # nothing new above round-off
            break
        basis = wide
        lam, U = basis.ritz(p)
    return Tracked(lam, U, float(change[:s].max(initial=0.0)), p * used, used, y)


@dataclass(frozen=True, eq=False)
class TrackedBasis:
    """Vectors and their images under M and K; M-orthonormal up to round-off, which `ritz` takes into account."""

    B: Array
    MB: Array
    KB: Array

    def widened(self, pencil: Pencil, Y: Array, KY: Array | None = None) -> tuple["TrackedBasis", Array]:
        """With the part of Y outside, M-orthonormal; and the size of that part relative to Y, per column.

        ``KY`` may be given for the first block; further ones are too close to the basis for it to keep its digits.
        """
        size = np.sqrt(np.maximum(np.einsum("ij,ij->j", Y, pencil.M(Y)), 1e-300))
        Y = Y / size
        KY = None if KY is None else KY / size
        change = np.zeros(0)
        first = KY is not None  # the basis is orthonormal to round-off, one pass keeps it so
        for _ in range(2):
            C = self.B.T @ pencil.M(Y)
            Y = Y - self.B @ C
            MY = pencil.M(Y)
            gram = Y.T @ MY
            d, Q = np.linalg.eigh(0.5 * (gram + gram.T))
            keep = d > max(NEGLIGIBLE**2, DEPENDENT**2 * d[-1])
            T = Q[:, keep] / np.sqrt(d[keep])
            Y, MY = Y @ T, MY @ T
            KY = None if KY is None else (KY - self.KB @ C) @ T
            change = np.sqrt(np.maximum(gram.diagonal(), 0.0)) if not len(change) else change
            if not keep.any() or (first and d[keep][0] > ORTHOGONAL**2):
                break
        KY = pencil.K(Y) if KY is None else KY
        return TrackedBasis(*(np.hstack(pair) for pair in ((self.B, Y), (self.MB, MY), (self.KB, KY)))), change

    def ritz(self, p: int) -> tuple[Array, Array]:
        """The p lowest Ritz values and vectors, M-orthonormal."""
        G, H = self.B.T @ self.MB, self.B.T @ self.KB
        lam, S = scipy.linalg.eigh(0.5 * (H + H.T), 0.5 * (G + G.T), subset_by_index=(0, p - 1))
        return lam, self.B @ S
