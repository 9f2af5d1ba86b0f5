"""Linear solvers: factor and solve are two calls; the analysis of a pattern is memory that travels with the factor."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import scipy.sparse as sp

from pliant.arrays import Array, IntArray


class Factor(Protocol):
    """A factored symmetric positive definite matrix.

    ``memory`` is what the next `LinearSolver.factor` of a matrix with the same pattern can reuse (symbolic analysis,
    permutations, buffers); ``analysed`` says whether this factorization had to make it anew. ``inner`` counts the
    iterations of an iterative solver over all solves so far (0 for direct ones). A factor stays right when its memory
    has been used for another one; it may then cost a factorization of its own.
    """

    memory: Any
    analysed: bool
    inner: int

    def solve(self, b: Array) -> Array:
        """x with A x = b, for b (N,) or (N, k); all k right-hand sides in one blocked call."""
        ...


@runtime_checkable
class Halved(Protocol):
    """A factor A = P^T L L^T P that also applies its halves: products of A^-1 with few sparse columns need only one."""

    def forward(self, b: Array) -> Array:
        """L^-1 P b for b (N,) or (N, k)."""
        ...

    def forward_rows(self, B: sp.csr_matrix) -> tuple[Array, IntArray]:
        """L^-1 P B^T (N, m) for sparse B (m, N), and which row of B each column is."""
        ...

    def backward(self, y: Array) -> Array:
        """P^T L^-T y for y (N,) or (N, k)."""
        ...


@runtime_checkable
class Gramian(Protocol):
    """A factor that tells how a few rows act on each other."""

    def gram(self, B: sp.csr_matrix) -> Array:
        """B A^-1 B^T (m, m) for B (m, N)."""
        ...


@runtime_checkable
class Approximate(Protocol):
    """A factor that is only near the inverse: a quasi-Newton method takes ``patience`` times as many iterations."""

    patience: int


@runtime_checkable
class LinearSolver(Protocol):
    """A choice of factorization or iteration, as a frozen dataclass."""

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> Factor:
        """Factor the full symmetric CSR matrix A (sorted indices). Raises `NotPositiveDefinite` by row."""
        ...


@dataclass(frozen=True, eq=False)
class Places:
    """Where the rows of a matrix are in space: row r is the axis rows[r] % 3 of the point x[rows[r] // 3]."""

    rows: IntArray  # (N,) ascending
    x: Array  # (n, 3) [m], more points than rows belong to where some are held


@runtime_checkable
class Placing(Protocol):
    """A linear solver that is better when it knows where the rows of a matrix are."""

    def placed(self, places: Places) -> LinearSolver:
        """The same choice, for matrices whose rows are there."""
        ...
