"""The modes that EigenFit corrects: what a fit found at rest, and the modes at some q, sought from rest or followed."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.linear.base import Factor
from pliant.linear.cholesky import Cholesky
from pliant.linear.davidson import Operator, refined
from pliant.linear.modes import Modes, ShiftInvert, lowest
from pliant.pattern import taken
from pliant.state import Counts, Transient

MATCH = 0.6  # |u_i . u_j| above which two modes are the same
Mismatch = Literal["raise", "warn", "coarse", "ignore"]  # what to do where too few modes resemble those at rest
GUARDS = 2  # modes computed beyond the corrected ones: they keep clusters together
BLOCKS = 6  # of right-hand sides that modes are refined with before they get an eigen-solve of their own
OLD = 1  # blocks beyond which followed modes are worth a new factor


@dataclass(frozen=True, eq=False)
class Fit:
    """What a fit found at rest: ratios, eigenvalues [1/s^2], coarse modes over the free coordinates, and their overlap.

    ``overlap[i, j]`` = |(B u_coarse,i)^T M u_fine,j|, columns normalised; 1 when the modes are the same shape.
    ``body`` are the coordinates of the fitted body in the system: modes are those of this body alone.
    """

    ratios: Array  # (s,)
    coarse: Array  # (s,)
    fine: Array  # (s,) of the fine mode that each coarse one is paired with
    modes: Array  # (n_free, s)
    overlap: Array  # (s, s)
    body: slice = field(default_factory=lambda: slice(None))

    @property
    def matched(self) -> int:
        """How many coarse modes have a fine one of the same shape."""
        return int(np.count_nonzero(self.overlap.max(axis=1, initial=0.0) > MATCH))


@dataclass(frozen=True, eq=False)
class Matching:
    """The ratios of modes at some q: by their number, or with ``rematch`` by the mode at rest that each resembles."""

    fit: Fit
    M_rest: Array  # M times the modes at rest (n_free, s)
    rematch: bool
    on_mismatch: Mismatch
    warned: list[str] = field(default_factory=list)  # one warning is enough

    def ratios(self, U: Array) -> tuple[Array, Array]:
        """Of the modes U (n_free, s): their ratios (s,), and their overlap with those at rest (s, s)."""
        overlap = np.abs(U.T @ self.M_rest)
        found = overlap.max(axis=1) > MATCH
        ratios = np.where(found, self.fit.ratios[overlap.argmax(axis=1)], 1.0) if self.rematch else self.fit.ratios
        lost = self._lost(int(np.count_nonzero(found)), U.shape[1])
        return np.ones_like(ratios) if lost else ratios, overlap

    def _lost(self, resembling: int, s: int) -> bool:
        """Whether to fall back to the coarse mesh, by the source's test: do half of the modes resemble one at rest?

        [Chen2019, sec. 3.3.5]
        """
        if 2 * resembling >= s or self.on_mismatch == "ignore":
            return False
        what = f"only {resembling} of {s} modes still resemble those at rest (overlap > {MATCH})"
        remedy = "use rematch=True, fewer modes, a finer coarse mesh or a stiffer material"
        if self.on_mismatch == "raise":
            raise SceneError(what, where="EigenFit", remedy=remedy)
        if not self.warned:
            self.warned.append(what)
            instead = "; the coarse mesh moves as it is" if self.on_mismatch == "coarse" else ""
            warnings.warn(f"EigenFit: {what}{instead}; {remedy}", stacklevel=2)
        return self.on_mismatch == "coarse"


@dataclass(frozen=True, eq=False)
class Start:
    """Where a search for modes starts: the span of ``U (n_free, >= s)`` and the factor of K - shift M at ``q`` (N,).

    The factor is made again after a restart.
    """

    U: Array
    q: Array
    factor: Transient | None


@dataclass(frozen=True, eq=False)
class Found:
    """The s lowest modes over the free coordinates, where the next search may start, and what they cost."""

    U: Array
    lam: Array
    start: Start
    counts: Counts


class Finder:
    """Finds the s lowest modes of a body; keeps nothing but its modes and factors at rest, which do not change.

    ``rows`` are its free coordinates in a system with the stiffness ``stiffness(q)`` and the mass ``M``, both (N, N);
    ``tolerance`` is the sine of the angle by which the modes may turn in the last block of the search (the error left
    is a fraction of it).
    """

    def __init__(
        self,
        fit: Fit,
        rows: IntArray,
        M: sp.csr_matrix,
        stiffness: Callable[[Array], sp.csr_matrix],
        rest: Array,
        tolerance: float,
    ) -> None:
        self._fit, self.rows, self._stiffness, self._tolerance = fit, rows, stiffness, tolerance
        self._s, self._shift, self._rest_q = len(fit.ratios), -0.1 * float(np.abs(fit.coarse).mean()), rest
        self._M = self._own(M)
        self.mass = mass_product(self._M)
        self._analysis: Any = None

    def _own(self, A: sp.csr_matrix) -> sp.csr_matrix:
        return taken(A, self.rows, self.rows)

    @cached_property
    def rest(self) -> Start:
        """The modes at rest, with a few guards."""
        K = self._own(self._stiffness(self._rest_q))
        return Start(self._solved(K, self._fit.modes)[0].U, self._rest_q, Transient(self._factor(K)))

    def find(self, K: sp.csr_matrix, q: Array, start: Start | None, *, follow: bool) -> Found:
        """The modes where the system has K = K(q), from ``start``, or from rest: then they are a function of q alone.

        With ``follow`` a start whose factor has grown too old for the modes gets a new one.
        """
        start, K = start or self.rest, self._own(K)
        old = start.factor or Transient(self._factor(self._own(self._stiffness(start.q))))
        sizes, tolerance = (self._s, min(self._s + GUARDS, start.U.shape[1])), self._tolerance
        near = refined(K.__matmul__, self.mass, old.value.solve, start.U, sizes, tolerance=tolerance, blocks=BLOCKS)
        U, lam, counts, factor = near.U, near.lam, Counts(solves=near.solves), None
        if near.turn > self._tolerance:
            modes, factor = self._solved(K, near.U)
            U, lam = modes.U, modes.lam
            counts += Counts(factorizations=1, solves=modes.solves)
        elif follow and near.blocks > OLD:
            factor = self._factor(K)
            counts += Counts(factorizations=1)
        recent = np.hstack([U, start.U[:, : U.shape[1]]])  # two steps span the modes of the third to second order
        next_start = Start(recent, start.q, old) if factor is None else Start(recent, q, Transient(factor))
        return Found(U[:, : self._s], lam[: self._s], next_start, counts)

    def _solved(self, K: sp.csr_matrix, guess: Array) -> tuple[Modes, Factor | None]:
        """An eigen-solve of its own; the factor it used where that is the one at the usual shift."""
        p = min(self._s + GUARDS, K.shape[0])
        try:
            factor = self._factor(K)
        except NotPositiveDefinite:  # the shift is not below the spectrum: `lowest` looks for one that is
            return lowest(K, self._M, p, guess=guess), None
        return lowest(K, self._M, p, inverse=ShiftInvert(factor, self._shift), guess=guess), factor

    def _factor(self, K: sp.csr_matrix) -> Factor:
        A = sp.csr_matrix(K - self._shift * self._M)
        A.sort_indices()
        factor = Cholesky().factor(A, self._analysis)
        self._analysis = factor.memory
        return factor


def mass_product(M: sp.csr_matrix, d: int = 3) -> Operator:
    """M @ U for blocks U; a mass that is the same for all d directions acts on them at once."""
    n = M.shape[0] // d
    small = sp.csr_matrix(M[::d, ::d])
    if n * d != M.shape[0] or (sp.kron(small, sp.identity(d), format="csr") != M).nnz:
        return M.__matmul__
    return lambda U: (small @ np.ascontiguousarray(U).reshape(n, -1)).reshape(U.shape)
