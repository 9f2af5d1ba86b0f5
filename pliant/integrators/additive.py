"""Additive (IMEX) stepping: the stiff part of the forces linearly implicit, the rest explicit. [Chen2019, Eq. 5.4]

    (M + h D + h^2 K_H) dv = h (f - h K_H v_n),    v = v_n + dv,  q = q_n + h v

All forces enter on the right; the split only says whose Hessian stands on the left. With every Hessian it is linearly
implicit Euler, with none of them symplectic Euler. K_H is the sum of Hessians of energies, hence positive here.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import UnionType
from typing import Any, ClassVar
from warnings import warn

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.clock import Clock
from pliant.energies.base import Energy
from pliant.errors import NotPositiveDefinite, SceneError
from pliant.integrators.explicit import scripted_velocity
from pliant.linear.base import LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.threads import one_thread
from pliant.state import Counts, SolveReport, State, Step
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.stepped import Contacting
from pliant.velocity_programme import velocity_step
from pliant.velocity_step import change_of_momentum

Split = Callable[[Energy, Array], sp.csr_matrix | None]  # the implicit part of an energy's Hessian at x, or None


def everything(energy: Energy, x: Array) -> sp.csr_matrix | None:
    """All of the Hessian: linearly implicit Euler."""
    return energy.hessian(x, psd=True)


def nothing(energy: Energy, x: Array) -> sp.csr_matrix | None:
    """No Hessian: symplectic Euler."""
    return None


@dataclass(frozen=True)
class Additive:
    """Linearly implicit for the stiff part of the forces, explicit for the rest [Chen2019, Eq. 5.4].

    ``split(energy, x)`` says which part of each energy's Hessian is implicit; damping always is.

    The explicit part must respect its own stability limit, h sqrt(lam_max) < 2 for the stiffness left out.
    """

    split: Split = everything
    linear: LinearSolver = field(default_factory=Cholesky)
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = Elastodynamics

    @one_thread()
    def step(self, system: Elastodynamics, state: State, h: float, memory: Any = None) -> Step:
        return additive_step(system, state, h, memory, split=self.split, linear=self.linear)


def additive_step(
    system: Elastodynamics,
    state: State,
    h: float,
    memory: Any,
    *,
    split: Split,
    linear: LinearSolver,
    velocity_term: bool = True,
) -> Step:
    """One step; ``velocity_term=False`` leaves out - h K_H v_n, as [Chen2019, Eq. 5.8 and 5.11] are printed."""
    clock = Clock()
    q, free, t = state.q, system.free, state.t + h
    if isinstance(system, Contacting):  # whose springs are then among the energies
        system = system.at(state, t)
    v = scripted_velocity(system, state, h)
    with clock("fill"):
        parts = implicit_parts(system, q, split)
        A = system.weighted_sum([(1.0, system.mass(q)), (-h, system.damping(q, v, t)), *((h * h, K) for K in parts)])
        rhs = change_of_momentum(system, A, q, v, t, h) if velocity_term else h * system.force(q, v, t)
    try:
        with clock("solve"):
            solution = velocity_step(system.restrict(A), rhs[free], linear=linear, memory=memory)
    except NotPositiveDefinite as error:
        failed = SolveReport(False, 1, float("nan"), 0.0, Counts(1, 1), clock.totals(), message=str(error))
        return Step(state, memory, (failed,))
    v[free] += solution.u
    q = system.prescribe(q + h * v, t)
    finite = bool(np.isfinite(q).all())
    counts = solution.report.counts + Counts(1, 1)
    message = "" if finite else "not finite: the explicit part is beyond its stability limit; reduce h"
    told = solution.report
    message = message or told.message
    report = replace(told, converged=told.converged and finite, counts=counts, seconds=clock.totals(), message=message)
    return Step(State(q, v, t), solution.memory, (report,))


def say_unsplit(system: Elastodynamics, memory: Any, splits: type | UnionType, method: str, what: str) -> None:
    """Warn at the start of a run in which a method has nothing to treat apart, and is linearly implicit Euler."""
    if (
        memory is None
        and isinstance(system, Elastodynamics)
        and not any(isinstance(e, splits) for e in system.energy_terms)
    ):
        warn(f"{method} finds no {what} here: its steps are those of LinearlyImplicit", stacklevel=3)


def implicit_parts(system: Elastodynamics, q: Array, split: Split) -> list[sp.csr_matrix]:
    """The implicit parts of the Hessians; K_H is their sum."""
    if not isinstance(system, Elastodynamics):
        raise SceneError(
            f"{type(system).__name__} does not list its energies",
            where="additive integrator",
            remedy="use a system of deformable bodies",
        )
    parts = [split(energy, q) for energy in system.energy_terms]
    return [K for K in parts if K is not None]
