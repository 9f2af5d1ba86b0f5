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
from pliant.budget import check_budget
from pliant.clock import Clock
from pliant.errors import SceneError
from pliant.integrators.xpbd.constraints import Batch, constraints, in_space
from pliant.linear.pcg import PCG
from pliant.linear.threads import one_thread
from pliant.stage import Stage
from pliant.state import Counts, SolveReport, State, Step, Transient
from pliant.systems.base import System
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.projected_contact import Projecting

DAMPING = PCG(tolerance=1e-6)


@dataclass(frozen=True, eq=False)
class Model:
    """The constraints of a system, its inverse masses ``W (n, 3)`` [1/kg] and constant ``load (N,)`` [N]."""

    system: Any
    batches: tuple[Batch, ...]
    W: Array
    load: Array


@dataclass(frozen=True)
class XPBD:
    """``substeps`` steps of ``iterations`` sweeps each; many substeps with one sweep beat one step with many.

    ``damping`` [s] acts on every constraint like Rayleigh damping proportional to stiffness, implicitly. Damping forces
    of the bodies are implicit in the velocities, too, before the constraints are projected.
    """

    substeps: int = 10
    iterations: int = 1
    damping: float = 0.0
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = Elastodynamics

    def __post_init__(self) -> None:
        for name in ("substeps", "iterations"):
            if not getattr(self, name) >= 1:
                raise SceneError(f"{name} is {getattr(self, name)}", where=f"XPBD.{name}", remedy="use 1 or more")
        if not self.damping >= 0.0:
            raise SceneError(f"damping is {self.damping} s", where="XPBD.damping", remedy="it cannot be negative")

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        clock = Clock()
        kept = memory is not None and memory.value.system is system
        model: Model = memory.value if kept else compile_model(system)
        multipliers = [np.empty(batch.multipliers) for batch in model.batches]
        dt, end = h / self.substeps, state.t + h
        for k in range(self.substeps):
            before, t = state, end - (self.substeps - 1 - k) * dt
            with clock("force"):
                predicted = self._predict(model, before, dt, t)
            with clock("project"):
                q = self._project(model, predicted, before.q, dt, multipliers)
            state = State(q, (q - before.q) / dt, t)
        with clock("force"):
            residual = stage_residual(system, before, state, dt)
        return Step(state, Transient(model), (self._report(residual, system.free_mass, clock),))

    def _predict(self, model: Model, state: State, h: float, t: float) -> Array:
        """Positions the particles would reach without constraints, prescribed ones where they belong."""
        system = model.system
        f = model.load
        for force in system.force_terms:
            f = f + force.force(state.q, state.v, t)
        D = system.damping(state.q, state.v, t)
        if D.nnz:
            dv = np.zeros_like(f)
            A = system.restrict(system.weighted_sum([(1.0, system.mass(state.q)), (-h, D)]))
            dv[system.free] = DAMPING.factor(A).solve(h * f[system.free])
        else:
            dv = h * model.W[:, : system.X.shape[1]].ravel() * f
        return system.prescribe(state.q + h * (state.v + dv), t)

    def _project(self, model: Model, predicted: Array, start: Array, h: float, multipliers: list[Array]) -> Array:
        """Positions after all sweeps of a substep, its multipliers starting from zero."""
        d = model.system.X.shape[1]
        x, x0 = in_space(predicted.reshape(-1, d)), in_space(start.reshape(-1, d))
        for lam in multipliers:
            lam.fill(0.0)
        for _ in range(self.iterations):
            check_budget()
            for batch, lam in zip(model.batches, multipliers, strict=True):
                batch.sweep(x, x0, model.W, lam, h, self.damping)
        return np.ascontiguousarray(x[:, :d]).ravel()

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


def stage_residual(system: System, before: State, after: State, h: float) -> float:
    """The norm of the implicit Euler residual of a step of length h, as the nonlinear solvers measure it."""
    stage = Stage(system, h, before.q + h * before.v, before.q, after.t, after.q, before)
    return stage.norm(stage.residual(after.q[system.free]))


def compile_model(system: Any) -> Model:
    """Constraints, inverse masses and loads of a system; refuses by name what has no constraint form."""
    if not isinstance(system, Elastodynamics):
        raise SceneError(f"{type(system).__name__} has no list of energies", where="XPBD", remedy="use elastodynamics")
    if system.contact is not None and not isinstance(system.contact, Projecting):
        remedy = "use ProjectedContact, or an integrator with stages (BDF1, BDF2, ...)"
        raise SceneError("the contact model of the scene has no constraint form", where="XPBD", remedy=remedy)
    n, d = system.X.shape
    q = system.X.ravel()
    if system.mass(q).nnz != n * d:
        raise SceneError("the mass matrix is not diagonal", where="XPBD", remedy="use lumped=True")
    inverse = np.zeros(n * d)
    inverse[system.free] = 1.0 / system.nodal_mass[system.free]
    load = np.zeros(n * d)
    batches: list[Batch] = []
    for energy in system.energy_terms:
        found = constraints(energy, system.X)
        batches += found
        if not found:
            load -= energy.gradient(q)
    return Model(system, tuple(batches), in_space(inverse.reshape(n, d)), load)
