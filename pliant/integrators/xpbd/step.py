"""XPBD: implicit Euler by Gauss-Seidel on compliant constraints, in small substeps. [Macklin2016; Macklin2019]

    predict   x = x_n + h v_n + h^2 W f,   lam = 0
    project   every constraint in turn, ``iterations`` times
    update    v = (x - x_n)/h

Neither tolerance nor matrix: what that costs in accuracy is the residual of implicit Euler, reported every step.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array
from pliant.clock import Clock
from pliant.errors import SceneError
from pliant.integrators.xpbd.constraints import Batch, constraints, in_space
from pliant.stage import Stage
from pliant.state import Counts, SolveReport, State, Step, Transient
from pliant.systems.base import System


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
    of the bodies enter as loads at the start of each substep, hence explicitly.
    """

    substeps: int = 10
    iterations: int = 1
    damping: float = 0.0
    order: ClassVar[int] = 1

    def __post_init__(self) -> None:
        for name in ("substeps", "iterations"):
            if not getattr(self, name) >= 1:
                raise SceneError(f"{name} is {getattr(self, name)}", where=f"XPBD.{name}", remedy="use 1 or more")
        if not self.damping >= 0.0:
            raise SceneError(f"damping is {self.damping} s", where="XPBD.damping", remedy="it cannot be negative")

    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        clock = Clock()
        model = (
            memory.value if isinstance(memory, Transient) and memory.value.system is system else compile_model(system)
        )
        dt, end = h / self.substeps, state.t + h
        for k in range(self.substeps):
            before, t = state, end - (self.substeps - 1 - k) * dt
            with clock("force"):
                predicted = self._predict(model, before, dt, t)
            with clock("project"):
                q = self._project(model, predicted, before.q, dt)
            state = State(q, (q - before.q) / dt, t)
        with clock("force"):
            report = self._report(system, before, state, predicted, dt, clock)
        return Step(state, Transient(model), (report,))

    def _predict(self, model: Model, state: State, h: float, t: float) -> Array:
        """Positions the particles would reach without constraints, prescribed ones where they belong."""
        system = model.system
        f = model.load
        for force in system.force_terms:
            f = f + force.force(state.q, state.v, t)
        W = model.W[:, : system.X.shape[1]].ravel()
        return system.prescribe(state.q + h * state.v + h * h * W * f, t)

    def _project(self, model: Model, predicted: Array, start: Array, h: float) -> Array:
        d = model.system.X.shape[1]
        x, x0 = in_space(predicted.reshape(-1, d)), in_space(start.reshape(-1, d))
        multipliers = [np.zeros(batch.multipliers) for batch in model.batches]
        for _ in range(self.iterations):
            for batch, lam in zip(model.batches, multipliers, strict=True):
                batch.sweep(x, x0, model.W, lam, h, self.damping)
        return np.ascontiguousarray(x[:, :d]).ravel()

    def _report(
        self, system: System, before: State, after: State, predicted: Array, h: float, clock: Clock
    ) -> SolveReport:
        """What was given up: the residual of implicit Euler over the last substep, beside that of the prediction."""
        target = before.q + h * before.v
        stage = Stage(system, h, target, before.q, after.t, after.q, before)
        free = system.free
        start, end = (stage.norm(stage.residual(q[free])) for q in (predicted, after.q))
        finite = bool(np.isfinite(end) and np.isfinite(after.v).all())
        left = f"fixed iterations: residual {end:.2e} of {start:.2e}"
        return SolveReport(
            converged=finite,
            iterations=self.substeps * self.iterations,
            residual=end,
            tolerance=float("inf"),
            counts=Counts(forces=2),
            seconds=clock.totals(),
            history=({"iteration": 0, "residual": start}, {"iteration": self.iterations, "residual": end}),
            message=left if finite else "not finite: use more substeps or a softer material",
        )


def compile_model(system: Any) -> Model:
    """Constraints, inverse masses and loads of a system; refuses by name what has no constraint form."""
    if not hasattr(system, "energy_terms"):
        raise SceneError(f"{type(system).__name__} has no list of energies", where="XPBD", remedy="use elastodynamics")
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
