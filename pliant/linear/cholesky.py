"""Sparse Cholesky with the analysis made once per pattern: A = L L^T, then as many solves as wanted.

Four engines do the work, each in its own file; this one holds what they share: when an analysis may be reused, and
what happens to a factor whose buffers have been refilled by a later one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import NotPositiveDefinite, PliantError
from pliant.kernels.blas import routines
from pliant.kernels.substitution import squares
from pliant.linear.cholmod import Cholmod
from pliant.linear.lowrank import Corrected
from pliant.linear.pardiso import Pardiso
from pliant.linear.superlu import SuperLU
from pliant.linear.supernodal import Supernodal
from pliant.linear.threads import one_thread
from pliant.pattern_making import union

Backend = Literal["auto", "supernodal", "single", "pardiso", "cholmod", "superlu"]


# The fastest engine on the processors we measured (see `pliant bench ldot/dchol`), and one that is always there.
DEFAULT = "supernodal"
ENGINES: dict[str, Any] = {
    "supernodal": Supernodal,
    "single": partial(Supernodal, single=True),
    "pardiso": Pardiso,
    "cholmod": Cholmod,
    "superlu": SuperLU,
}


class Engine(Protocol):
    """One pattern analysed, and the buffers of one numeric factor."""

    name: str

    @property
    def nnz(self) -> int:
        """Entries of L."""
        ...

    def gather(self, data: Array) -> Array:
        """A fresh array with those of the CSR values that the engine needs."""
        ...

    def refactor(self, values: Array) -> int:
        """Numeric factorization of gathered values into the buffers; the row of a bad pivot, or -1."""
        ...

    def solve(self, values: Array, b: Array) -> Array:
        """x (N, k) with A x = b (N, k)."""
        ...

    def twin(self) -> "Engine":
        """An engine for the same pattern with buffers of its own."""
        ...


@dataclass(eq=False)
class Analysis:
    """The memory of a factorization: pattern, engine, and how many factors have been written into its buffers."""

    indptr: np.ndarray
    indices: np.ndarray
    engine: Engine
    written: int = 0

    transient = True  # checkpoints rebuild it from the matrix instead of saving it

    def fits(self, A: sp.csr_matrix, name: str) -> bool:
        """Whether A has the pattern that was analysed, with the engine called ``name``."""
        return (
            self.engine.name == name
            and np.array_equal(self.indptr, A.indptr)
            and np.array_equal(self.indices, A.indices)
        )


class CholeskyFactor:
    """A = L L^T. A later factorization with the same memory refills the buffers; this factor then, if it is still
    asked to solve, factors its own values again into buffers of its own: old factors stay right, they only cost more.
    """

    inner = 0

    def __init__(self, memory: Analysis, values: Array, analysed: bool) -> None:
        self.memory, self.analysed = memory, analysed
        self.backend = memory.engine.name
        self._values, self._engine, self._written = values, memory.engine, memory.written

    def solve(self, b: Array) -> Array:
        """x with A x = b, for b (N,) or (N, k)."""
        return self._apply(lambda engine, columns: engine.solve(self._values, columns), b)

    def _apply(self, what: Callable[[Any, Array], Array], b: Array) -> Array:
        """``what`` an engine does to the columns of b."""
        engine, b = self._current(), np.asarray(b, dtype=np.float64)
        if b.shape[0] != len(self.memory.indptr) - 1:
            raise PliantError(f"right-hand side of shape {b.shape}, matrix of {len(self.memory.indptr) - 1} rows")
        if b.size == 0:
            return np.zeros_like(b)
        return np.ascontiguousarray(what(engine, b.reshape(len(b), -1))).reshape(b.shape)

    def _current(self) -> Any:
        """An engine that holds this factor."""
        if self._engine is self.memory.engine and self._written != self.memory.written:
            self._engine = self.memory.engine.twin()
            self._engine.refactor(self._values)
        return self._engine


class SupernodalFactor(CholeskyFactor):
    """A factor of our own, which can be applied by halves."""

    def forward(self, b: Array) -> Array:
        """L^-1 P b."""
        return self._apply(lambda engine, columns: engine.layout.forward(engine.L, columns), b)

    def backward(self, y: Array) -> Array:
        """P^T L^-T y."""
        return self._apply(lambda engine, columns: engine.layout.backward(engine.L, columns), y)

    def forward_rows(self, B: sp.csr_matrix) -> tuple[Array, IntArray]:
        """L^-1 P B^T (N, m) for sparse B (m, N), and which row of B each column is."""
        engine = self._current()
        return engine.layout.forward_rows(engine.L, B)

    def gram(self, B: sp.csr_matrix) -> Array:
        """B A^-1 B^T = |L^-1 P B^T|^2."""
        return squared(*self.forward_rows(B))


def squared(Y: Array, chosen: IntArray) -> Array:
    """W (m, m) with W[chosen, chosen] = Y^T Y, exactly symmetric."""
    W = np.empty((len(chosen), len(chosen)))
    with one_thread():
        W[np.ix_(chosen, chosen)] = squares(routines("d"), np.ascontiguousarray(Y, dtype=np.float64))
    return 0.5 * (W + W.T)


@dataclass(frozen=True)
class Cholesky:
    """Direct solver for symmetric positive definite matrices.

    ``backend="auto"`` is our own supernodal factorization; PARDISO, CHOLMOD and SuperLU are there to compare with.
    "single" is our own in float32: twice as fast, seven digits, enough for quasi-Newton methods and preconditioners.
    ``threads`` (PARDISO only) is fixed per analysis; with 1 results do not depend on the machine's thread settings.
    """

    backend: Backend = "auto"
    threads: int = 1

    @property
    def engine(self) -> str:
        """The name of the engine that does the work."""
        return DEFAULT if self.backend == "auto" else self.backend

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> CholeskyFactor:
        """Factor the full symmetric CSR matrix A (sorted indices); ``memory`` is that of an earlier factor."""
        if isinstance(A, Corrected):
            return A.factored(self, memory)  # type: ignore[return-value]
        analysed = False
        if not (isinstance(memory, Analysis) and memory.fits(A, self.engine)):
            A = _mirrored(A)
            memory, analysed = self.analysis(A, memory)
        values = memory.engine.gather(A.data)
        memory.written += 1
        row = memory.engine.refactor(values) if np.isfinite(values.sum()) else _row_of_nonfinite(A)
        if row >= 0:
            raise NotPositiveDefinite(
                f"the pivot of row {row} is not positive (diagonal entry {A[row, row]:.6g})",
                where=f"Cholesky({memory.engine.name!r})",
                remedy="project the Hessian (psd=True) or add a multiple of the mass matrix",
            )
        kind = SupernodalFactor if isinstance(memory.engine, Supernodal) else CholeskyFactor
        return kind(memory, values, analysed)

    def analysis(self, A: sp.csr_matrix, memory: Any = None) -> tuple[Analysis, bool]:
        """The analysis of A's pattern: ``memory`` where it fits, else a new one; and whether it is new."""
        name = self.engine
        if isinstance(memory, Analysis) and memory.fits(A, name):
            return memory, False
        if name not in ENGINES:
            raise PliantError(f"unknown backend {name!r}", where="Cholesky", remedy="use " + ", ".join(ENGINES))
        engine = ENGINES[name](_checked(A).indptr, A.indices, self.threads)
        return Analysis(A.indptr.copy(), A.indices.copy(), engine), True


def _checked(A: sp.csr_matrix) -> sp.csr_matrix:
    """A, if its shape and pattern can be those of a positive definite matrix."""
    if A.shape[0] != A.shape[1] or not A.has_sorted_indices:
        raise PliantError(f"matrix of shape {A.shape} must be square with sorted indices", where="Cholesky.factor")
    rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    present = np.zeros(A.shape[0], dtype=bool)
    present[rows[rows == A.indices]] = True
    if not present.all():
        row = int(np.argmin(present))
        raise NotPositiveDefinite(f"row {row} has no diagonal entry", where="Cholesky.factor", remedy="add its mass")
    return A


def _mirrored(A: sp.csr_matrix) -> sp.csr_matrix:
    """A with a symmetric pattern: sums of SciPy matrices drop entries that are exactly zero, at times one of a pair."""
    ones = sp.csr_matrix((np.ones(A.nnz), A.indices, A.indptr), shape=A.shape)
    mirror = ones.T.tocsr()
    if np.array_equal(mirror.indptr, A.indptr) and np.array_equal(mirror.indices, A.indices):
        return A
    whole = union([ones, mirror], A.shape[0])
    data = np.zeros(whole.nnz)
    data[whole.slots(A)] = A.data
    return whole.matrix(data)


def _row_of_nonfinite(A: sp.csr_matrix) -> int:
    entry = int(np.argmin(np.isfinite(A.data)))
    return int(np.searchsorted(A.indptr, entry, side="right")) - 1
