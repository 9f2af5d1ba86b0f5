"""A factor in single precision whose solutions are refined in double: half the time and memory, the digits of both.

    x <- x + S (b - A x),    S the inverse by the factor in float32, A and the residual in float64

An iteration gains the digits that the factor has left of its seven [Moler1967]: matrices of elastic bodies with contact
need one or two. Where the residual does not fall as it should, A is factored in double precision.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.linear.base import Factor
from pliant.linear.cholesky import Cholesky, CholeskyFactor
from pliant.linear.lowrank import Corrected
from pliant.linear.supernodal import Supernodal

TOLERANCE = 1e-10  # of the residual, relative to the right-hand side
GAIN = 0.1  # a refinement that leaves more of the residual than this is given up


class RefinedFactor:
    """A = L L^T in single precision, and A itself."""

    inner: int = 0
    backend = "refined"

    def __init__(self, A: sp.csr_matrix, single: CholeskyFactor) -> None:
        self._A, self._factor = A, single
        self.memory, self.analysed = single.memory, single.analysed
        self._exact: Supernodal | None = None

    def solve(self, b: Array) -> Array:
        """x with A x = b, for b (N,) or (N, k)."""
        x, goal, before = self._factor.solve(b), TOLERANCE * np.linalg.norm(b, axis=0), np.inf
        while self._exact is None:
            r = b - self._A @ x
            left = np.linalg.norm(r, axis=0)
            if np.all(left <= goal):
                return x
            if not np.all((left <= GAIN * before) | (left <= goal)):
                break
            x, before = x + self._factor.solve(r), left
        return self._exactly(b)

    def _exactly(self, b: Array) -> Array:
        """The same by a factor in double precision."""
        if self._exact is None:
            engine: Any = self.memory.engine
            self._exact = Supernodal(*engine.pattern, layout=engine.layout)
            self._exact.refactor(self._exact.gather(self._A.data))
        return np.ascontiguousarray(self._exact.solve(b, b.reshape(len(b), -1))).reshape(b.shape)


@dataclass(frozen=True)
class RefinedCholesky:
    """Cholesky in single precision with refinement in double."""

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> Factor:
        """Factor the full symmetric CSR matrix A (sorted indices); ``memory`` is that of an earlier factor."""
        if isinstance(A, Corrected):
            return A.factored(self, memory)  # type: ignore[return-value]
        return RefinedFactor(A, Cholesky("single").factor(A, memory))
