"""Preconditioned conjugate gradients, with block Jacobi, multigrid or any `Factor` as the preconditioner.

The solver of NEWTON-I [Weidner2022, Sec. 5.4] with 3x3 block Jacobi, and of NEWTON-L0 and NEWTON-L1 with a Cholesky
factor of a nearby matrix. Matrices of bodies in space, whose rows come in threes, take a compiled loop.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array
from pliant.errors import NotPositiveDefinite, PliantError
from pliant.kernels import blocks
from pliant.linear.base import Factor, LinearSolver, Places, Placing
from pliant.linear.lowrank import Corrected
from pliant.linear.multigrid import MultigridFactor
from pliant.linear.threads import one_thread


class PCGResult(NamedTuple):
    """The solution, the number of products with A, and the norm of the last residual relative to that of b."""

    x: Array
    iterations: int
    residual: float


def pcg(
    A: sp.csr_matrix,
    b: Array,
    solve_preconditioner: Callable[[Array], Array],
    *,
    tolerance: float = 1e-2,
    max_iterations: int = 400,
    guess: Array | None = None,
) -> PCGResult:
    """Conjugate gradients for A x = b (N,), stopped at ||b - A x|| <= tolerance ||b||.

    Returns the iterate reached after ``max_iterations`` when the tolerance was not; the residual says so.
    A direction of negative curvature (A indefinite) ends the iteration with the iterate so far, or with the
    preconditioned b when it is the first, so that the result always descends.
    """
    with one_thread():
        norm_b = float(np.linalg.norm(b))
        x = np.zeros_like(b) if guess is None else guess.copy()
        if norm_b == 0.0:
            return PCGResult(np.zeros_like(b), 0, 0.0)
        r = b - A @ x if guess is not None else b.copy()
        z = solve_preconditioner(r)
        p, rz = z.copy(), float(r @ z)
        iterations = 0
        while np.linalg.norm(r) > tolerance * norm_b and iterations < max_iterations:
            Ap = A @ p
            iterations += 1
            curvature = float(p @ Ap)
            if not curvature > 0.0:
                x = x if x.any() else z
                r = b - A @ x
                break
            alpha = rz / curvature
            x += alpha * p
            r -= alpha * Ap
            z = solve_preconditioner(r)
            rz, previous = float(r @ z), rz
            p = z + (rz / previous) * p
        return PCGResult(x, iterations, float(np.linalg.norm(r)) / norm_b)


class BlockJacobi:
    """The inverse of the diagonal blocks of A: ``block`` x ``block`` each (the last one smaller where N demands)."""

    def __init__(self, A: sp.csr_matrix, block: int = 3) -> None:
        self.block, N = block, A.shape[0]
        self.nodal = block == 3 and not isinstance(A, Corrected) and blocks.aligned(A.indptr, A.indices)
        if self.nodal:
            self.inverse, bad = blocks.inverse_diagonal(A.indptr, A.indices, A.data)
            if bad < 0:
                return  # else the general way names the eigenvalue
        count = -(-N // block)
        D = np.zeros((count, block, block))
        rows = np.repeat(np.arange(N), np.diff(A.indptr))
        inside = rows // block == A.indices // block
        i, j = rows[inside], A.indices[inside]
        D[i // block, i % block, j % block] = A.data[inside]
        padding = np.arange(N, count * block)
        D[padding // block, padding % block, padding % block] = 1.0
        smallest = np.linalg.eigvalsh(np.nan_to_num(D, nan=-np.inf, neginf=-1e300, posinf=-1e300))[:, 0]
        if not np.all(smallest > 0.0):
            bad = int(np.argmin(smallest))
            raise NotPositiveDefinite(
                f"the diagonal block of rows {bad * block} and after has eigenvalue {smallest[bad]:.3g}",
                where="BlockJacobi",
                remedy="project the Hessian (psd=True) or add a multiple of the mass matrix",
            )
        self.inverse = np.linalg.inv(D)

    def solve(self, b: Array) -> Array:
        """D^-1 b for b (N,)."""
        padded = np.zeros(self.inverse.shape[:2])
        padded.reshape(-1)[: len(b)] = b
        return np.einsum("nij,nj->ni", self.inverse, padded).reshape(-1)[: len(b)]


class PCGFactor:
    """A with its preconditioner; every `solve` iterates, `inner` counts all products with A so far.

    The memory is that of a preconditioner that was ``made`` of this very matrix.
    """

    backend = "pcg"

    def __init__(
        self, A: sp.csr_matrix, preconditioner: "BlockJacobi | Factor", settings: "PCG", made: Factor | None = None
    ) -> None:
        self.A, self.preconditioner, self.settings = A, preconditioner, settings
        self.memory: Any = None if made is None else made.memory
        self.analysed = made is not None and made.analysed
        if isinstance(made, MultigridFactor) and not isinstance(A, Corrected):
            self.A = made  # the same products, by blocks
        self.inner, self.residual = 0, 0.0

    def solve(self, b: Array) -> Array:
        """x with ||b - A x|| <= tolerance ||b|| for b (N,) or (N, k), column by column; ``residual`` is the largest."""
        columns = np.asarray(b, dtype=np.float64).reshape(len(b), -1)
        x = np.empty_like(columns)
        self.residual = 0.0
        for k in range(columns.shape[1]):
            result = self._iterate(np.ascontiguousarray(columns[:, k]))
            x[:, k] = result.x
            self.inner += result.iterations
            self.residual = max(self.residual, result.residual)
        return x.reshape(np.shape(b))

    def _iterate(self, b: Array) -> PCGResult:
        M, tolerance, most = self.preconditioner, self.settings.tolerance, self.settings.max_iterations
        if isinstance(M, BlockJacobi) and M.nodal:
            A = self.A
            return PCGResult(*blocks.conjugate_gradients(A.indptr, A.indices, A.data, M.inverse, b, tolerance, most))
        return pcg(self.A, b, M.solve, tolerance=tolerance, max_iterations=most)


@dataclass(frozen=True)
class PCG:
    """Conjugate gradients as a linear solver; the defaults are those of NEWTON-I [Weidner2022, Sec. 5.4].

    ``preconditioner`` is "block-jacobi" with diagonal blocks of size ``block``, or any `Factor` of a nearby matrix, or
    a choice that is applied to every matrix anew: `Multigrid()`, which needs few iterations at any size and stiffness.
    """

    tolerance: float = 1e-2
    max_iterations: int = 400
    preconditioner: Literal["block-jacobi"] | LinearSolver | Factor = "block-jacobi"
    block: int = 3

    def __post_init__(self) -> None:
        if not 0.0 < self.tolerance < 1.0:
            raise PliantError(f"tolerance {self.tolerance} is outside (0, 1)", where="PCG")
        if isinstance(self.preconditioner, str) and self.preconditioner != "block-jacobi":
            raise PliantError(
                f"unknown preconditioner {self.preconditioner!r}",
                where="PCG",
                remedy="'block-jacobi', Multigrid() or a Factor",
            )

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> PCGFactor:
        """Prepare the preconditioner; ``memory`` is that of an earlier factor of this choice."""
        chosen = self.preconditioner
        if isinstance(chosen, str):
            return PCGFactor(A, BlockJacobi(A, self.block), self)
        if able(chosen, LinearSolver):
            made = chosen.factor(A, memory)
            return PCGFactor(A, made, self, made)
        return PCGFactor(A, chosen, self)

    def placed(self, places: Places) -> "PCG":
        """The same with a preconditioner that knows where the rows are."""
        chosen = self.preconditioner
        return replace(self, preconditioner=chosen.placed(places)) if able(chosen, Placing) else self
