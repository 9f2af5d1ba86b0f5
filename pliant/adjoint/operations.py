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
from pliant.closed_stage import ClosedStage
from pliant.errors import NotPositiveDefinite
from pliant.linear.base import Factor
from pliant.linear.cholesky import Cholesky
from pliant.linear.lu import LU
from pliant.stage import Stage
from pliant.state import State


@dataclass
class Algebra:
    """What the linear solves of one tape share: the analysis of the last pattern, and their worst residual."""

    memory: Any = None
    solves: int = 0
    indefinite: int = 0
    residual: float = 0.0

    def factored(self, A: sp.csr_matrix, symmetric: bool) -> Factor:
        if symmetric:
            try:
                factor = Cholesky().factor(A, self.memory)
                self.memory = factor.memory
                return factor
            except NotPositiveDefinite:
                self.indefinite += 1
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

    ``system`` is the one without the contacts of the stage; lagged friction depends on the start. With closures,
    ``rows`` is the stage they are solved in and ``multipliers`` are its others unknowns:

        [A - d(G^T y)/dq  -G^T] [dq]   [as above               ]
        [c d(gap)/dq        0 ] [dy] = [G dbase, for rates only]
    """

    system: Any
    stage: Stage
    q: Array
    inputs: tuple[Vector, ...]
    algebra: Algebra
    rows: ClosedStage | None = None
    multipliers: Array | None = None

    def __post_init__(self) -> None:
        self._free = self.stage.system.free
        self._held = np.setdiff1d(np.arange(len(self.q)), self._free)

    @property
    def moment(self) -> Moment:
        """Where the equation g = c^2 f - M d stands."""
        stage = self.stage
        d = stage.inertia * (self.q - stage.target)
        return Moment(stage.start, self.q, stage.velocity(self.q), stage.t, stage.c**2, d, self.multipliers)

    @cached_property
    def _matrices(self) -> tuple[sp.csr_matrix, sp.csr_matrix | None, bool]:
        """dr over all unknowns, D, and whether the first is symmetric; prescribed coordinates are among them."""
        stage, q = self.stage, self.q
        v, c = stage.velocity(q), stage.c
        a = (q - stage.target) / c**2 if stage.inertia else None
        weights = (stage.inertia, stage.inertia * c, c * c)
        D = stage.system.damping(q, v, stage.t) if stage.inertia else None
        A, symmetric = exact_tangent(stage.system, q, v, stage.t, weights, a)
        if self.rows is not None:
            A, symmetric = self._bordered(A), False
        return A, D if D is not None and D.nnz else None, symmetric

    def _bordered(self, A: sp.csr_matrix) -> sp.csr_matrix:
        """A with the rows and columns of the closures."""
        stage, q = self.stage, self.q
        found, rate = stage.closures(q), 1.0 / stage.c if stage.inertia else 0.0
        curved, gaps = stage.system.closure_tangent(q, stage.velocity(q), stage.t, self.multipliers, rate)  # type: ignore[attr-defined]
        lengths = np.where(found.positional, 1.0, stage.c)  # type: ignore[union-attr]
        return sp.csr_matrix(sp.bmat([[A - curved, -found.G.T], [sp.diags(lengths) @ gaps, None]]))  # type: ignore[union-attr]

    @cached_property
    def _rates(self) -> sp.csr_matrix | None:
        """G of the rows that prescribe rates, zero in the others."""
        if self.rows is None:
            return None
        found = self.stage.closures(self.q)
        return sp.csr_matrix(sp.diags(np.where(found.positional, 0.0, 1.0)) @ found.G)  # type: ignore[union-attr]

    @cached_property
    def _start_slope(self) -> sp.csr_matrix | None:
        stage, q = self.stage, self.q
        if not stage.inertia:
            return None
        return start_slope(self.system, stage.start, q, stage.velocity(q), stage.t, stage.c)

    def _unknown(self, size: int) -> IntArray:
        """The unknowns of the solve: free coordinates and multipliers."""
        return np.concatenate([self._free, np.arange(len(self.q), size)])

    def _restricted(self, A: sp.csr_matrix, unknown: IntArray) -> sp.csr_matrix:
        return self.stage.system.restrict(A) if self.rows is None else sp.csr_matrix(A[unknown][:, unknown])

    def tangent(self, changes: Sequence[Array], parameters: Parameters, rates: Array) -> Array:
        stage, N = self.stage, len(self.q)
        A, D, symmetric = self._matrices
        target, base, start = changes
        b = parameters.along(self.moment, rates)
        if stage.inertia:
            b[:N] += by_columns(lambda x: stage.system.inertia(self.q, x), target)
        if D is not None:
            b[:N] -= stage.c * (D @ base)
        if self._rates is not None:
            b[N:] += self._rates @ base
        if self._start_slope is not None:
            b[:N] += stage.c**2 * (self._start_slope @ start)
        dz = np.zeros_like(b)
        dz[self._held] = parameters.placed(stage.t, rates)[self._held]
        b = b - A @ dz
        unknown = self._unknown(len(b))
        dz[unknown] = self.algebra.solve(self._restricted(A, unknown), b[unknown], symmetric)
        return dz[:N]

    def adjoint(self, bar: Array, parameters: Parameters, into: Array) -> Sequence[Array]:
        stage, N = self.stage, len(self.q)
        A, D, symmetric = self._matrices
        whole = np.zeros(A.shape[0])
        whole[:N] = bar
        y, unknown = np.zeros_like(whole), self._unknown(len(whole))
        B = self._restricted(A, unknown)
        y[unknown] = self.algebra.solve(B if symmetric else sp.csr_matrix(B.T), whole[unknown], symmetric)
        parameters.gather(self.moment, y, into)
        if parameters.moves and len(self._held):
            held = np.zeros_like(bar)
            held[self._held] = (whole - A.T @ y)[self._held]
            parameters.gather_placed(stage.t, held, into)
        base, start = np.zeros_like(bar), np.zeros_like(bar)
        if D is not None:
            base -= stage.c * (D.T @ y[:N])
        if self._rates is not None:
            base += self._rates.T @ y[N:]
        if self._start_slope is not None:
            start += stage.c**2 * (self._start_slope.T @ y[:N])
        target = stage.inertia * stage.system.inertia(self.q, y[:N])
        for name in ("_matrices", "_rates", "_start_slope"):
            del self.__dict__[name]
        return target, base, start


@dataclass(eq=False)
class Accelerated:
    """a = M^-1 f(q, v, t); inputs are q and v, ``at`` their values."""

    system: Any
    at: tuple[Array, Array]
    t: float
    inputs: tuple[Vector, ...]
    a: Array

    @property
    def moment(self) -> Moment:
        q, v = self.at
        return Moment(State(q, v, self.t), q, v, self.t, 1.0, self.a)

    def _matrices(self) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        q, v = self.at
        A, _ = exact_tangent(self.system, q, v, self.t, (0.0, 0.0, 1.0), self.a)
        lagged = start_slope(self.system, State(q, v, self.t), q, v, self.t)  # contacts are found where it is asked
        return -A if lagged is None else lagged - A, self.system.damping(q, v, self.t)

    def tangent(self, changes: Sequence[Array], parameters: Parameters, rates: Array) -> Array:
        K, D = self._matrices()
        q, v = changes
        f = K @ q + D @ v + parameters.along(self.moment, rates)
        return by_columns(lambda x: self.system.accelerated(self.at[0], x), f)

    def adjoint(self, bar: Array, parameters: Parameters, into: Array) -> Sequence[Array]:
        K, D = self._matrices()
        y = self.system.accelerated(self.at[0], bar)
        parameters.gather(self.moment, y, into)
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
