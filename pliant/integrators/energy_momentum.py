"""The energy-momentum method: the midpoint rule with a discrete gradient, order 2. [Gonzalez2000; SimoTarnow1992]

    M (v_1 - v_0) = h (-g(q_0, q_1) + f((q_0 + q_1)/2, (v_0 + v_1)/2)),    q_1 - q_0 = h (v_0 + v_1)/2

with g . (q_1 - q_0) = W(q_1) - W(q_0): momentum, angular momentum and energy of a free body without damping are kept to
round-off at any step size. Stiff vibrations are not damped, only followed wrongly when h does not resolve them.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.clock import Clock
from pliant.energies.base import Conserving
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.linear.base import LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.threads import one_thread
from pliant.state import Counts, SolveReport, State, Step
from pliant.systems.elastodynamics import Elastodynamics

ROUND = 1e-15  # of the terms of the residual, or of the size of the system in positions: less cannot be gained


@dataclass(frozen=True)
class EnergyMomentum:
    """Midpoint rule with a discrete gradient: order 2, energy and momenta conserved to round-off.

    It is for solids, spring nets and constant loads without contact. The nonlinear equations are solved to round-off,
    since the conservation is only as good as the solution: by Newton steps with the Hessian at the end of the step,
    which is nearly the derivative of the discrete gradient, until the residual no longer decreases. A step is accepted
    when the residual is below ``tolerance``, relative to the forces of inertia and elasticity that cancel in it, or
    when positions no longer change.
    """

    tolerance: float = 1e-9
    max_iterations: int = 50
    linear: LinearSolver = field(default_factory=Cholesky)
    order: ClassVar[int] = 2

    @one_thread()
    def step(self, system: Elastodynamics, state: State, h: float, memory: Any = None) -> Step:
        require_gradients(system)
        clock = Clock()
        q, v, t, free = state.q, state.v, state.t, system.free
        end = system.prescribe(q + h * v, t + h)
        counts, best, analysis, moved = Counts(), (np.inf, end), memory, np.inf
        for iteration in range(self.max_iterations + 1):
            with clock("force"):
                r, floor = residual(system, state, end, h)
            size = float(np.abs(r[free]).max(initial=0.0)) / floor
            counts = counts + Counts(forces=1)
            near = best[0] < self.tolerance or moved < ROUND * system.scale
            stalled = near and size > 0.5 * best[0]
            best = (size, end) if size < best[0] else best
            if size <= ROUND or stalled or iteration == self.max_iterations or not np.isfinite(size):
                break
            try:
                with clock("factor"):
                    A = system.tangent(end, (end - q) / h, t + 0.5 * h, (2.0 / h**2, 1.0 / h, 0.5), psd=True)
                    factor = self.linear.factor(system.restrict(A), analysis)
            except NotPositiveDefinite as error:
                failed = SolveReport(False, iteration, size, self.tolerance, counts, clock.totals(), message=str(error))
                return Step(state, memory, (failed,))
            analysis = factor.memory
            with clock("solve"):
                way = factor.solve(r[free])
                moved, end = float(np.abs(way).max(initial=0.0)), end.copy()
                end[free] -= way
            counts = counts + Counts(fills=1, factorizations=1, solves=1)
        size, end = best
        rested = size > self.tolerance and moved < ROUND * system.scale  # positions cannot be told better
        good = size <= self.tolerance or rested
        message = "" if good else "the residual of the discrete gradient does not decrease; reduce h"
        report = SolveReport(good, iteration, size, self.tolerance, counts, clock.totals(), message=message)
        report = replace(report, error=moved, judged="round-off") if rested else report
        speed = (end - q) / h
        after = speed.copy()
        after[free] = 2.0 * speed[free] - v[free]
        return Step(State(end, after, t + h), analysis, (report,))


def residual(system: Elastodynamics, state: State, end: Array, h: float) -> tuple[Array, float]:
    """2/h^2 M (q_1 - q_0 - h v_0) + g - f (N,) [N], and the size of the terms that cancel in it."""
    q, v = state.q, state.v
    inertia = 2.0 / h**2 * system.inertia(q, end - q - h * v)
    middle, speed, t = 0.5 * (q + end), (end - q) / h, state.t + 0.5 * h
    terms = [inertia]
    terms += [e.between(q, end) for e in system.energy_terms if isinstance(e, Conserving)]
    terms += [-f.force(middle, speed, t) for f in system.force_terms]
    size = max(float(np.abs(term).max(initial=0.0)) for term in terms)
    momentum = float(np.abs(system.inertia(q, v)).max(initial=0.0)) / h
    return np.sum(terms, axis=0), max(size, momentum, 1e-300)


def require_gradients(system: Elastodynamics) -> None:
    """Refuse what has no discrete gradient, by its name."""
    if not isinstance(system, Elastodynamics):
        what = f"{type(system).__name__} has no list of energies"
        raise SceneError(what, where="EnergyMomentum", remedy="use ImplicitMidpoint")
    if system.contact is not None:
        raise SceneError("contact has no discrete gradient", where="EnergyMomentum", remedy="use ImplicitMidpoint")
    for energy in system.energy_terms:
        if not isinstance(energy, Conserving):
            what = f"the energy {energy.name!r} has no discrete gradient"
            raise SceneError(what, where="EnergyMomentum", remedy="use ImplicitMidpoint")
