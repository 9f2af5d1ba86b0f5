"""Low modes followed from step to step: one block of right-hand sides per step instead of an eigen-solve.

The modes V of the last step and Y = A^-1 M V, A the factored matrix of this step, span a space in which Rayleigh-Ritz
on K finds the modes of this step to second order in their change. A need only be close to c_m M + c_k K: a poor one
slows convergence and never biases the result. The matrix M + h D + h^2 K of an implicit step will do, so no other is
ever factored. [Chen2019, sec. 6.3.2]
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array

Operator = Callable[[Array], Array]  # (n, k) -> (n, k)


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

    The sine of the angle by which the new modes leave the old space is what is compared with ``tolerance``; the error
    that remains after the block is about its square. ``rider (n,)`` is solved along with the first block.
    """
    p = start.shape[1]
    V, MV = start, pencil.M(start)
    basis, images = [V], [pencil.K(V)]
    used, error = 0, np.inf
    y = np.zeros(0)
    while used < blocks and error > tolerance:
        if used == 0:
            both = pencil.solve(np.column_stack([MV, rider]))
            Y, y = np.ascontiguousarray(both[:, :-1]), both[:, -1]
        else:
            Y = pencil.solve(MV)
        fresh, change = added(pencil, basis, images, MV, Y)
        used += 1
        error = float(change[:s].max(initial=0.0))
        lam, U = ritz(pencil, basis, images, p)
        V, MV = fresh, pencil.M(fresh)
    return Tracked(lam, U, error, p * used, used, y)


def added(pencil: Pencil, basis: list[Array], images: list[Array], MV: Array, Y: Array) -> tuple[Array, Array]:
    """Append the part of Y = A^-1 M V outside the basis, and its image; returns it and its size relative to Y."""
    KY = pencil.image(MV, Y)
    before = norms(Y, pencil.M(Y))
    for _ in range(2):
        for B, KB in zip(basis, images, strict=True):
            C = B.T @ pencil.M(Y)
            Y, KY = Y - B @ C, KY - KB @ C
    after = norms(Y, pencil.M(Y))
    scale = 1.0 / np.maximum(after, 1e-13 * before)  # what is nothing but round-off stays small and is cut in `ritz`
    basis.append(Y * scale)
    images.append(KY * scale)
    return basis[-1], after / before


def norms(Y: Array, MY: Array) -> Array:
    return np.sqrt(np.maximum(np.einsum("ij,ij->j", Y, MY), 1e-300))


def ritz(pencil: Pencil, basis: list[Array], images: list[Array], p: int) -> tuple[Array, Array]:
    """The lowest p Ritz pairs of K in the span of the basis; dependent directions are cut out."""
    B, KB = np.hstack(basis), np.hstack(images)
    G, H = B.T @ pencil.M(B), B.T @ KB
    d, Q = np.linalg.eigh(0.5 * (G + G.T))
    keep = d > 1e-10 * d[-1]
    T = Q[:, keep] / np.sqrt(d[keep])
    lam, S = np.linalg.eigh(0.5 * T.T @ (H + H.T) @ T)
    return lam[:p], B @ (T @ S[:, :p])
