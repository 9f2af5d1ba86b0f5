"""Dormand-Prince 5(4) with error control, for conservative systems and smooth constraints [Dormand1980].

Accelerations solve M a = f subject to G a = rhs (Baumgarte at the level of accelerations). The controller is the one
the published reference energies were made with: largest relative error per component, growth at most 5, the first
rejection by the error estimate and every further one by half, the last step stretched by up to 10 percent.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.articulated.closures import refuse_inequalities
from pliant.articulated.system import ArticulatedSystem
from pliant.budget import check_budget
from pliant.linear.threads import one_thread
from pliant.state import Counts, SolveReport, State, Step

_C = np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
_A = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_E = np.array([71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])


@dataclass(frozen=True)
class RK45Memory:
    """The step size that the error control proposes next."""

    h: float


@dataclass(frozen=True)
class RK45:
    """Runge-Kutta-Dormand-Prince of order 5 with error control, at least ten substeps per step.

    Equality constraints only: contacts and friction in joints are refused, limits are springs.
    """

    rtol: float = 1e-4
    atol: float = 1e-6
    substeps: int = 100_000
    order: ClassVar[int] = 5
    made_for: ClassVar[type] = ArticulatedSystem

    @one_thread()
    def step(self, system: ArticulatedSystem, state: State, h: float, memory: RK45Memory | None = None) -> Step:
        refuse_inequalities(system.constraints, "RK45")
        q, v = system.tree.reparameterise(state.q, state.v)
        y, t, end = np.concatenate([q, v]), state.t, state.t + h
        rate = lambda t, y: self._rate(system, t, y)
        first = rate(t, y)
        largest = 0.1 * h
        dt = min(largest, memory.h if memory else self._first_step(y, first, h))
        evaluations, accepted, failed, proposed, worst = 1, 0, False, dt, 0.0
        while t < end and accepted < self.substeps:
            check_budget()
            dt = min(max(dt, 16 * np.spacing(abs(t) + h)), largest)
            if 1.1 * dt >= end - t:
                dt = end - t
            new, k, error = self._try(rate, t, y, first, dt)
            evaluations += 6
            if error > self.rtol:
                shrink = max(0.1, 0.8 * (self.rtol / error) ** 0.2) if not failed else 0.5
                dt, failed = dt * shrink, True
                if dt < 16 * np.spacing(abs(t)):
                    break
                continue
            t = end if dt == end - t else t + dt
            y, first, accepted, worst = new, k, accepted + 1, max(worst, error)
            growth = 1.0 if failed else 1.0 / max(1.25 * (error / self.rtol) ** 0.2, 0.2)
            dt, failed = dt * growth, False
            proposed = dt
        done = t >= end and bool(np.isfinite(y).all())
        report = SolveReport(
            done, accepted, worst, self.rtol, Counts(evaluations), message="" if done else "step size vanished"
        )
        n = len(q)
        return Step(State(y[:n], y[n:], end if done else t), RK45Memory(proposed), (report,))

    def _first_step(self, y: Array, rate: Array, h: float) -> float:
        scale = float(np.abs(rate / np.maximum(np.abs(y), self.atol / self.rtol)).max()) / (0.8 * self.rtol**0.2)
        return min(0.1 * h, 1.0 / scale) if scale * 0.1 * h > 1.0 else 0.1 * h

    def _try(self, rate, t: float, y: Array, first: Array, dt: float) -> tuple[Array, Array, float]:  # type: ignore[no-untyped-def]
        """(new y, rate there, error relative to max(|y|, |ynew|, atol/rtol))."""
        K = [first]
        for i in range(1, 7):
            new = y + dt * sum(a * k for a, k in zip(_A[i], K, strict=True))
            K.append(rate(t + _C[i] * dt, new))
        e = dt * np.einsum("s,si->i", _E, np.array(K))
        threshold = np.maximum(np.maximum(np.abs(y), np.abs(new)), self.atol / self.rtol)
        return new, K[6], float(np.abs(e / threshold).max())

    def _rate(self, system: ArticulatedSystem, t: float, y: Array) -> Array:
        n = system.tree.dof
        q, v = y[:n], y[n:]
        return np.concatenate([v, system.acceleration(q, v, t)])
