"""The derivative of a Cholesky factor: A = L L^T and dA/dt give dL/dt [Weidner2022, Ch. 5 and App. C].

    dL = L Phi(L^-1 dA L^-T),      Phi = strict lower triangle + half the diagonal

`dchol` is the sparse, supernodal one; `dchol_difference` what the thesis uses (two factorizations); `dchol_dense` and
`dchol_blocks` are the printed algorithms with their misprints corrected, for small matrices and as oracles.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import NotPositiveDefinite, PliantError
from pliant.kernels import supernodal as kernels
from pliant.kernels.blas import routines
from pliant.linear.cholesky import Analysis, Cholesky
from pliant.linear.supernodal import SupernodalLayout
from pliant.linear.threads import one_thread

USABLE_PIVOT = 0.1  # a diagonal entry of the extrapolated factor below this part of L's makes it useless


class ExtrapolatedFactor:
    """Solves with (L + dt Ldot)(L + dt Ldot)^T."""

    inner = 0
    backend = "supernodal"

    def __init__(self, layout: SupernodalLayout, panels: Array, memory: Analysis, analysed: bool) -> None:
        self.memory, self.analysed = memory, analysed
        self._layout, self._panels = layout, panels

    def solve(self, b: Array) -> Array:
        """x (N,) or (N, k)."""
        return self._layout.solve(self._panels, b.reshape(len(b), -1)).reshape(b.shape)


@dataclass(frozen=True)
class FactorRate:
    """L and Ldot of one matrix in the same panels; ``memory`` and ``analysed`` as in a `Factor`."""

    layout: SupernodalLayout
    panels: Array
    rates: Array
    memory: Analysis
    analysed: bool

    @property
    def order(self) -> IntArray:
        """The elimination order: A[order][:, order] = L L^T."""
        return self.layout.structure.order

    @property
    def L(self) -> sp.csc_matrix:
        """The lower triangular factor in elimination order."""
        return self.layout.matrix(self.panels)

    @property
    def Ldot(self) -> sp.csc_matrix:
        """Its time derivative, in the pattern of L."""
        return self.layout.matrix(self.rates)

    def pivot_ratio(self, dt: float) -> float:
        """The smallest diagonal entry of L + dt Ldot relative to that of L (-inf if not finite)."""
        diagonal = self.layout.structure.diagonal()
        ratio = 1.0 + dt * self.rates[diagonal] / self.panels[diagonal]
        return float(ratio.min()) if np.isfinite(ratio).all() else -np.inf

    def extrapolated(self, dt: float) -> ExtrapolatedFactor:
        """The factor L + dt Ldot, dt [s]; dt = 0 is the factor itself. Raises if a pivot gets lost on the way."""
        ratio = self.pivot_ratio(dt)
        if not ratio > USABLE_PIVOT:
            raise NotPositiveDefinite(
                f"a pivot of the factor extrapolated by dt = {dt:g} is {ratio:.3g} of what it was",
                where="FactorRate.extrapolated",
                remedy="use a smaller dt, or the factor itself (dt = 0)",
            )
        ahead = self.layout.panels()
        kernels.move(ahead, self.panels, self.rates, dt)
        return ExtrapolatedFactor(self.layout, ahead, self.memory, self.analysed)


def dchol(A: sp.csr_matrix, Adot: sp.csr_matrix, memory: Any = None) -> FactorRate:
    """L and its analytic time derivative in one supernodal sweep, every product becoming three.

    Both matrices are full, symmetric, with the same pattern; ``memory`` is that of an earlier factor.
    """
    memory, analysed = _analysed(A, Adot, memory)
    layout = memory.engine.layout
    panels, rates = layout.panels(), layout.panels()
    layout.fill(panels, memory.engine.gather(A.data))
    layout.fill(rates, memory.engine.gather(Adot.data))
    with one_thread():
        bad = kernels.factor_and_rate(routines(), layout.structure.arrays, panels, rates)
    if bad >= 0:
        raise _indefinite(int(layout.structure.order[bad]), "dchol")
    return FactorRate(layout, panels, rates, memory, analysed)


def dchol_difference(
    A: sp.csr_matrix, Adot: sp.csr_matrix, memory: Any = None, *, step: float | None = None
) -> FactorRate:
    """Ldot = (chol(A + e Adot) - chol(A)) / e, with e = 1e-6 ||A|| / ||Adot|| unless ``step`` [s] is given.

    With e = dt the extrapolated factor is exactly that of the predicted matrix A + dt Adot.
    """
    memory, analysed = _analysed(A, Adot, memory)
    layout = memory.engine.layout
    size, rate = (float(np.sqrt(np.square(S.data).sum())) for S in (A, Adot))
    e = step if step is not None else 1e-6 * size / rate if rate > 0.0 else 1.0
    factors = []
    for values in (A.data, A.data + e * Adot.data):
        engine = memory.engine.twin()
        bad = engine.refactor(engine.gather(values))
        if bad >= 0:
            raise _indefinite(bad, "dchol_difference")
        factors.append(engine.L)
    panels, ahead = factors
    kernels.difference(ahead, panels, e)
    return FactorRate(layout, panels, ahead, memory, analysed)


def dchol_dense(A: Array, dA: Array) -> tuple[Array, Array]:
    """(L, dL) of a dense matrix, column by column [Weidner2022, Alg. 5.1 and 5.2, corrected]."""
    L, dL = np.tril(A).astype(np.float64), np.tril(dA).astype(np.float64)
    for j in range(len(A)):
        dL[j:, j] -= dL[j:, :j] @ L[j, :j] + L[j:, :j] @ dL[j, :j]
        L[j:, j] -= L[j:, :j] @ L[j, :j]
        if not L[j, j] > 0.0:
            raise _indefinite(j, "dchol_dense")
        L[j, j] = np.sqrt(L[j, j])
        dL[j, j] /= 2.0 * L[j, j]
        L[j + 1 :, j] /= L[j, j]
        dL[j + 1 :, j] = (dL[j + 1 :, j] - L[j + 1 :, j] * dL[j, j]) / L[j, j]
    return L, dL


def dchol_blocks(A: Array, dA: Array, sizes: IntArray) -> tuple[Array, Array]:
    """(L, dL) of a dense matrix by block columns of the given ``sizes`` [Weidner2022, App. C, corrected]."""
    edges = np.concatenate([[0], np.cumsum(sizes)])
    L, dL = A.astype(np.float64), dA.astype(np.float64)
    for a, b in zip(edges[:-1], edges[1:]):
        left, own = slice(0, a), slice(a, b)
        below, down = slice(b, None), slice(a, None)
        dL[down, own] -= dL[down, left] @ L[own, left].T + L[down, left] @ dL[own, left].T
        L[down, own] -= L[down, left] @ L[own, left].T
        Ljj = scipy.linalg.cholesky(L[own, own], lower=True)  # reads the lower half: the upper one holds stale values
        dLjj = Ljj @ _phi(_both_sides(Ljj, dL[own, own]))
        L[own, own], dL[own, own] = Ljj, dLjj
        L[below, own] = scipy.linalg.solve_triangular(Ljj, L[below, own].T, lower=True).T
        rest = dL[below, own] - L[below, own] @ dLjj.T
        dL[below, own] = scipy.linalg.solve_triangular(Ljj, rest.T, lower=True).T
    return np.tril(L), np.tril(dL)


def _both_sides(L: Array, S: Array) -> Array:
    """L^-1 S L^-T."""
    half = scipy.linalg.solve_triangular(L, S, lower=True)
    return scipy.linalg.solve_triangular(L, half.T, lower=True).T


def _phi(S: Array) -> Array:
    return np.tril(S, -1) + 0.5 * np.diag(np.diag(S))


def _analysed(A: sp.csr_matrix, Adot: sp.csr_matrix, memory: Any) -> tuple[Analysis, bool]:
    """The supernodal analysis of A's pattern, taken from ``memory`` if it fits, and whether it is new."""
    if not (np.array_equal(A.indptr, Adot.indptr) and np.array_equal(A.indices, Adot.indices)):
        raise PliantError("A and Adot have different patterns", where="dchol", remedy="assemble both on one pattern")
    return Cholesky("supernodal").analysis(A, memory)


def _indefinite(row: int, where: str) -> NotPositiveDefinite:
    return NotPositiveDefinite(
        f"the pivot of row {row} is not positive", where=where, remedy="project the Hessian (psd=True)"
    )
