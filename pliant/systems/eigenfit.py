"""EigenFit: a coarse mesh that vibrates with the frequencies of a fine one. [Chen2019, Eq. 3.4-3.10, corrected]

With the lowest s modes of the coarse elastic stiffness at q, K U = M U Lam, U^T M U = I (K = +d2W/dq2 here), and the
ratios r_i = lam_fine,i / lam_coarse,i at rest,

    K# = K + W (R - I) Lam W^T,    f# = f_elastic + W (R - I) U^T f_elastic,    W = K U Lam^-1

W is M U on the free coordinates, and on the prescribed ones what makes f# an internal force: no net push when a
support moves. Only the elastic force is corrected; everything else of the wrapped system stays. Matrices carry the
correction as a low-rank term (`pliant.linear.lowrank`), so that any integrator and solver works. Where the rest of the
matrix is a combination of M and K, its inverse on the modes is known and the correction costs no further solve.

Modes belong to the start of a step, as in the source: a stage keeps those of the state it sets out from. In a system of
several bodies they are those of each fitted body alone (M and K are block-diagonal): others are left as they are.
"""

from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag

from pliant.abilities import read_out
from pliant.arrays import Array, IntArray
from pliant.energies.base import Internal
from pliant.errors import SceneError
from pliant.linear.cholesky import Cholesky
from pliant.linear.lowrank import Corrected, corrected
from pliant.pattern import csr
from pliant.state import Counts, State
from pliant.systems.acted import Acted
from pliant.systems.base import Weights, distinct
from pliant.systems.eigenfit_modes import MATCH, Finder, Fit, Matching, Mismatch, Start
from pliant.systems.eigenfit_terms import AddedForce, CorrectionEnergy, Spectrum
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.row_contact import vertex_step
from pliant.velocity_step import Linearisation, Prepared

__all__ = ["MATCH", "EigenFit", "Fit", "Spectrum"]


class EigenFit:
    """The coarse ``system`` with the frequencies of the fit, or of the fits of several bodies in it, as a System.

    ``alpha, beta`` add the damping alpha M + beta K# to these bodies. ``frozen=True`` keeps the modes of the rest
    state, which is exact for linear materials; for these the correction has a potential, in the ledger as the energy
    "eigenfit". Otherwise it has none, and the ledger has its work instead. ``rematch=True`` gives every mode the ratio
    of the rest mode that it resembles (1 if it resembles none) instead of the one with its number. ``on_mismatch``
    decides what happens when fewer than half of the modes of a body resemble one at rest: a warning (once), an error, a
    warning and the uncorrected coarse mesh as long as this lasts, or nothing. K of fitted bodies is projected
    (``psd``) always or never, so that modes and matrices agree. Modes are refined until they rotate by less than
    ``tolerance`` (the sine of an angle; the remaining error is a fraction of it, and its square for eigenvalues). With
    unit ratios and no damping it is the wrapped system, bit for bit.
    """

    symmetric: ClassVar[bool] = True

    # the correction changes none of these
    X, rest, free, scale = read_out("inner.X"), read_out("inner.rest"), read_out("inner.free"), read_out("inner.scale")
    mass, inertia, weights = read_out("inner.mass"), read_out("inner.inertia"), read_out("inner.weights")
    total_mass, free_mass = read_out("inner.total_mass"), read_out("inner.free_mass")
    begin, prescribe, limit = read_out("inner.begin"), read_out("inner.prescribe"), read_out("inner.limit")
    positions, cells, momenta = read_out("inner.positions"), read_out("inner.cells"), read_out("inner.momenta")
    point_jacobian, curvature = read_out("inner.point_jacobian"), read_out("inner.curvature")
    rigid_rates, dissipation = read_out("inner.rigid_rates"), read_out("inner.dissipation")
    contact, contacts = read_out("inner.contact"), read_out("inner.contacts")
    min_distance, corrected = read_out("inner.min_distance"), read_out("inner.corrected")
    pushed, pairs, exchanges = read_out("inner.pushed"), read_out("inner.pairs"), read_out("inner.exchanges")

    def __init__(
        self,
        system: Elastodynamics,
        fit: Fit | Sequence[Fit],
        *,
        alpha: float = 0.0,
        beta: float = 0.0,
        frozen: bool = False,
        rematch: bool = False,
        on_mismatch: Mismatch = "warn",
        psd: bool = True,
        tolerance: float = 0.03,
    ) -> None:
        self.inner, self.fits = system, (fit,) if isinstance(fit, Fit) else tuple(fit)
        self.alpha, self.beta, self.psd = alpha, beta, psd
        self.frozen = frozen
        rest, M = system.X.ravel(), system.mass(system.X.ravel())
        self._fitted = np.zeros(len(rest), dtype=bool)
        for one in self.fits:
            self._fitted[one.body] = True
        self.elastic = tuple(
            e for e in system.energy_terms if isinstance(e, Internal) and self._reached(e.hessian(rest))
        )
        if not self.elastic:
            raise SceneError("no elastic energy to correct", where="EigenFit", remedy="wrap a system with a solid body")
        self._damped = alpha != 0.0 or beta != 0.0
        self._plain = not self._damped and all((one.ratios == 1.0).all() for one in self.fits)
        self._others = self._without_elastic(system)
        self._proportional = self._left_alone(rest)
        self._M_free = sp.csr_matrix(system.restrict(M))
        mine = np.repeat(self._fitted, np.diff(M.indptr))
        self._M, self._M_others = (csr(M.data * part, M.indices, M.indptr, M.shape) for part in (mine, ~mine))
        self._held_rows = np.setdiff1d(np.arange(len(rest)), self.free)
        self._finders = [Finder(one, self._rows(one), M, self._elastic_stiffness, rest, tolerance) for one in self.fits]
        self._matchings = [
            Matching(one, finder.mass(one.modes), rematch, on_mismatch)
            for one, finder in zip(self.fits, self._finders, strict=True)
        ]
        self._starts: tuple[Start, ...] = ()
        self._follow = False
        self._held: Spectrum | None = None
        self._last: Spectrum | None = None  # of the last q asked for: force and tangent ask at the same one
        if frozen:
            modes, lam = [one.modes for one in self.fits], [one.coarse for one in self.fits]
            self._held = self._spectrum(rest, self._elastic_stiffness(rest), modes, lam)
        self._conservative = self._held is not None and not self._plain and self._is_linear(self._held)

    @property
    def fit(self) -> Fit:
        """The fit, or the first of several."""
        return self.fits[0]

    def _rows(self, fit: Fit) -> IntArray:
        """The free coordinates of the body of a fit."""
        rows = np.intersect1d(self.free, np.arange(self.X.size)[fit.body])
        if len(fit.modes) != len(rows):
            raise SceneError(
                f"a fit over {len(fit.modes)} coordinates for a body with {len(rows)} free ones",
                where="EigenFit",
                remedy="fit again: the constraints have changed",
            )
        return rows

    def _reached(self, A: sp.csr_matrix) -> bool:
        """Whether a matrix has entries in rows of fitted bodies; zeros on diagonals are in every pattern."""
        rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        return bool((self._fitted[rows] & ((A.data != 0.0) | (A.indices != rows))).any())

    def _left_alone(self, rest: Array) -> bool:
        """Whether nothing else than the energies corrected has matrices that reach fitted bodies."""
        v, others = np.zeros_like(rest), self._others
        for f in others.force_terms:
            parts = f.stiffness(rest, v, 0.0), f.damping(rest, v, 0.0)
            if not any(A.nnz for A in parts) or any(self._reached(A) for A in parts):
                return False
        return not any(self._reached(e.hessian(rest)) for e in others.energy_terms)

    def _is_linear(self, x: Spectrum) -> bool:
        """Whether K does not depend on q: then a correction by fixed modes has a potential."""
        return np.array_equal(self._elastic_stiffness(x.q + 0.01 * self.scale * np.sin(x.q)).data, x.K.data)

    def _without_elastic(self, system: Elastodynamics) -> Elastodynamics:
        others = copy(system)  # shares patterns and slots; only the terms differ
        others.energy_terms = tuple(e for e in system.energy_terms if e not in self.elastic)
        return others

    # ------------------------------------------------------------------------------------------------ modes

    def acting(self, q: Array, v: Array, t: float) -> Acted | None:
        """Contact forces on the vertices in a stage."""
        return self.inner.acting(q, v, t)

    def at(self, start: State, t: float, c: float = 0.0) -> "EigenFit":
        """The system of a stage that sets out from ``start``: its modes, and its contacts, are those found there."""
        fixed = copy(self)
        fixed.inner = self.inner.at(start, t, c)
        if fixed.inner is not self.inner:
            fixed._others, fixed._proportional = self._without_elastic(fixed.inner), False
        if not (self.frozen or self._plain):
            fixed._held = self.spectrum(start.q)
        return fixed

    def near(self, starts: tuple[Start, ...]) -> "EigenFit":
        """The system of one step that follows the modes of the last one instead of seeking them from those at rest."""
        near = copy(self)
        near._starts, near._follow, near._last = starts, True, None
        return near

    @property
    def last(self) -> Spectrum | None:
        """The spectrum computed last; None when none was, or when the modes are frozen."""
        return self._last

    def spectrum(self, q: Array) -> Spectrum:
        """The coarse modes at q, or those of the stage. Unless followed, they depend on q alone: restarts are exact."""
        if self._held is not None:
            return self._held
        if self._last is None or not np.array_equal(self._last.q, q):
            K = self._elastic_stiffness(q)
            starts = self._starts or [None] * len(self._finders)
            found = [f.find(K, q, at, follow=self._follow) for f, at in zip(self._finders, starts, strict=True)]
            kept = {"starts": tuple(x.start for x in found), "counts": sum((x.counts for x in found), Counts())}
            self._last = self._spectrum(q, K, [x.U for x in found], [x.lam for x in found], **kept)
        return self._last

    def _elastic_stiffness(self, q: Array) -> sp.csr_matrix:
        first, *others = (e.hessian(q, psd=self.psd) for e in self.elastic)
        if not others and self.inner.pattern.holds(first):
            return first
        return self.inner.weighted_sum([(1.0, K) for K in (first, *others)])

    def _spectrum(self, q: Array, K: sp.csr_matrix, modes: list[Array], lams: list[Array], **kept: Any) -> Spectrum:
        matched = [matching.ratios(U) for matching, U in zip(self._matchings, modes, strict=True)]
        ratios, lam = np.concatenate([r for r, _ in matched]), np.concatenate(lams)
        U, W, last = np.zeros((len(q), len(lam))), np.zeros((len(q), len(lam))), 0
        for finder, mine in zip(self._finders, modes, strict=True):
            first, last = last, last + mine.shape[1]
            U[finder.rows, first:last], W[finder.rows, first:last] = mine, finder.mass(mine)
        W[self._held_rows] = K[self._held_rows] @ (U / np.where(ratios == 1.0, np.inf, lam))  # rigid modes: ratio 1
        return Spectrum(q, K, U, W, lam, ratios, block_diag(*(overlap for _, overlap in matched)), **kept)

    # ------------------------------------------------------------------------------------------------ physics

    def force(self, q: Array, v: Array, t: float) -> Array:
        if self._plain:
            return self.inner.force(q, v, t)
        if self.inner.contact is not None:
            return self.at(State(q, v, t), t).force(q, v, t)
        f = self.elastic_force(q)
        f = self._others.force(q, v, t) + f + self.spectrum(q).correction(f)
        return f + self.rayleigh_force(q, v) if self._damped else f

    def elastic_force(self, q: Array) -> Array:
        return -sum((e.gradient(q) for e in self.elastic[1:]), self.elastic[0].gradient(q))

    def rayleigh_force(self, q: Array, v: Array) -> Array:
        """-(alpha M + beta K#) v."""
        x = self.spectrum(q)
        Kv = x.K @ v + x.W @ ((x.ratios - 1.0) * x.lam * (x.W.T @ v))
        return -(self.alpha * (self._M @ v) + self.beta * Kv)

    def acceleration(self, q: Array, v: Array, t: float) -> Array:
        return self.accelerated(q, self.force(q, v, t))

    def accelerated(self, q: Array, f: Array) -> Array:
        """M^-1 f on the free coordinates, zero on the prescribed ones."""
        a = np.zeros_like(q)
        a[self.free] = Cholesky().factor(self._M_free).solve(f[self.free])
        return a

    def stiffness(self, q: Array, v: Array, t: float, *, psd: bool = False) -> sp.csr_matrix:
        """K of f# with the modes as they are; exact where they belong to q, or the material is linear."""
        if self._plain:
            return self.inner.stiffness(q, v, t, psd=psd)
        return -self.tangent(q, v, t, (0.0, 0.0, 1.0), psd=psd)

    def damping(self, q: Array, v: Array, t: float) -> sp.csr_matrix:
        if not self._damped:
            return self.inner.damping(q, v, t)
        if self.inner.contact is not None:
            return self.at(State(q, v, t), t).damping(q, v, t)
        x, D = self.spectrum(q), self._others.damping(q, v, t)
        return self._corrected(
            self.inner.weighted_sum([(-self.beta, x.K), (-self.alpha, self._M), (1.0, D)]), x, -self.beta
        )

    def tangent(
        self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True, a: Array | None = None
    ) -> sp.csr_matrix:
        if self._plain:
            return self.inner.tangent(q, v, t, weights, psd=psd)
        if self.inner.contact is not None:
            return self.at(State(q, v, t), t).tangent(q, v, t, weights, psd=psd)
        return self._tangent(partial(self._others.tangent, psd=psd), q, v, t, weights)

    def persistent_tangent(self, q: Array, v: Array, t: float, weights: Weights, *, psd: bool = True) -> sp.csr_matrix:
        """The tangent without the blocks that couple the two sides of contact pairs."""
        if self._plain:
            return self.inner.persistent_tangent(q, v, t, weights, psd=psd)
        if self.inner.contact is not None:
            return self.at(State(q, v, t), t).persistent_tangent(q, v, t, weights, psd=psd)
        return self._tangent(partial(self._others.persistent_tangent, psd=psd), q, v, t, weights)

    def _tangent(self, others: Any, q: Array, v: Array, t: float, weights: Weights) -> sp.csr_matrix:
        w_mass, w_damping, w_stiffness = weights
        x = self.spectrum(q)
        c_m, c_k = w_mass + w_damping * self.alpha, w_stiffness + w_damping * self.beta
        K = x.K if np.array_equal(x.q, q) else self._elastic_stiffness(q)
        here = K is x.K or np.array_equal(K.data, x.K.data)  # linear materials: everywhere
        parts = [(c_k, K)] if here else [(w_stiffness, K), (w_damping * self.beta, x.K)]
        rest = (1.0, others(q, v, t, (c_m, w_damping, w_stiffness)))
        A = self.inner.weighted_sum([*parts, rest, (-w_damping * self.alpha, self._M_others)])
        return self._corrected(A, x, c_k, c_m if here and self._proportional else None)

    def _corrected(self, A: sp.csr_matrix, x: Spectrum, c_k: float, c_m: float | None = None) -> sp.csr_matrix:
        """A + c_k W (R - I) Lam W^T; A^-1 M U = U / (c_m + c_k lam) is known when A = c_m M + c_k K."""
        if (x.ratios == 1.0).all() or c_k == 0.0:
            return A
        c = c_k * (x.ratios - 1.0) * x.lam
        if c_m is None:
            return corrected(A, x.W, c)
        return corrected(A, x.W, c, x.U / (c_m + c_k * x.lam))

    def restrict(self, A: Any) -> sp.csr_matrix:
        if not isinstance(A, Corrected) or A.W is None:
            return self.inner.restrict(A)
        X = None if A.X is None else A.X[self.free]
        return corrected(self.inner.restrict(A.sparse()), A.W[self.free], A.c, X)

    # ------------------------------------------------------------------------------------------------ the rest

    def potential(self, q: Array, t: float) -> float | None:
        """None unless modes and K are constant and nothing damps: the force has no potential then."""
        if self._plain:
            return self.inner.potential(q, t)
        inner = self.inner.potential(q, t) if self._conservative and not self._damped else None
        return None if inner is None else inner + self.spectrum(q).energy(self.elastic_force(q))

    def prepare(self, state: State, h: float, memory: Any, how: Linearisation) -> Prepared:
        """The velocity step of the coarse vertices that are not pinned."""
        return vertex_step(self, self.contact, state, h, how)

    def energies(self, q: Array, v: Array, t: float) -> dict[str, float]:
        """Those of the coarse system, and what the correction stores where it has a potential."""
        out = self.inner.energies(q, v, t)
        if self._conservative:
            out[distinct([*out, "eigenfit"])[-1]] = self.spectrum(q).energy(self.elastic_force(q))
        return out

    @property
    def energy_terms(self) -> tuple[Any, ...]:
        if not self._conservative:
            return self.inner.energy_terms
        return (*self.inner.energy_terms, CorrectionEnergy(self.spectrum(self.X.ravel()), self.elastic_force))

    @property
    def force_terms(self) -> tuple[Any, ...]:
        added = []
        if not (self._conservative or self._plain):
            added.append(AddedForce("eigenfit", lambda q, v: self.spectrum(q).correction(self.elastic_force(q))))
        if self._damped:
            added.append(AddedForce("damping", self.rayleigh_force))
        return (*self.inner.force_terms, *added)
