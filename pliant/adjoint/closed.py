"""What closures (loops, motors, ties) do outside stages: accelerations and velocities that agree with them.

    [M  -G^T] [u     ]   [F        ]
    [G    0 ] [lambda] = [b - G v_0]

u are accelerations with F = f(q, v, t), v_0 = 0 and the b that the rows demand of them, as explicit methods and TRBDF2
begin a step with; or changes of velocities with F = 0, v_0 = v and the rates b of the rows, as BDF2 begins a run with.
At fixed u and lambda, R = (F - M u + G^T lambda, b - G (u + v_0)) changes by the same matrix times (du, dlambda).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.adjoint.exact import exact_tangent, start_slope
from pliant.adjoint.moment import Moment
from pliant.adjoint.operations import by_columns
from pliant.adjoint.parameters import Parameters
from pliant.adjoint.tape import Vector
from pliant.arrays import Array, IntArray
from pliant.closed_stage import velocity_rows
from pliant.state import State
from pliant.systems.closures import Accelerating
from pliant.systems.stepped import PartlySymmetric

STEP = 1e-3  # of the size of the system, for differences of order 4: rows of ties come with a noise of 1e-11
Demand = Callable[[Any, Array, Array, float], tuple[Array, Array]]


def of_accelerations(system: Accelerating, q: Array, v: Array, t: float) -> tuple[Array, Array]:
    """(G, b) with G a = b."""
    found = system.acceleration_rows(q, v, t)
    assert found is not None
    return found


@dataclass(frozen=True, eq=False)
class ClosedMoment(Moment):
    """R as a function of the system, for ``met`` = u + v_0; without ``multipliers`` it is a `Moment`."""

    met: Array = field(kw_only=True)
    demand: Demand = field(kw_only=True)

    def g(self, system: Any) -> Array:
        out = Moment(self.start, self.q, self.v, self.t, self.c2, self.d).g(system)
        if self.multipliers is None:
            return out
        G, b = self.demand(system, self.q, self.v, self.t)
        return np.concatenate([out + G.T @ self.multipliers, b - G @ self.met])


@dataclass(frozen=True, eq=False)
class _Linear:
    """R at a moment: its slopes by q and v, and M^-1 G^T with the inverse of G M^-1 G^T."""

    at: ClosedMoment
    G: Array
    X: Array
    inverse: Array
    by_q: tuple[sp.csr_matrix, Array]
    by_v: tuple[sp.csr_matrix, Array]


@dataclass(eq=False)
class Closed:
    """u of the system above; inputs are q and v, sums over ``slots``. ``impulsive``: velocities, not accelerations."""

    system: Any
    impulsive: bool
    slots: Sequence[Array]
    t: float
    inputs: tuple[Vector, ...]
    u: Array

    def _linear(self) -> _Linear:
        system, t, u = self.system, self.t, self.u
        q, v = (x.of(self.slots) for x in self.inputs)
        demand: Demand = velocity_rows if self.impulsive else of_accelerations
        G, b = demand(system, q, v, t)
        X = np.stack([system.accelerated(q, g) for g in G], axis=1)
        inverse, met = np.linalg.pinv(G @ X, rcond=1e-12), u + v if self.impulsive else u
        pull = 0.0 if self.impulsive else system.accelerated(q, system.force(q, v, t))
        multipliers = inverse @ (G @ (u - pull))
        c2 = 0.0 if self.impulsive else 1.0
        at = ClosedMoment(State(q, v, t), q, v, t, c2, u, multipliers, met=met, demand=demand)
        K, D = self._forces(q, v)
        K = K + system.closure_tangent(q, v, t, multipliers, 0.0)[0]
        rows = self._rows(at)
        return _Linear(at, G, X, inverse, (K, rows[0]), (D, rows[1] - G if self.impulsive else rows[1]))

    def _forces(self, q: Array, v: Array) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """d(F - M u) by q and v."""
        system, t = self.system, self.t
        A, _ = exact_tangent(system, q, v, t, (0.0, 0.0, 1.0), self.u)
        if self.impulsive:
            still, _ = exact_tangent(system, q, v, t, (0.0, 0.0, 1.0), np.zeros_like(self.u))
            return sp.csr_matrix(still - A), sp.csr_matrix(A.shape)
        lagged = start_slope(system, State(q, v, t), q, v, t)
        return sp.csr_matrix(-A if lagged is None else lagged - A), system.damping(q, v, t)

    def _rows(self, at: ClosedMoment) -> tuple[Array, Array]:
        """d(b - G met) by q and v (k, N), by differences along joints: of vertices rows are linear."""

        def left(q: Array, v: Array) -> Array:
            G, b = at.demand(self.system, q, v, self.t)
            return b - G @ at.met

        def slope(f: Callable[[Array], Array]) -> Array:
            return (8.0 * (f(d) - f(-d)) - (f(2.0 * d) - f(-2.0 * d))) / (12.0 * e)

        e, shape = STEP * self.system.scale, (len(left(at.q, at.v)), len(at.q))
        by_q, by_v = np.zeros(shape), np.zeros(shape)
        for j in _joints(self.system):
            d = np.zeros_like(at.q)
            d[j] = e
            by_q[:, j] = slope(lambda x: left(at.q + x, at.v))
            by_v[:, j] = slope(lambda x: left(at.q, at.v + x))
        return by_q, by_v

    def tangent(self, changes: Sequence[Array], parameters: Parameters, rates: Array) -> Array:
        it, (q, v), N = self._linear(), changes, len(self.u)
        R = parameters.along(it.at, rates)
        R[:N] += it.by_q[0] @ q + it.by_v[0] @ v
        R[N:] += it.by_q[1] @ q + it.by_v[1] @ v
        u = by_columns(lambda x: self.system.accelerated(it.at.q, x), R[:N])
        return np.asarray(u + it.X @ (it.inverse @ (R[N:] - it.G @ u)))

    def adjoint(self, bar: Array, parameters: Parameters, into: Array) -> Sequence[Array]:
        it = self._linear()
        y = self.system.accelerated(it.at.q, bar)
        z = it.inverse.T @ (it.G @ y)
        y = y - it.X @ z
        parameters.gather(it.at, np.concatenate([y, z]), into)
        return it.by_q[0].T @ y + it.by_q[1].T @ z, it.by_v[0].T @ y + it.by_v[1].T @ z


def _joints(system: Any) -> IntArray:
    """The coordinates of parts that move on joints."""
    free: IntArray = system.free
    return free[system.border] if isinstance(system, PartlySymmetric) else free
