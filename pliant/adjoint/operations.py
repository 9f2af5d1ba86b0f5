"""The operations of time stepping methods, each with its tangent and its adjoint.

A stage at its root,  r(q) = M (q - target) - c^2 f(q, (q - base)/c, t; p) = 0,  changes by

    A dq = M dtarget - c D dbase + d_p (c^2 f - M (q - target)) dp,        A = dr/dq = M - c D - c^2 K exactly

on the free coordinates. The adjoint solves A^T y = qbar once: target gets M y, base - c D^T y, and p the last term.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.adjoint.exact import exact_tangent, start_slope
from pliant.adjoint.parameters import Moment, Parameters
from pliant.adjoint.tape import Vector
from pliant.arrays import Array, IntArray
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


@dataclass(eq=False)
class Solved:
    """A stage at its root q; inputs are its target, its base, and where it set out from.

    ``system`` is the one without the contacts of the stage; lagged friction depends on the start.
    """

    system: Any
    stage: Stage
    q: Array
    inputs: tuple[Vector, ...]
    algebra: Algebra

    def __post_init__(self) -> None:
        self._free = self.stage.system.free
        self._held = np.setdiff1d(np.arange(len(self.q)), self._free)

    @property
    def moment(self) -> Moment:
        """Where the equation g = c^2 f - M d stands."""
        stage = self.stage
        d = stage.inertia * (self.q - stage.target)
        return Moment(stage.start, self.q, stage.velocity(self.q), stage.t, stage.c**2, d)

    @cached_property
    def _matrices(self) -> tuple[sp.csr_matrix, sp.csr_matrix | None, bool]:
        stage, q = self.stage, self.q
        v, c = stage.velocity(q), stage.c
        a = (q - stage.target) / c**2 if stage.inertia else None
        weights = (stage.inertia, stage.inertia * c, c * c)
        D = stage.system.damping(q, v, stage.t) if stage.inertia else None
        A, symmetric = exact_tangent(stage.system, q, v, stage.t, weights, a)
        return A, D if D is not None and D.nnz else None, symmetric

    @cached_property
    def _start_slope(self) -> sp.csr_matrix | None:
        stage, q = self.stage, self.q
        return start_slope(self.system, stage.start, q, stage.velocity(q), stage.t) if stage.inertia else None

    def tangent(self, changes: Sequence[Array], parameters: Parameters, rates: Array) -> Array:
        stage, free = self.stage, self._free
        A, D, symmetric = self._matrices
        target, base, start = changes
        b = stage.inertia * stage.system.inertia(self.q, target) + parameters.along(self.moment, rates)
        if D is not None:
            b = b - stage.c * (D @ base)
        if self._start_slope is not None:
            b = b + stage.c**2 * (self._start_slope @ start)
        dq = np.zeros_like(self.q)
        dq[self._held] = parameters.placed(stage.t, rates)[self._held]
        b = b - A @ dq
        dq[free] = self.algebra.solve(stage.system.restrict(A), b[free], symmetric)
        return dq

    def adjoint(self, bar: Array, parameters: Parameters, into: Array) -> Sequence[Array]:
        stage, free = self.stage, self._free
        A, D, symmetric = self._matrices
        y, none = np.zeros_like(bar), np.zeros_like(bar)
        A_free = stage.system.restrict(A)
        y[free] = self.algebra.solve(A_free if symmetric else sp.csr_matrix(A_free.T), bar[free], symmetric)
        parameters.gather(self.moment, y, into)
        if parameters.moves and len(self._held):
            held = np.zeros_like(bar)
            held[self._held] = (bar - A.T @ y)[self._held]
            parameters.gather_placed(stage.t, held, into)
        base = none if D is None else -stage.c * (D.T @ y)
        start = none if self._start_slope is None else stage.c**2 * (self._start_slope.T @ y)
        del self.__dict__["_matrices"], self.__dict__["_start_slope"]
        return stage.inertia * stage.system.inertia(self.q, y), base, start


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
        return np.asarray(self.system.accelerated(self.at[0], K @ q + D @ v + parameters.along(self.moment, rates)))

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
