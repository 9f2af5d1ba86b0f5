"""EigenFit: a coarse mesh that vibrates with the frequencies of a fine one. [Chen2019, Eq. 3.4-3.10, corrected]

With the lowest s modes of the coarse elastic stiffness at q, K U = M U Lam, U^T M U = I (K = +d2W/dq2 here), and the
ratios r_i = lam_fine,i / lam_coarse,i at rest,

    K# = K + M U (R - I) Lam U^T M,    f# = f_elastic + M U (R - I) U^T f_elastic

Only the elastic force is corrected; everything else of the wrapped system stays. Matrices carry the correction as a
low-rank term (`pliant.linear.lowrank`), so that any integrator and solver works. Where the rest of the matrix is a
combination of M and K, its inverse on the modes is known and the correction costs no further solve.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.linear.cholesky import Cholesky
from pliant.linear.lowrank import Corrected, corrected
from pliant.linear.modes import ShiftInvert, lowest
from pliant.systems.base import Weights
from pliant.systems.elastodynamics import Elastodynamics

MATCH = 0.6  # |u_i . u_j| above which two modes are the same


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit found at rest: ratios, eigenvalues [1/s^2], coarse modes over the free coordinates, and their overlap.

    ``overlap[i, j]`` = |(B u_coarse,i)^T M u_fine,j|, columns normalised; 1 when the modes are the same shape.
    """

    ratios: Array  # (s,)
    coarse: Array  # (s,)
    fine: Array  # (s,) of the fine mode that each coarse one is paired with
    modes: Array  # (n_free, s)
    overlap: Array  # (s, s)

    @property
    def matched(self) -> int:
        """How many coarse modes have a fine one of the same shape."""
        return int(np.count_nonzero(self.overlap.max(axis=1, initial=0.0) > MATCH))


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The modes at some q and the ratios that belong to them."""

    q: Array
    U: Array  # (N, s), zero on prescribed coordinates
    MU: Array
    lam: Array
    ratios: Array
    overlap: Array  # (s, s) with the modes at rest


class EigenFit:
    """The coarse ``system`` with the fit's frequencies, as a System.

    ``alpha, beta`` add the damping alpha M + beta K#. ``frozen=True`` keeps the modes of the rest state, which is exact
    for linear materials. ``rematch=True`` gives every mode the ratio of the rest mode it resembles, and 1 when it
    resembles none, instead of going by its number; ``strict=True`` refuses a q where fewer than half of the modes
    resemble a rest mode. K is projected (``psd``) always or never, so that modes and matrices agree. Modes are computed
    to ``tolerance`` (sine of an angle), their eigenvalues to its square.
    """

    def __init__(
        self,
        system: Elastodynamics,
        fit: Fit,
        *,
        alpha: float = 0.0,
        beta: float = 0.0,
        frozen: bool = False,
        rematch: bool = False,
        strict: bool = False,
        psd: bool = True,
        tolerance: float = 1e-3,
    ) -> None:
        self.inner, self.fit = system, fit
        self.alpha, self.beta, self.psd = alpha, beta, psd
        self.rematch, self.strict, self.tolerance = rematch, strict, tolerance
        self.elastic = [e for e in system.energy_terms if e.name in ("elastic", "springs")]
        if not self.elastic:
            raise SceneError("no elastic energy to correct", where="EigenFit", remedy="wrap a system with a solid body")
        if len(fit.modes) != len(system.free):
            raise SceneError(
                f"a fit over {len(fit.modes)} coordinates for a system with {len(system.free)} free ones",
                where="EigenFit",
                remedy="fit again: the constraints have changed",
            )
        self.free: IntArray = system.free
        self.scale, self.X = system.scale, system.X
        others = [e for e in system.energy_terms if e not in self.elastic]
        rest = system.X.ravel()
        self._proportional = not system.force_terms and all(e.hessian(rest).nnz == 0 for e in others)
        self._M = system.mass(rest)
        self._M_free = sp.csr_matrix(system.restrict(self._M))
        self._frozen = self._at_rest() if frozen else None
        self._last: Spectrum | None = None  # of the last q asked for: force and tangent ask at the same one
        self._analysis: Any = None  # of the pattern of K

    # ------------------------------------------------------------------------------------------------ modes

    def spectrum(self, q: Array) -> Spectrum:
        """The coarse modes at q. They depend on q alone, not on the steps before: restarts are exact."""
        if self._frozen is not None:
            return self._frozen
        if self._last is None or not np.array_equal(self._last.q, q):
            K = self.inner.restrict(self._elastic_stiffness(q))
            inverse, s = self._inverse(K), len(self.fit.ratios)
            found = lowest(K, self._M_free, s, inverse=inverse, guess=self.fit.modes, tolerance=self.tolerance)
            self._last = self._matched(q, found.U, found.lam)
        return self._last

    def _inverse(self, K: sp.csr_matrix) -> ShiftInvert | None:
        """(K - shift M)^-1 with a shift a little below zero, analysed once; None if that is not below the spectrum."""
        shift = -0.1 * float(np.abs(self.fit.coarse).mean())
        A = sp.csr_matrix(K - shift * self._M_free)
        A.sort_indices()
        try:
            factor = Cholesky().factor(A, self._analysis)
        except NotPositiveDefinite:
            return None
        self._analysis = factor.memory
        return ShiftInvert(factor, shift)

    def _elastic_stiffness(self, q: Array) -> sp.csr_matrix:
        K = self.elastic[0].hessian(q, psd=self.psd)
        return K if len(self.elastic) == 1 else sum((e.hessian(q, psd=self.psd) for e in self.elastic[1:]), K)

    def _at_rest(self) -> Spectrum:
        return self._matched(self.inner.X.ravel(), self.fit.modes, self.fit.coarse)

    def _matched(self, q: Array, U_free: Array, lam: Array) -> Spectrum:
        overlap = np.abs(U_free.T @ (self._M_free @ self.fit.modes))
        found = overlap.max(axis=1) > MATCH
        if self.strict and 2 * np.count_nonzero(found) < len(lam):
            raise SceneError(
                f"only {np.count_nonzero(found)} of {len(lam)} modes still resemble those at rest",
                where="EigenFit",
                remedy="use rematch=True, fewer modes or a stiffer material",
            )
        ratios = self.fit.ratios
        if self.rematch:
            ratios = np.where(found, ratios[overlap.argmax(axis=1)], 1.0)
        U = np.zeros((len(q), len(lam)))
        U[self.free] = U_free
        return Spectrum(q, U, self._M @ U, lam, ratios, overlap)

    # ------------------------------------------------------------------------------------------------ physics

    def mass(self, q: Array) -> sp.csr_matrix:
        return self.inner.mass(q)

    def force(self, q: Array, v: Array, t: float) -> Array:
        x = self.spectrum(q)
        f = self.inner.force(q, v, t)
        elastic = -sum((e.gradient(q) for e in self.elastic[1:]), self.elastic[0].gradient(q))
        f = f + x.MU @ ((x.ratios - 1.0) * (x.U.T @ elastic))
        return f + self.damping(q, v, t) @ v - self.inner.damping(q, v, t) @ v

    def acceleration(self, q: Array, v: Array, t: float) -> Array:
        a = np.zeros_like(q)
        a[self.free] = Cholesky().factor(self._M_free).solve(self.force(q, v, t)[self.free])
        return a

    def stiffness(self, q: Array, v: Array, t: float, *, psd: bool = False) -> sp.csr_matrix:
        return self._corrected(self.inner.stiffness(q, v, t, psd=self.psd), q, -1.0)

    def damping(self, q: Array, v: Array, t: float) -> sp.csr_matrix:
        D = self.inner.damping(q, v, t)
        if self.alpha == 0.0 and self.beta == 0.0:
            return D
        K = self.inner.tangent(q, v, t, (-self.alpha, 0.0, -self.beta), psd=self.psd)
        return self._corrected(sp.csr_matrix(K + D) if D.nnz else K, q, -self.beta)

    def tangent(self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True) -> sp.csr_matrix:
        w_mass, w_damping, w_stiffness = weights
        c_m, c_k = w_mass + w_damping * self.alpha, w_stiffness + w_damping * self.beta
        A = self.inner.tangent(q, v, t, (c_m, w_damping, c_k), psd=self.psd)
        return self._corrected(A, q, c_k, c_m)

    def _corrected(self, A: sp.csr_matrix, q: Array, c_k: float, c_m: float | None = None) -> sp.csr_matrix:
        """A + c_k M U (R - I) Lam U^T M; A^-1 M U = U / (c_m + c_k lam) is known when A = c_m M + c_k K."""
        x = self.spectrum(q)
        if (x.ratios == 1.0).all():
            return A
        known = c_m is not None and self._proportional
        X = x.U / (c_m + c_k * x.lam) if c_m is not None and known else None
        return corrected(A, x.MU, c_k * (x.ratios - 1.0) * x.lam, X)

    def restrict(self, A: Any) -> sp.csr_matrix:
        if not isinstance(A, Corrected) or A.W is None:
            return self.inner.restrict(A)
        X = None if A.X is None else A.X[self.free]
        return corrected(self.inner.restrict(A.sparse()), A.W[self.free], A.c, X)

    # ------------------------------------------------------------------------------------------------ the rest

    def prescribe(self, q: Array, t: float) -> Array:
        return self.inner.prescribe(q, t)

    def limit(self, q: Array, dq: Array) -> float:
        return self.inner.limit(q, dq)

    def potential(self, q: Array, t: float) -> float | None:
        """None: with modes that depend on q the corrected force has no potential."""
        return None

    def positions(self, q: Array) -> Array:
        return self.inner.positions(q)

    def energies(self, q: Array, v: Array, t: float) -> dict[str, float]:
        """Those of the coarse system, the correction not included."""
        return self.inner.energies(q, v, t)
