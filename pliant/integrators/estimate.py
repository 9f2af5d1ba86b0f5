"""Estimates of the error that one time step adds, in coordinates and velocities.

A method that has a companion of higher order estimates its own error (`Estimating`): it is the difference of the two.
For any other, one step of h is compared with two of h/2 (`doubled`). Differences of accelerations grow without bound
with the stiffness although the steps do not; they are therefore filtered through the matrix of a stage,
(I - c J)^-1 e, which leaves the resolved part as it is. [Hosea1996, sec. 4]
"""

from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import NotPositiveDefinite
from pliant.linear.base import Factor
from pliant.linear.cholesky import Cholesky
from pliant.linear.lu import LU
from pliant.state import State, Step
from pliant.systems.base import System

GROWTH = 5.0  # from one step to the next, at the most


@dataclass(frozen=True, eq=False)
class LocalError:
    """The estimated error of a step, ``q (N,)`` and ``v (N,)``, which vanishes like h^``order``.

    ``growth`` is how much longer the next step may be, ``analysis`` what its factorization knows of the pattern.
    """

    q: Array
    v: Array
    order: int
    growth: float = GROWTH
    analysis: Any = None


@runtime_checkable
class Estimating(Protocol):
    """An integrator that knows how to estimate the error of its steps."""

    def estimated(
        self, system: System, state: State, h: float, memory: Any = None, analysis: Any = None
    ) -> tuple[Step, LocalError]:
        """The same step as `step` takes, and its error; ``analysis`` is that of an earlier error."""
        ...


def estimated(
    integrator: Any, system: System, state: State, h: float, memory: Any, analysis: Any = None
) -> tuple[Step, LocalError]:
    """A step of any integrator, and its error."""
    if isinstance(integrator, Estimating):
        return integrator.estimated(system, state, h, memory, analysis)
    return doubled(integrator, system, state, h, memory)


def doubled(integrator: Any, system: System, state: State, h: float, memory: Any) -> tuple[Step, LocalError]:
    """Two steps of h/2, and what they differ by from one of h: their error is that over 2^p - 1 (Richardson)."""
    whole = integrator.step(system, state, h, memory)
    first = integrator.step(system, state, 0.5 * h, memory)
    second = integrator.step(system, first.state, 0.5 * h, first.memory)
    second = replace(second, state=replace(second.state, t=state.t + h))
    share = 1.0 / (2**integrator.order - 1)
    error = LocalError(
        share * (second.state.q - whole.state.q), share * (second.state.v - whole.state.v), integrator.order + 1
    )
    reports = (*whole.reports, *first.reports, *second.reports)
    return replace(second, reports=reports, pieces=(first, second)), error


@dataclass(frozen=True, eq=False)
class Slopes:
    """Velocities and accelerations (k, N) at the stages of a step, from its start to its end; ``c`` [s] of its last."""

    v: tuple[Array, ...]
    a: tuple[Array, ...]
    c: float


def embedded(
    system: System, after: State, slopes: Slopes, analysis: Any, first: Array, second: Array | None = None
) -> LocalError:
    """(I - c J)^-1 (sum_i w_i k_i + J sum_i y_i k_i) for the slopes k = (v, a) and weights ``first`` w, ``second`` y.

    With k = (v, a) and J = [[0, I], [M^-1 K, M^-1 D]] at the end of the step, this is one solve with the matrix of the
    last stage, A = M - c D - c^2 K: A z = M (r_v + r_q/c) - D r_q, then e_q = c z and e_v = z - r_q/c.
    """
    q, v, t, c = after.q, after.v, after.t, slopes.c
    A, factor = _factored(system, after, c, analysis)
    r_q, r_v = _sum(first, slopes.v), _sum(first, slopes.a)
    D = system.damping(q, v, t)
    damped = (lambda x: D @ x) if D.nnz else np.zeros_like
    push = system.inertia(q, r_v)
    if second is not None:
        y_q, y_v = _sum(second, slopes.v), _sum(second, slopes.a)
        r_q = r_q + y_v
        push = push + (system.inertia(q, y_q) - c * damped(y_q) - A @ y_q) / c**2 + damped(y_v)
    free = system.free
    held = np.ones(len(q), dtype=bool)
    held[free] = False
    r_q[held] = 0.0
    z = factor.solve((push + system.inertia(q, r_q) / c - damped(r_q))[free])
    return LocalError(spread(q, free, c * z), spread(q, free, z - r_q[free] / c), 3, analysis=factor.memory)


def spread(like: Array, free: IntArray, value: Array) -> Array:
    """A value of the free coordinates among all of them; that of the others is zero."""
    full = np.zeros_like(like)
    full[free] = value
    return full


def _factored(system: System, at: State, c: float, analysis: Any) -> tuple[Any, Factor]:
    """The matrix of a stage, and its factor: exact where that is definite, and on joints."""
    weights = (1.0, c, c * c)
    A = system.tangent(at.q, at.v, at.t, weights, psd=False)
    if not system.symmetric:
        return A, LU().factor(system.restrict(A))
    try:
        return A, Cholesky().factor(system.restrict(A), analysis)
    except NotPositiveDefinite:
        A = system.tangent(at.q, at.v, at.t, weights, psd=True)
        return A, Cholesky().factor(system.restrict(A), analysis)


def _sum(weights: Array, slopes: tuple[Array, ...]) -> Array:
    total = np.zeros_like(slopes[0])
    for w, k in zip(weights, slopes, strict=True):
        if w:
            total += w * k
    return total
