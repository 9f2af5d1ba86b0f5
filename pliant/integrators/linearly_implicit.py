"""Linearly implicit Euler (Baraff-Witkin, VANILLA): one linear solve per step.

    (M - h D - beta h^2 K) v = M v_n + h (f - D v_n),    q = q_n + h v

beta = 1 is exactly one Newton step of backward Euler from q_n; beta = 1/2 is the least value that is stable for linear
forces at any h, and larger ones are pure damping. [Weidner2022, Eq. C.1; ConJac2020, Eq. 10; Chen2019, Eq. 2.10]
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from pliant.clock import Clock
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.linear.base import LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.state import Counts, SolveReport, State, Step
from pliant.systems.base import System
from pliant.velocity_step import velocity_step


@dataclass(frozen=True)
class LinearlyImplicit:
    """``variant="A"`` linearises at q_n [Chen2019, Eq. 2.10]; "B" at q_n + h v_n, one Newton step on the velocities.

    Nothing is iterated, so there is no residual to drive to zero: the result depends on the matrix, and frozen or
    extrapolated factors must not be used here.
    """

    beta: float = 1.0
    variant: Literal["A", "B"] = "A"
    psd: bool = True
    linear: LinearSolver = field(default_factory=Cholesky)
    order: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not self.beta >= 0.0:
            remedy = "use 1, or 1/2 for the least damping that is stable for every h"
            raise SceneError(f"beta is {self.beta}", where="LinearlyImplicit.beta", remedy=remedy)

    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        clock = Clock()
        q, v, t = state.q, state.v, state.t
        at = q if self.variant == "A" else system.prescribe(q + h * v, t + h)
        with clock("force"):
            f = system.force(at, v, t + h)
        with clock("fill"):
            A = system.tangent(at, v, t + h, (1.0, h, self.beta * h * h), psd=self.psd)
            rhs = h * f
            if self.variant == "A":  # + beta h^2 K v: the positions move with the old velocity too
                rhs += system.mass(q) @ v - h * (system.damping(at, v, t + h) @ v) - A @ v
            dv = (system.prescribe(q + h * v, t + h) - q) / h - v  # prescribed part known, free part unknown
            dv[system.free] = 0.0
            rhs -= A @ dv
        try:
            with clock("solve"):
                solution = velocity_step(system.restrict(A), rhs[system.free], linear=self.linear, memory=memory)
        except NotPositiveDefinite as error:
            report = SolveReport(False, 1, float("nan"), 0.0, Counts(1, 1), clock.totals(), message=str(error))
            return Step(state, memory, (report,))
        dv[system.free] = solution.u
        v = v + dv
        q = system.prescribe(q + h * v, t + h)
        finite = bool(np.isfinite(v).all())
        report = SolveReport(
            finite,
            1,
            solution.report.residual,
            0.0,
            solution.report.counts + Counts(1, 1),
            clock.totals(),
            message="" if finite else "velocities are not finite",
        )
        return Step(State(q, v, t + h), solution.memory, (report,))
