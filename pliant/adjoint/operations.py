"""The operations of time stepping methods, each with its tangent and its adjoint.

A stage at its root,  r(q) = M (q - target) - c^2 f(q, (q - base)/c, t; p) = 0,  changes by

    A dq = M dtarget - c D dbase + d_p (c^2 f - M (q - target)) dp,        A = dr/dq = M - c D - c^2 K exactly

on the free coordinates. The adjoint solves A^T y = qbar once: target gets M y, base - c D^T y, and p the last term.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.adjoint.exact import exact_tangent, start_slope
from pliant.adjoint.moment import Moment
from pliant.adjoint.parameters import Parameters
from pliant.adjoint.tape import Vector
from pliant.arrays import Array, IntArray
from pliant.errors import NotPositiveDefinite
from pliant.linear.automatic import Automatic
from pliant.linear.base import Factor, LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.lu import LU
from pliant.linear.refined import RefinedCholesky
from pliant.state import State

# As a run's own solver has it, so that the buffers of its factor are shared; then what single precision cannot tell.
DEFINITE: tuple[LinearSolver, ...] = (Automatic(large=RefinedCholesky()), Cholesky())


@dataclass
class Algebra:
    """What the linear solves of one tape share: the analysis of the last pattern, and their worst residual."""

    memory: Any = None
    solves: int = 0
    indefinite: int = 0
    residual: float = 0.0

    def factored(self, A: sp.csr_matrix, symmetric: bool) -> Factor:
        for linear in DEFINITE if symmetric else ():
            try:
                factor = linear.factor(A, self.memory)
                self.memory = factor.memory
                return factor
            except NotPositiveDefinite:
                continue
        self.indefinite += symmetric
        return LU().factor(A)

    def solve(self, A: sp.csr_matrix, b: Array, symmetric: bool) -> Array:
        """x with A x = b, refined once; the residual is remembered relative to b."""
        factor = self.factored(A, symmetric)
        x = factor.solve(b)
        x = x + factor.solve(b - A @ x)
        self.solves += 1
        size = float(np.linalg.norm(b))
        if size > 0.0:
            self.residual = max(self.residual, float(np.linalg.norm(b - A @ x)) / size)
        return np.asarray(x)


def by_columns(f: Callable[[Array], Array], X: Array) -> Array:
    """f of every column of X (N, k)."""
    return np.stack([f(x) for x in X.T], axis=1)


@dataclass(eq=False)
class SolvedStage:
    """A stage at its root q; inputs are its target, its base, and where it set out from.

    ``system`` is the one without the contacts of the stage, ``live`` has them; lagged friction depends on the start.
    Of the vectors only the root is kept, the others are sums over ``slots``. With closures, ``multipliers`` are the
    other unknowns:

        [A - d(G^T y)/dq  -G^T] [dq]   [as above               ]
        [c d(gap)/dq        0 ] [dy] = [G dbase, for rates only]
    """

    system: Any
    live: Any
    start: State
    c: float
    t: float
    inertia: float
    q: Array
    slots: Sequence[Array]
    inputs: tuple[Vector, ...]
    algebra: Algebra
    multipliers: Array | None = None

    @property
    def _v(self) -> Array:
        """v = (q - base)/c; zero in quasistatics."""
        return (self.q - self.inputs[1].of(self.slots)) / self.c if self.inertia else np.zeros_like(self.q)

    @property
    def _d(self) -> Array:
        """q - target; zero in quasistatics."""
        return self.inertia * (self.q - self.inputs[0].of(self.slots))

    @property
    def _held(self) -> IntArray:
        return np.setdiff1d(np.arange(len(self.q)), self.live.free)

    @property
    def moment(self) -> Moment:
        """Where the equation g = c^2 f - M d stands."""
        return Moment(self.start, self.q, self._v, self.t, self.c**2, self._d, self.multipliers)

    @cached_property
    def _matrices(self) -> tuple[sp.csr_matrix, sp.csr_matrix | None, bool]:
        """dr over all unknowns, D, and whether the first is symmetric; prescribed coordinates are among them."""
        live, q, v, t, c = self.live, self.q, self._v, self.t, self.c
        weights = (self.inertia, self.inertia * c, c * c)
        D = live.damping(q, v, t) if self.inertia else None
        A, symmetric = exact_tangent(live, q, v, t, weights, self._d / c**2 if self.inertia else None)
        if self.multipliers is not None:
            A, symmetric = self._bordered(A, v, self.multipliers), False
        return A, D if D is not None and D.nnz else None, symmetric

    def _bordered(self, A: sp.csr_matrix, v: Array, multipliers: Array) -> sp.csr_matrix:
        """A with the rows and columns of the closures."""
        live, q, t = self.live, self.q, self.t
        found, rate = live.closures(q, v, t), 1.0 / self.c if self.inertia else 0.0
        curved, gaps = live.closure_tangent(q, v, t, multipliers, rate)
        lengths = np.where(found.positional, 1.0, self.c)
        return sp.csr_matrix(sp.bmat([[A - curved, -found.G.T], [sp.diags(lengths) @ gaps, None]]))

    @cached_property
    def _rates(self) -> sp.csr_matrix | None:
        """G of the rows that prescribe rates, zero in the others."""
        if self.multipliers is None:
            return None
        found = self.live.closures(self.q, self._v, self.t)
        return sp.csr_matrix(sp.diags(np.where(found.positional, 0.0, 1.0)) @ found.G)

    @cached_property
    def _start_slope(self) -> sp.csr_matrix | None:
        return start_slope(self.system, self.start, self.q, self._v, self.t, self.c) if self.inertia else None

    def _unknown(self, size: int) -> IntArray:
        """The unknowns of the solve: free coordinates and multipliers."""
        return np.concatenate([self.live.free, np.arange(len(self.q), size)])

    def _restricted(self, A: sp.csr_matrix, unknown: IntArray) -> sp.csr_matrix:
        return self.live.restrict(A) if self.multipliers is None else sp.csr_matrix(A[unknown][:, unknown])

    def tangent(self, changes: Sequence[Array], parameters: Parameters, rates: Array) -> Array:
        N, held = len(self.q), self._held
        A, D, symmetric = self._matrices
        target, base, start = changes
        b = parameters.along(self.moment, rates)
        if self.inertia:
            b[:N] += by_columns(lambda x: self.live.inertia(self.q, x), target)
        if D is not None:
            b[:N] -= self.c * (D @ base)
        if self._rates is not None:
            b[N:] += self._rates @ base
        if self._start_slope is not None:
            b[:N] += self.c**2 * (self._start_slope @ start)
        dz = np.zeros_like(b)
        dz[held] = parameters.placed(self.t, rates)[held]
        b = b - A @ dz
        unknown = self._unknown(len(b))
        dz[unknown] = self.algebra.solve(self._restricted(A, unknown), b[unknown], symmetric)
        self._forget()
        return dz[:N]

    def adjoint(self, bar: Array, parameters: Parameters, into: Array) -> Sequence[Array]:
        N, held = len(self.q), self._held
        A, D, symmetric = self._matrices
        whole = np.zeros(A.shape[0])
        whole[:N] = bar
        y, unknown = np.zeros_like(whole), self._unknown(len(whole))
        B = self._restricted(A, unknown)
        y[unknown] = self.algebra.solve(B if symmetric else sp.csr_matrix(B.T), whole[unknown], symmetric)
        parameters.gather(self.moment, y, into)
        if parameters.moves and len(held):
            placed = np.zeros_like(bar)
            placed[held] = (whole - A.T @ y)[held]
            parameters.gather_placed(self.t, placed, into)
        base, start = np.zeros_like(bar), np.zeros_like(bar)
        if D is not None:
            base -= self.c * (D.T @ y[:N])
        if self._rates is not None:
            base += self._rates.T @ y[N:]
        if self._start_slope is not None:
            start += self.c**2 * (self._start_slope.T @ y[:N])
        self._forget()
        return self.inertia * self.live.inertia(self.q, y[:N]), base, start

    def _forget(self) -> None:
        """Let go of the matrices: steps are kept, and these are large."""
        for name in ("_matrices", "_rates", "_start_slope"):
            self.__dict__.pop(name, None)


@dataclass(eq=False)
class Accelerated:
    """a = M^-1 f(q, v, t); inputs are q and v, sums over ``slots``."""

    system: Any
    slots: Sequence[Array]
    t: float
    inputs: tuple[Vector, ...]
    a: Array

    @property
    def moment(self) -> Moment:
        q, v = (x.of(self.slots) for x in self.inputs)
        return Moment(State(q, v, self.t), q, v, self.t, 1.0, self.a)

    def _matrices(self, at: Moment) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        q, v = at.q, at.v
        A, _ = exact_tangent(self.system, q, v, self.t, (0.0, 0.0, 1.0), self.a)
        lagged = start_slope(self.system, at.start, q, v, self.t)  # contacts are found where it is asked
        return -A if lagged is None else lagged - A, self.system.damping(q, v, self.t)

    def tangent(self, changes: Sequence[Array], parameters: Parameters, rates: Array) -> Array:
        at, (q, v) = self.moment, changes
        K, D = self._matrices(at)
        f = K @ q + D @ v + parameters.along(at, rates)
        return by_columns(lambda x: self.system.accelerated(at.q, x), f)

    def adjoint(self, bar: Array, parameters: Parameters, into: Array) -> Sequence[Array]:
        at = self.moment
        K, D = self._matrices(at)
        y = self.system.accelerated(at.q, bar)
        parameters.gather(at, y, into)
        return K.T @ y, D.T @ y


@dataclass(eq=False)
class Put:
    """q with the prescribed coordinates at their places of time t."""

    free: IntArray
    t: float
    inputs: tuple[Vector, ...]

    def tangent(self, changes: Sequence[Array], parameters: Parameters, rates: Array) -> Array:
        q = parameters.placed(self.t, rates)
        q[self.free] = changes[0][self.free]
        return q

    def adjoint(self, bar: Array, parameters: Parameters, into: Array) -> Sequence[Array]:
        mine, held = np.zeros_like(bar), bar.copy()
        mine[self.free], held[self.free] = bar[self.free], 0.0
        parameters.gather_placed(self.t, held, into)
        return (mine,)


@dataclass(eq=False)
class Sped:
    """v with the prescribed coordinates at (place(t + h) - q)/h; inputs are v and q."""

    free: IntArray
    t: float
    h: float
    inputs: tuple[Vector, ...]

    def tangent(self, changes: Sequence[Array], parameters: Parameters, rates: Array) -> Array:
        v, q = changes
        out = (parameters.placed(self.t + self.h, rates) - q) / self.h
        out[self.free] = v[self.free]
        return out

    def adjoint(self, bar: Array, parameters: Parameters, into: Array) -> Sequence[Array]:
        v, held = np.zeros_like(bar), bar / self.h
        v[self.free], held[self.free] = bar[self.free], 0.0
        parameters.gather_placed(self.t + self.h, held, into)
        return v, -held
