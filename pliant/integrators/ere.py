"""Exponential Rosenbrock-Euler: exact for linear forces, order 2, no artificial damping. [Chen2019, Eq. 4.4]

    u_{n+1} = u_n + h phi1(h J_n) b(u_n),    u = [q; v],  b = [v; M^-1 f],  J = [[0, I], [-M^-1 K, -M^-1 D]]

computed (`pliant.integrators.exponential`) as du = the first 2n entries of exp(h Ja) e with J bordered by b, so that
the tolerance acts on the increment and nothing cancels against u [Chen2019, Eq. 4.5]. A second border carries the
motion of scripted coordinates, whose force grows linearly in time. Unknowns are scaled to (w0 q, v) with
w0 ~ |M^-1 K|^{1/2}, so that positions and velocities weigh the same in the error norm.

On stiff meshes the exponential takes thousands of products with J, as it resolves every oscillation of the stiffest
element. A rational Krylov space needs a few dozen solves instead (`pliant.linear.rational`).
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
from pliant.integrators.exponential import Krylov, Mass, increment, projected, remainder
from pliant.integrators.linearised import Linearised, advanced, linearise
from pliant.linear.base import Factor
from pliant.linear.cholesky import Cholesky
from pliant.linear.krylov import SLACK, Exponential
from pliant.linear.threads import one_thread
from pliant.state import Counts, SolveReport, State, Step, Transient
from pliant.systems.base import System

DENSE = 300  # up to this many coordinates the growth of J is computed densely


@dataclass(frozen=True, eq=False)
class EREMemory:
    """What is cheaper to rebuild than to save: None after a restart."""

    mass: Transient | None = None
    analysis: Any = None


@dataclass(frozen=True)
class ERE:
    """Exponential Rosenbrock-Euler: order 2, exact for linear forces, no numerical damping [Chen2019, Eq. 4.4].

    ``m`` is the Krylov dimension, ``tolerance`` the relative tolerance of the increment.

    Stable only while no eigenvalue of J has a large positive real part: a negative mode of K grows by exp(h sqrt(-lam))
    per step, long after the nonlinear force would have turned it back. ``project="on_demand"`` projects K in steps
    whose M + h D + h^2 K is indefinite, which means growth beyond e per step (one Cholesky factorization to find out);
    for small h this no longer happens, and the order is 2. "always" costs accuracy (order 1), "never" accepts the
    growth. The report counts products with J as ``inner`` and substeps of the exponential as ``iterations``; a step
    that needs more than ``max_substeps`` fails.

    ``rational=True`` computes the step in a space of at most ``m`` solves with M + h D + h^2 K. If the tolerance would
    need more, the step keeps what the space holds, and the residual in the report is the change due to the last
    vectors: modes that are too fast for the step then have the wrong phase, but the linearised step still conserves its
    energy.
    """

    m: int = 30
    tolerance: float = 1e-7
    project: Literal["on_demand", "always", "never"] = "on_demand"
    max_substeps: int = 100_000
    rational: bool = False
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
        step, linear, moved, factor = self._taken(system, state, h, memory)
        mass = step.memory.mass.value
        ends, factor = (state, step.state), factor if self.rational else None
        eq, ev, _ = remainder(system, linear, mass, ends, h, moved, self._krylov, factor)
        return step, LocalError(spread(state.q, system.free, eq), spread(state.q, system.free, ev), 3)

    def _taken(
        self, system: System, state: State, h: float, memory: Any
    ) -> tuple[Step, Linearised, tuple[Array, Array], Factor | None]:
        clock = Clock()
        kept = memory or EREMemory()
        with clock("fill"):
            linear = linearise(system, state, h, at=state.t + 0.5 * h, psd=self.project == "always")
            mass = kept.mass
            if mass is None or not mass.value.fits(linear.M):
                mass = Transient(Mass(linear.M))
        counts, factor = Counts(forces=1, fills=1), None
        if self.rational or self.project == "on_demand":
            with clock("factor"):
                factor = factored(system, state, h, kept.analysis, psd=self.project == "always")
            counts = counts + Counts(fills=1, factorizations=1)
            if factor is None and self.project == "on_demand":
                with clock("fill"):
                    linear = linearise(system, state, h, at=state.t + 0.5 * h, psd=True)
                    factor = factored(system, state, h, kept.analysis, psd=True) if self.rational else None
                counts = counts + Counts(forces=1, fills=1 + self.rational, factorizations=int(self.rational))
        analysis = kept.analysis if factor is None else factor.memory
        with clock("exponential"):
            dq, dv, result = self._increment(linear, mass.value, h, factor)
        message = trouble(linear, h, result, dq, dv)
        counts = counts + (Counts(solves=result.products) if self.rational else Counts(inner=result.products))
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
        return Step(end, EREMemory(mass, analysis), (report,)), linear, (dq, dv), factor

    def _increment(
        self, linear: Linearised, mass: Mass, h: float, factor: Factor | None
    ) -> tuple[Array, Array, Exponential]:
        """The step's (dq, dv), and what the exponential cost."""
        if not self.rational:
            return increment(linear, mass, h, self._krylov)
        if factor is None:
            nowhere = np.full(len(linear.f), np.nan)
            return nowhere, nowhere, Exponential(nowhere, 0, 0, np.inf, False, 0.0)
        constant = linear.f + linear.D @ linear.v  # f holds the damping of v, the motion has it once more
        return projected(linear, factor, linear.v, [constant, h * linear.ramp], h, self._krylov)

    @property
    def _krylov(self) -> Krylov:
        return Krylov(self.m, self.tolerance, self.max_substeps)


def factored(system: System, state: State, h: float, analysis: Any, *, psd: bool) -> Factor | None:
    """The factor of M + h D + h^2 K; None where it is indefinite: something grows by more than e in a step."""
    A = system.tangent(state.q, state.v, state.t + 0.5 * h, (1.0, h, h * h), psd=psd)
    try:
        return Cholesky().factor(system.restrict(A), analysis)
    except NotPositiveDefinite:
        return None


def trouble(linear: Linearised, h: float, result: Exponential, dq: Array, dv: Array) -> str:
    """What went wrong, with the number that says so; nothing when the exponential is accurate and finite."""
    if not (np.isfinite(linear.f).all() and np.isfinite(linear.K.data).all()):
        return "force or stiffness is not finite at the start of the step: elements are inverted; reduce h"
    if not result.converged and result.products == 0:
        return "M + h D + h^2 K is indefinite, and rational=True solves with it; project K or reduce h"
    if not (np.isfinite(dq).all() and np.isfinite(dv).all()):
        rate = growth(linear)
        return f"not finite: a mode of J grows by exp({h * rate:.3g}) in a step; damp more, project K or reduce h"
    if not result.converged:
        done = f"{100.0 * result.reached / h:.3g} % of the step in {result.substeps} substeps"
        return f"the exponential got through {done}; use rational=True or SIERE"
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
