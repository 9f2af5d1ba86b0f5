"""The velocity matrix J^T (M - hD - beta h^2 K) J - h D_r - beta h^2 K_r: dense, sparse, or matrix-free in O(n)."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.articulated.assembly import Assembly, diagonals
from pliant.articulated.blocks import BlockMatrix
from pliant.articulated.recursion import Recursion, within_joints
from pliant.linear.inverse import Solved
from pliant.state import Counts


@dataclass(frozen=True)
class Dense:
    """J and the matrix as dense arrays, Cholesky: best for a few dozen links."""

    def prepare(self, at: Assembly, h: float, beta: float = 1.0) -> Array:
        return dense_matrix(at, h, beta)


@dataclass(frozen=True)
class Sparse:
    """J and the matrix sparse, direct factorization: for wide trees, whose J has few entries."""

    def prepare(self, at: Assembly, h: float, beta: float = 1.0) -> sp.csr_matrix:
        J = sp.csr_matrix(at.kin.jacobian())
        A = J.T @ at.matrix(h, beta).sparse() @ J + sp.csr_matrix(at.reduced_matrix(h, beta))
        A = sp.csr_matrix(0.5 * (A + A.T))  # products round differently in the two triangles
        A.sort_indices()
        return A


@dataclass(frozen=True)
class MatrixFree:
    """Matrix-free conjugate gradients, preconditioned by the exact inverse with block diagonal D and K [Wang2019].

    ``stiffness=False`` takes the recursion of the inertia alone, which can be better for soft springs. Without coupling
    springs the recursion is exact and one application solves.
    """

    tolerance: float = 1e-6
    iterations: int = 1000
    stiffness: bool = True

    def prepare(self, at: Assembly, h: float, beta: float = 1.0) -> "Iterated":
        return Iterated(self, at, h, beta)


class Iterated:
    """The operator p -> J^T (A (J p)) + a p and its preconditioner for one step."""

    def __init__(self, choice: MatrixFree, at: Assembly, h: float, beta: float = 1.0) -> None:
        self.choice, self.kin = choice, at.kin
        self.A: BlockMatrix = at.matrix(h, beta)
        self.reduced = at.loads.reduced_blocks(-beta * h * h, -h)
        plain = not choice.stiffness
        diagonal = diagonals(at.inertia) if plain else self.A.diagonal
        self.preconditioner = Recursion(at.kin, diagonal, [] if plain else self.reduced)
        self.preconditioner.require_definite("articulated step")
        self.exact = not plain and not self.A.coupled() and within_joints(at.kin.tree, self.reduced)

    def multiply(self, x: Array) -> Array:
        y = self.kin.apply_transpose(self.A.multiply(self.kin.apply(x)))
        for index, block in self.reduced:
            y[index] += block @ x[index]
        return y

    def solve(self, b: Array, guess: Array) -> Solved:
        """Start from ``guess`` (the previous rates), stop at the residual ratio |r|/|b|."""
        size = max(float(np.linalg.norm(b)), 1e-300)
        if self.exact:
            x = self.preconditioner.solve(b)
            residual = float(np.linalg.norm(b - self.multiply(x))) / size
            return Solved(x, residual, residual <= max(self.choice.tolerance, 1e-6), Counts(solves=1, inner=1))
        x, r = guess.copy(), b - self.multiply(guess)
        z = self.preconditioner.solve(r)
        p, rz = z, float(r @ z)
        k, residual = 0, float(np.linalg.norm(r)) / size
        while residual > self.choice.tolerance and k < self.choice.iterations and np.isfinite(residual):
            Ap = self.multiply(p)
            alpha = rz / float(p @ Ap)
            x, r = x + alpha * p, r - alpha * Ap
            z = self.preconditioner.solve(r)
            rz, previous = float(r @ z), rz
            p = z + rz / previous * p
            k, residual = k + 1, float(np.linalg.norm(r)) / size
        return Solved(x, residual, residual <= self.choice.tolerance, Counts(solves=1, inner=k))


def dense_matrix(at: Assembly, h: float, beta: float = 1.0) -> Array:
    """J^T (M - hD - beta h^2 K) J - h D_r - beta h^2 K_r as a dense array (nr, nr)."""
    J = at.kin.jacobian()
    A = at.matrix(h, beta)
    AJ = A.dense() @ J if A.coupled() else (A.diagonal @ J.reshape(len(A.diagonal), 6, -1)).reshape(J.shape)
    return J.T @ AJ + at.reduced_matrix(h, beta)
