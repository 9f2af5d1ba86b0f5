"""Exponential Rosenbrock-Euler: exact for linear forces, order 2, no artificial damping. [Chen2019, Eq. 4.4]

    u_{n+1} = u_n + h phi1(h J_n) b(u_n),    u = [q; v],  b = [v; M^-1 f],  J = [[0, I], [-M^-1 K, -M^-1 D]]

computed as du = the first 2n entries of exp(h Ja) e with J bordered by b, so that the tolerance acts on the increment
and nothing cancels against u [Chen2019, Eq. 4.5]. A second border carries the motion of scripted coordinates, whose
force grows linearly in time. Unknowns are scaled to (w0 q, v) with w0 ~ |M^-1 K|^{1/2}, so that positions and
velocities weigh the same in the error norm.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackError, LinearOperator, eigs

from pliant.arrays import Array
from pliant.clock import Clock
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.integrators.estimate import LocalError, spread
from pliant.integrators.linearised import Linearised, advanced, linearise
from pliant.linear._arnoldi import basis as arnoldi_basis
from pliant.linear.base import Factor
from pliant.linear.cholesky import Cholesky
from pliant.linear.krylov import SLACK, Basis, Exponential, expv
from pliant.linear.threads import one_thread
from pliant.state import Counts, SolveReport, State, Step, Transient
from pliant.systems.base import System

COMPILED = 1000  # up to this many coordinates a compiled product is faster than calls of array functions
DENSE = 300  # up to this many coordinates the growth of J is computed densely


@dataclass(frozen=True, eq=False)
class EREMemory:
    """What is cheaper to rebuild than to save: after a restart it is None."""

    mass: Transient | None = None
    analysis: Any = None


@dataclass(frozen=True)
class ERE:
    """Krylov dimension ``m``, relative ``tolerance`` of the increment.

    Stable only while no eigenvalue of J has a large positive real part: a negative mode of K grows by exp(h sqrt(-lam))
    per step, long after the nonlinear force would have turned it back. ``project="on_demand"`` projects K in steps
    whose M + h D + h^2 K is indefinite, which is growth beyond e per step (one Cholesky factorization to find out); as
    h shrinks that ends, and the order is 2. "always" costs accuracy (order 1), "never" follows the growth. The report
    counts products with J as ``inner`` and substeps of the exponential as ``iterations``; a step that needs more than
    ``max_substeps`` is given up.
    """

    m: int = 30
    tolerance: float = 1e-7
    project: Literal["on_demand", "always", "never"] = "on_demand"
    max_substeps: int = 100_000
    order: ClassVar[int] = 2

    def __post_init__(self) -> None:
        if self.m < 2:
            raise SceneError(f"m is {self.m}", where="ERE.m", remedy="use a Krylov dimension of at least 2")
        if not 0.0 < self.tolerance < 1.0:
            raise SceneError(f"tolerance is {self.tolerance}", where="ERE.tolerance", remedy="use a number in (0, 1)")

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        return self._taken(system, state, h, memory)[0]

    @one_thread()
    def estimated(
        self, system: System, state: State, h: float, memory: Any = None, analysis: Any = None
    ) -> tuple[Step, LocalError]:
        """The step, and what its linearisation has left out."""
        step, linear, moved = self._taken(system, state, h, memory)
        mass = step.memory.mass.value
        eq, ev, _ = remainder(system, linear, mass, (state, step.state), h, moved, self)
        return step, LocalError(spread(state.q, system.free, eq), spread(state.q, system.free, ev), 3)

    def _taken(
        self, system: System, state: State, h: float, memory: Any
    ) -> tuple[Step, Linearised, tuple[Array, Array]]:
        clock = Clock()
        kept = memory or EREMemory()
        with clock("fill"):
            linear = linearise(system, state, h, at=state.t + 0.5 * h, psd=self.project == "always")
            mass = kept.mass
            if mass is None or not mass.value.fits(linear.M):
                mass = Transient(Mass(linear.M))
        counts, analysis = Counts(forces=1, fills=1), kept.analysis
        if self.project == "on_demand":
            with clock("factor"):
                definite, analysis = tame(system, state, h, analysis)
            counts = counts + Counts(fills=1, factorizations=1)
            if not definite:
                with clock("fill"):
                    linear = linearise(system, state, h, at=state.t + 0.5 * h, psd=True)
                counts = counts + Counts(forces=1, fills=1)
        with clock("exponential"):
            dq, dv, result = increment(linear, mass.value, h, self)
        message = trouble(linear, h, result, dq, dv)
        counts = counts + Counts(inner=result.products)
        allowed = SLACK * self.tolerance  # what the Krylov method lets pass, summed over its substeps
        report = SolveReport(
            not message,
            result.substeps,
            result.error,
            allowed,
            counts,
            clock.totals(),
            message=message,
            certified=result.error <= allowed,
        )
        end = advanced(system, state, h, dq, dv, linear.scripted)
        return Step(end, EREMemory(mass, analysis), (report,)), linear, (dq, dv)


def tame(system: System, state: State, h: float, analysis: Any) -> tuple[bool, Any]:
    """Whether M + h D + h^2 K is positive definite, as it is when nothing grows by more than e in a step."""
    A = system.tangent(state.q, state.v, state.t + 0.5 * h, (1.0, h, h * h), psd=False)
    try:
        factor = Cholesky().factor(system.restrict(A), analysis)
    except NotPositiveDefinite:
        return False, analysis
    return True, factor.memory


def trouble(linear: Linearised, h: float, result: Exponential, dq: Array, dv: Array) -> str:
    """What went wrong, with the number that says so; nothing when the exponential is accurate and finite."""
    if not (np.isfinite(linear.f).all() and np.isfinite(linear.K.data).all()):
        return "force or stiffness is not finite at the start of the step: elements are inverted; reduce h"
    if not (np.isfinite(dq).all() and np.isfinite(dv).all()):
        rate = growth(linear)
        return f"not finite: a mode of J grows by exp({h * rate:.3g}) in a step; damp more, project K or reduce h"
    if not result.converged:
        done = 100.0 * result.reached / h
        return f"the exponential got through {done:.3g} % of the step in {result.substeps} substeps; use SIERE"
    return ""


def growth(linear: Linearised) -> float:
    """The largest real part of the eigenvalues of J [1/s], by Arnoldi for large systems (then a lower bound)."""
    n = len(linear.f)
    factor = Cholesky().factor(linear.M)
    damping = linear.D if linear.damped else sp.csr_matrix((n, n))
    apply = lambda x: np.concatenate([x[n:], -factor.solve(linear.K @ x[:n] + damping @ x[n:])])
    if n <= DENSE:
        J = np.column_stack([apply(e) for e in np.eye(2 * n)])
        return float(np.linalg.eigvals(J).real.max())
    J = LinearOperator((2 * n, 2 * n), matvec=lambda x: apply(x.ravel()), dtype=np.float64)
    try:
        return float(eigs(J, k=1, which="LR", tol=1e-2, return_eigenvectors=False)[0].real)
    except ArpackError:
        return float("nan")


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


def increment(linear: Linearised, mass: Mass, h: float, choice: ERE) -> tuple[Array, Array, Exponential]:
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
    choice: ERE,
) -> tuple[Array, Array, Exponential]:
    """(dq, dv) that linearising has left out of a step, 2 h phi3(h J) (b(U) - b(u) - J (U - u)). [Hochbruck2009]"""
    (before, after), (dq, dv) = ends, moved
    f = system.force(after.q, after.v, before.t + 0.5 * h)[system.free]
    excess = f - linear.f + linear.K @ dq + linear.D @ dv - h * linear.ramp
    return correction(linear, mass, excess, h, choice)


def correction(
    linear: Linearised, mass: Mass, excess: Array, h: float, choice: ERE
) -> tuple[Array, Array, Exponential]:
    """2 h phi3(h J) [0; M^-1 excess] over the free coordinates: what a force excess t^2/h^2 does in the step.

    J is bordered by a chain of three whose last entry grows like t^2 / (2 h^2).
    """
    n, S = len(linear.f), mass.root
    pull = mass.acceleration(excess)
    size = float(np.linalg.norm(pull))
    if size == 0.0:
        return np.zeros(n), np.zeros(n), Exponential(np.zeros(0), 0, 0, 0, 0.0, True, h)
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
