"""Linear solvers: factor and solve are two calls; the analysis of a pattern is memory that travels with the factor."""

from typing import Any, Protocol

import scipy.sparse as sp

from pliant.arrays import Array


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


class LinearSolver(Protocol):
    """A choice of factorization or iteration, as a frozen dataclass."""

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> Factor:
        """Factor the full symmetric CSR matrix A (sorted indices). Raises `NotPositiveDefinite` by row."""
        ...
