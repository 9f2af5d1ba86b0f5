"""Exponential Rosenbrock method of order 3 with an embedded step of order 2, and steps that obey its error.

    U = u + h phi1(h J) b(u),    u_1 = U + 2 h phi3(h J) (b(U) - b(u) - J (U - u))

U is the step of ERE, so the correction is its error estimated: exact for linear forces, and where they are not it says
by how much. [Hochbruck2009, exprb32]
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from pliant.clock import Clock
from pliant.errors import SceneError
from pliant.integrators.ere import EREMemory, trouble
from pliant.integrators.estimate import LocalError, spread
from pliant.integrators.exponential import Krylov, Mass, increment, remainder
from pliant.integrators.linearised import advanced, linearise
from pliant.linear.threads import one_thread
from pliant.state import Counts, SolveReport, State, Step, Transient
from pliant.systems.base import System

HALVINGS = 10


@dataclass(frozen=True)
class EXPRB32:
    """Exponential Rosenbrock method of order 3 with an error estimate that may halve steps.

    Krylov dimension ``m`` and relative ``tolerance`` of the exponentials are those of `ERE`; K is never projected.
    ``accuracy`` is the largest estimated position error in a step, relative to the size of the system: a step that
    exceeds it is taken in two halves, and so on. None accepts every step. Scripted motions that accelerate are
    integrated with order 2. The residual in the report is the estimated error, the iterations are the substeps of the
    exponentials.
    """

    m: int = 30
    tolerance: float = 1e-9
    accuracy: float | None = None
    order: ClassVar[int] = 3

    def __post_init__(self) -> None:
        if self.accuracy is not None and not self.accuracy > 0.0:
            remedy = "give a part of the size, such as 1e-4, or None"
            raise SceneError(f"accuracy is {self.accuracy}", where="EXPRB32.accuracy", remedy=remedy)

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        return self._covered(system, state, h, memory, HALVINGS)

    @one_thread()
    def estimated(
        self, system: System, state: State, h: float, memory: Any = None, analysis: Any = None
    ) -> tuple[Step, LocalError]:
        """The whole step, and the error of the embedded one of order 2, which is larger than its own."""
        step, (eq, ev) = self._whole(system, state, h, memory)
        return step, LocalError(spread(state.q, system.free, eq), spread(state.q, system.free, ev), 3)

    def _covered(self, system: System, state: State, h: float, memory: Any, left: int) -> Step:
        step, _ = self._whole(system, state, h, memory)
        report = step.reports[0]
        if self.accuracy is None or left == 0 or (report.converged and report.residual <= self.accuracy):
            return step
        first = self._covered(system, state, 0.5 * h, step.memory, left - 1)
        second = self._covered(system, first.state, 0.5 * h, first.memory, left - 1)
        wasted = replace(report, converged=True, message="")  # redone, but its cost counts
        return replace(second, reports=(wasted, *first.reports, *second.reports))

    def _whole(self, system: System, state: State, h: float, memory: Any) -> tuple[Step, Any]:
        """The step, and the correction (dq, dv) that it has over ERE's."""
        clock, kept = Clock(), memory or EREMemory()
        with clock("fill"):
            linear = linearise(system, state, h, at=state.t + 0.5 * h, psd=False)
            mass = kept.mass
            if mass is None or not mass.value.fits(linear.M):
                mass = Transient(Mass(linear.M))
        choice = Krylov(self.m, self.tolerance)
        with clock("exponential"):
            dq, dv, first = increment(linear, mass.value, h, choice)
        middle = advanced(system, state, h, dq, dv, linear.scripted)
        with clock("exponential"):
            eq, ev, second = remainder(system, linear, mass.value, (state, middle), h, (dq, dv), choice)
        message = trouble(linear, h, first if not first.converged else second, dq + eq, dv + ev)
        error = float(np.abs(eq).max(initial=0.0)) / system.scale
        counts = Counts(forces=2, fills=1, inner=first.products + second.products)
        bound = float("inf") if self.accuracy is None else self.accuracy
        if not message and not error <= bound:
            message = f"an estimated error of {error:.2g} of the size after {HALVINGS} halvings"
        report = SolveReport(
            not message, first.substeps + second.substeps, error, bound, counts, clock.totals(), message=message
        )
        end = advanced(system, state, h, dq + eq, dv + ev, linear.scripted)
        return Step(end, EREMemory(mass), (report,)), (eq, ev)
