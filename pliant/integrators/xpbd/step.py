"""XPBD: implicit Euler by Gauss-Seidel on compliant constraints, in small substeps. [Macklin2016; Macklin2019]

    predict   x = x_n + h v,   (M - h D)(v - v_n) = h f,   lam = 0
    project   every constraint in turn, ``iterations`` times
    update    v = (x - x_n)/h

D is the damping of the bodies (without any, v = v_n + h W f); conjugate gradients solve for it. Otherwise neither
tolerance nor matrix: what that costs in accuracy is the residual of implicit Euler, reported every step.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.clock import Clock
from pliant.errors import SceneError
from pliant.integrators.xpbd.model import Model, compile_model
from pliant.integrators.xpbd.patches import PATCH
from pliant.linear.pcg import PCG
from pliant.linear.threads import one_thread
from pliant.stage import Stage
from pliant.state import Counts, SolveReport, State, Step, Transient
from pliant.systems.elastodynamics import Elastodynamics

DAMPING = PCG(tolerance=1e-6)


@dataclass(frozen=True)
class XPBD:
    """Extended position-based dynamics: ``substeps`` per step, of ``iterations`` sweeps each. [Macklin2016]

    Many substeps with one sweep are more accurate than one substep with many sweeps. ``damping`` [s] acts on every
    constraint like Rayleigh damping proportional to the stiffness, implicitly. Damping forces of the bodies are
    implicit in the velocities, before the constraints are projected. ``patch`` constraints at a time are projected one
    after the other (`patches`). It determines the order of all projections on every machine and device, and with it the
    result within the error of the method; ``patch=1`` makes the best use of a GPU.
    """

    substeps: int = 10
    iterations: int = 1
    damping: float = 0.0
    patch: int = PATCH
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = Elastodynamics

    def __post_init__(self) -> None:
        for name in ("substeps", "iterations", "patch"):
            if not getattr(self, name) >= 1:
                raise SceneError(f"{name} is {getattr(self, name)}", where=f"XPBD.{name}", remedy="use 1 or more")
        if not self.damping >= 0.0:
            raise SceneError(f"damping is {self.damping} s", where="XPBD.damping", remedy="it cannot be negative")

    @one_thread()
    def step(self, system: Elastodynamics, state: State, h: float, memory: Any = None) -> Step:
        clock = Clock()
        kept = memory is not None and memory.value.system is system
        model: Model = memory.value if kept else compile_model(system, self.patch)
        dt, end = h / self.substeps, state.t + h
        for k in range(self.substeps):
            before, t = state, end - (self.substeps - 1 - k) * dt
            with clock("force"):
                predicted = self._predict(model, before, dt, t)
            with clock("project"):
                q = model.project(predicted, before.q, dt, self.damping, self.iterations)
            state = State(q, (q - before.q) / dt, t)
        with clock("force"):
            residual = stage_residual(system, before, state, dt)
        return Step(state, Transient(model), (self._report(residual, system.free_mass, clock),))

    def _predict(self, model: Model, state: State, h: float, t: float) -> Array:
        """Positions the particles would reach without constraints, prescribed ones where they belong."""
        system = model.system
        if not system.force_terms:
            return system.prescribe(state.q + h * (state.v + h * model.inverse_mass * model.load), t)
        f = sum((force.force(state.q, state.v, t) for force in system.force_terms), model.load)
        dv, D = np.zeros_like(f), system.damping(state.q, state.v, t)
        A = system.restrict(system.weighted_sum([(1.0, system.mass(state.q)), (-h, D)]))
        dv[system.free] = DAMPING.factor(A).solve(h * f[system.free])
        return system.prescribe(state.q + h * (state.v + dv), t)

    def _report(self, residual: float, mass: float, clock: Clock) -> SolveReport:
        """There is no tolerance to miss; what was given up is the residual of implicit Euler over the last substep.

        The error it stands for is told as if all substeps were alike.
        """
        finite = bool(np.isfinite(residual))
        return SolveReport(
            converged=finite,
            iterations=self.substeps * self.iterations,
            residual=residual,
            tolerance=None,
            counts=Counts(forces=1),
            seconds=clock.totals(),
            message="fixed iterations" if finite else "not finite: use more substeps or a softer material",
            error=self.substeps * residual / max(float(np.sqrt(mass)), 1e-300) if finite else None,
            certified=False,
        )


def stage_residual(system: Elastodynamics, before: State, after: State, h: float) -> float:
    """The norm of the implicit Euler residual of a step of length h, as the nonlinear solvers measure it."""
    stage = Stage(system, h, before.q + h * before.v, before.q, after.t, after.q, before)
    return stage.norm(stage.residual(after.q[system.free]))
