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
    basis, images = start, pencil.K(start)  # M-orthonormal, as the modes of the last step are
    U, used, error = start, 0, np.inf
    y = np.zeros(0)
    while used < blocks and error > tolerance:
        MU = pencil.M(U)
        if used == 0:
            both = pencil.solve(np.column_stack([MU, rider]))
            Y, y = np.ascontiguousarray(both[:, :-1]), both[:, -1]
        else:
            Y = pencil.solve(MU)
        basis, images, change = widened(pencil, basis, images, Y, pencil.image(MU, Y))
        H = basis.T @ images
        lam, S = np.linalg.eigh(0.5 * (H + H.T))
        U = basis @ S[:, :p]
        used, error = used + 1, float(change[:s].max(initial=0.0))
    return Tracked(lam[:p], U, error, p * used, used, y)


def widened(pencil: Pencil, basis: Array, images: Array, Y: Array, KY: Array) -> tuple[Array, Array, Array]:
    """Basis and images with the part of Y outside the basis, M-orthonormal; and its size relative to Y, per column."""
    before = norms(Y, pencil.M(Y))
    Y, KY = Y / before, KY / before
    for _ in range(2):
        C = basis.T @ pencil.M(Y)
        Y, KY = Y - basis @ C, KY - images @ C
    gram = Y.T @ pencil.M(Y)
    d, Q = np.linalg.eigh(0.5 * (gram + gram.T))
    keep = d > max(1e-24, 1e-10 * d[-1])  # columns that are only round-off, or depend on others, are left out
    T = Q[:, keep] / np.sqrt(d[keep])
    change = np.sqrt(np.maximum(np.diag(gram), 0.0))
    return np.hstack([basis, Y @ T]), np.hstack([images, KY @ T]), change


def norms(Y: Array, MY: Array) -> Array:
    return np.sqrt(np.maximum(np.einsum("ij,ij->j", Y, MY), 1e-300))
