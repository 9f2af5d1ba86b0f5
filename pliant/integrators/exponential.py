"""What a linearised body does in a step, by Krylov methods for the exponential of J: increments of ERE and EXPRB32.

    J = [[0, I], [-M^-1 K, -M^-1 D]]

J is bordered by the loads, so that one exponential of it gives the increment. [Chen2019, Eq. 4.5]
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.integrators.linearised import Linearised
from pliant.linear._arnoldi import basis as arnoldi_basis
from pliant.linear.base import Factor
from pliant.linear.cholesky import Cholesky
from pliant.linear.krylov import Basis, Exponential, expv
from pliant.linear.rational import motion
from pliant.state import State
from pliant.systems.base import System

COMPILED = 1000  # up to this many coordinates a compiled product is faster than calls of array functions


@dataclass(frozen=True)
class Krylov:
    """Dimension of the space, relative tolerance of the increment, and when to give up."""

    m: int = 30
    tolerance: float = 1e-7
    max_substeps: int = 100_000


class Mass:
    """M = S^T S for the scaled unknowns: S = M^{1/2} when M is diagonal; a consistent M is only solved with."""

    def __init__(self, M: sp.csr_matrix) -> None:
        self._M = M
        self.diagonal = M.nnz == M.shape[0]
        self._factor: Factor | None = None if self.diagonal else Cholesky().factor(M)
        self.root = np.sqrt(M.diagonal()) if self.diagonal else np.ones(M.shape[0])  # from v to the scaled velocity

    def fits(self, M: sp.csr_matrix) -> bool:
        return M is self._M or (
            M.shape == self._M.shape and M.nnz == self._M.nnz and bool((M.data == self._M.data).all())
        )

    def acceleration(self, f: Array) -> Array:
        """The scaled M^-1 f."""
        return f / self.root if self._factor is None else self._factor.solve(f)


def increment(linear: Linearised, mass: Mass, h: float, choice: Krylov) -> tuple[Array, Array, Exponential]:
    """(dq, dv) = h phi1(h J) b over the free coordinates, and what the exponential cost."""
    n, S = len(linear.f), mass.root
    w0 = frequency_bound(linear) or 1.0 / h
    b = np.concatenate([w0 * S * linear.v, mass.acceleration(linear.f)])
    g = np.concatenate([np.zeros(n), mass.acceleration(linear.ramp)])
    eta = w0 / max(float(np.linalg.norm(b)), h * float(np.linalg.norm(g)), 1e-300)
    border = eta * np.column_stack([b, g * h])

    def apply(x: Array) -> Array:
        y = product(linear, mass, w0, x)
        y[: 2 * n] += border @ x[2 * n :]
        y[2 * n], y[2 * n + 1] = 0.0, x[2 * n] / h
        return y

    start = np.zeros(2 * n + 2)
    start[2 * n] = 1.0
    basis = compiled(linear, S, w0, border, h) if mass.diagonal and n <= COMPILED else None
    result = expv(
        apply, start, h, m=choice.m, tolerance=choice.tolerance, max_substeps=choice.max_substeps, basis=basis
    )
    u = result.w / eta
    return u[:n] / (w0 * S), u[n : 2 * n] / S, result


def projected(
    linear: Linearised, factor: Factor, v: Array, loads: list[Array], h: float, choice: Krylov
) -> tuple[Array, Array, Exponential]:
    """(dq, dv) from velocities v under loads that grow like 1, t/h, (t/h)^2, in a rational Krylov space of A's factor.

    What did not fit into the space is lost, and its part of the motion is the error.
    """
    D = linear.D if linear.damped else None
    found = motion(linear.M, linear.K, D, factor.solve, v, loads, h, m=choice.m, tolerance=choice.tolerance)
    return found.dq, found.dv, Exponential(found.dq, 1, found.solves, found.error, True, h)


def product(linear: Linearised, mass: Mass, w0: float, x: Array) -> Array:
    """J x over the scaled unknowns (w0 S q, S v), in the first 2 n entries of an array like ``x``; others are unset."""
    n, S = len(linear.f), mass.root
    y = np.empty_like(x)
    y[:n] = w0 * x[n : 2 * n]
    force = linear.K @ (x[:n] / (w0 * S))
    if linear.damped:
        force = force + linear.D @ (x[n : 2 * n] / S)
    y[n : 2 * n] = -mass.acceleration(force)
    return y


def remainder(
    system: System,
    linear: Linearised,
    mass: Mass,
    ends: tuple[State, State],
    h: float,
    moved: tuple[Array, Array],
    choice: Krylov,
    factor: Factor | None = None,
) -> tuple[Array, Array, Exponential]:
    """(dq, dv) that linearising has left out of a step, 2 h phi3(h J) (b(U) - b(u) - J (U - u)). [Hochbruck2009]

    With a ``factor`` of M + h D + h^2 K it is computed in its rational Krylov space.
    """
    (before, after), (dq, dv) = ends, moved
    f = system.force(after.q, after.v, before.t + 0.5 * h)[system.free]
    excess = f - linear.f + linear.K @ dq + linear.D @ dv - h * linear.ramp
    if factor is not None:
        nothing = np.zeros_like(excess)
        return projected(linear, factor, nothing, [nothing, nothing, excess], h, choice)
    return correction(linear, mass, excess, h, choice)


def correction(
    linear: Linearised, mass: Mass, excess: Array, h: float, choice: Krylov
) -> tuple[Array, Array, Exponential]:
    """2 h phi3(h J) [0; M^-1 excess] over the free coordinates: what a force excess t^2/h^2 does in the step.

    J is bordered by a chain of three whose last entry grows like t^2 / (2 h^2).
    """
    n, S = len(linear.f), mass.root
    pull = mass.acceleration(excess)
    size = float(np.linalg.norm(pull))
    if size == 0.0:
        return np.zeros(n), np.zeros(n), Exponential(np.zeros(0), 0, 0, 0.0, True, h)
    eta, w0 = 1.0 / (h * size), 1.0 / h

    def apply(x: Array) -> Array:
        y = product(linear, mass, w0, x)
        y[n : 2 * n] += (2.0 * eta * x[2 * n]) * pull
        y[2 * n :] = x[2 * n + 1] / h, x[2 * n + 2] / h, 0.0
        return y

    start = np.zeros(2 * n + 3)
    start[2 * n + 2] = 1.0
    result = expv(apply, start, h, m=choice.m, tolerance=choice.tolerance, max_substeps=choice.max_substeps)
    u = result.w / eta
    return u[:n] / (w0 * S), u[n : 2 * n] / S, result


def compiled(linear: Linearised, S: Array, w0: float, border: Array, h: float) -> Basis:
    """The Arnoldi process of the operator above with all scalings worked into K and D."""

    def scaled(A: sp.csr_matrix, factor: float) -> tuple[Array, Array, Array]:
        rows = np.repeat(S, np.diff(A.indptr))
        return A.indptr, A.indices.view(np.uint32), A.data / (factor * rows * S[A.indices])  # unsigned: no wrap-around

    K, D = scaled(linear.K, w0), scaled(linear.D, 1.0)

    def process(v: Array, m: int) -> tuple[Array, Array, bool, float]:
        V, H, k, after = arnoldi_basis(*K, *D, w0, border, h, v, m)
        return (V, H, False, after) if k > m else (V[:k], H[:k, :k], True, 0.0)

    return process


def frequency_bound(linear: Linearised) -> float:
    """sqrt of the infinity norm of M^-1 K with row-sum masses [1/s]."""
    row = np.asarray(abs(linear.K).sum(axis=1)).ravel() / np.asarray(linear.M.sum(axis=1)).ravel()
    return float(np.sqrt(row.max(initial=0.0)))
