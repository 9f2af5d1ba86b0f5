"""The matrix of a programme with bounds, dense or sparse: products, and solves on free variables."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse.csgraph import reverse_cuthill_mckee

from pliant.arrays import Array, IntArray
from pliant.errors import NotPositiveDefinite
from pliant.kernels import envelope
from pliant.linear.cholesky import Analysis, Cholesky

WIDE = 32  # entries from the first of a row to the diagonal, up to which envelopes are faster than panels
BoolArray = NDArray[np.bool_]
Solve = Callable[[Array], Array]


class BoxMatrix(Protocol):
    """A symmetric positive semidefinite H (n, n)."""

    values: Any  # an array, or a sparse matrix
    diagonal: Array

    def multiply(self, x: Array) -> Array: ...

    def reach(self, x: Array) -> Array:
        """|H| x for x >= 0."""
        ...

    def factor(self, free: BoolArray, add: Array) -> Solve:
        """b -> (H + diag(add))^-1 b on the free variables, 0 on the others; raises where that is not definite."""
        ...


def box_matrix(H: "Array | BoxMatrix") -> BoxMatrix:
    return DenseBox(H) if isinstance(H, np.ndarray) else H


def shifted_solve(A: BoxMatrix, free: BoolArray, shift: Array) -> Solve:
    """Of the free part of A; where rounding makes it indefinite, with a larger shift."""
    for _ in range(3):
        try:
            return A.factor(free, shift)
        except NotPositiveDefinite:
            shift = 100.0 * shift
    return A.factor(free, shift)


class DenseBox:
    def __init__(self, H: Array) -> None:
        self.values, self.diagonal = H, np.diag(H)

    def multiply(self, x: Array) -> Array:
        return self.values @ x

    def reach(self, x: Array) -> Array:
        return np.abs(self.values) @ x

    def factor(self, free: BoolArray, add: Array) -> Solve:
        index = np.flatnonzero(free)
        A = self.values[index[:, None], index]
        A.flat[:: len(index) + 1] += add[index]
        factor, bad = dpotrf(A, clean=False)  # SciPy's wrappers take longer than small programmes do
        if bad:
            raise NotPositiveDefinite("the free part of a box programme is not definite", where="DenseBox")

        def solve(b: Array) -> Array:
            x = np.zeros(len(free))
            x[index] = dpotrs(factor, b[index])[0]
            return x

        return solve


@dataclass(frozen=True, eq=False)
class Envelope:
    """The order of elimination of a pattern, and where the rows of its factors begin; `pliant.kernels.envelope`."""

    indptr: IntArray
    indices: IntArray
    rank: IntArray
    first: IntArray
    start: IntArray

    transient = True  # checkpoints rebuild it from the matrix instead of saving it

    @staticmethod
    def of(H: sp.csr_matrix) -> "Envelope":
        """With the rows as they are, or in the order of reverse Cuthill and McKee, whichever has less between."""
        ranks = [np.arange(H.shape[0])]
        if H.nnz:
            ranks.append(np.argsort(reverse_cuthill_mckee(H, symmetric_mode=True)))
        found = [Envelope(H.indptr, H.indices, rank, *envelope.rows(H.indptr, H.indices, rank)) for rank in ranks]
        return min(found, key=lambda e: e.work)

    @property
    def work(self) -> int:
        """Multiplications of a factorization, less or more."""
        return int((np.diff(self.start) ** 2).sum())

    def fits(self, H: sp.csr_matrix) -> bool:
        return np.array_equal(self.indptr, H.indptr) and np.array_equal(self.indices, H.indices)


class SparseBox:
    """H as CSR with sorted indices; every factorization has H's pattern, so ``analysis`` serves all.

    Along chains H is a narrow band: its factors are envelopes. Where that is wide, they are those of `Cholesky`.
    """

    def __init__(self, H: sp.csr_matrix, analysis: Any = None) -> None:
        self.values, self.diagonal = H, H.diagonal()
        self._part = sp.csr_matrix((H.data, H.indices, H.indptr), shape=H.shape)  # refilled by every factorization
        self.analysis = analysis  # of panels it is found out by `Cholesky` whether they fit
        if not isinstance(analysis, Analysis) and not (isinstance(analysis, Envelope) and analysis.fits(H)):
            narrow = Envelope.of(H)
            self.analysis = narrow if narrow.work <= WIDE**2 * len(self.diagonal) else None

    def multiply(self, x: Array) -> Array:
        return np.asarray(self.values @ x)

    def reach(self, x: Array) -> Array:
        H = self.values
        return np.asarray(sp.csr_matrix((np.abs(H.data), H.indices, H.indptr), shape=H.shape) @ x)

    def factor(self, free: BoolArray, add: Array) -> Solve:
        H, held = self.values, float(self.diagonal.max()) + 1e-300
        if isinstance(self.analysis, Envelope):
            return _narrow_solve(H, self.analysis, free, add, held)
        self._part.data = _masked(H.data, H.indices, H.indptr, free, add, held)
        factor = Cholesky().factor(self._part, self.analysis)
        self.analysis = factor.memory
        return lambda b: factor.solve(np.where(free, b, 0.0))


def _narrow_solve(H: sp.csr_matrix, at: Envelope, free: BoolArray, add: Array, held: float) -> Solve:
    """What `BoxMatrix.factor` returns, by envelopes."""
    L = envelope.fill(at.first, at.start, (H.data, H.indices, H.indptr), at.rank, free, add, held)
    bad = envelope.factor(at.first, at.start, L)
    if bad >= 0:
        row = int(np.flatnonzero(at.rank == bad)[0])
        raise NotPositiveDefinite(f"the pivot of row {row} of a box programme is not positive", where="SparseBox")
    return lambda b: np.asarray(envelope.solve(at.first, at.start, L, at.rank, free, b))


@njit(cache=True, error_model="numpy")
def _masked(data: Array, indices: IntArray, indptr: IntArray, free: BoolArray, add: Array, held: float) -> Array:
    """The values of H + diag(add) on the free variables, of ``held`` times the identity on the others."""
    out = np.zeros_like(data)
    for i in range(len(free)):
        for k in range(indptr[i], indptr[i + 1]):
            j = indices[k]
            if free[i] and free[j]:
                out[k] = data[k] + (add[i] if i == j else 0.0)
            elif i == j:
                out[k] = held
    return out
