"""Explicit one-step methods: explicit Euler, symplectic Euler, velocity Verlet, each with ``substeps`` per step.

A system that can march many substeps in one kernel call (``march``) is asked to; the arithmetic is the same.
[Ledwon2024, sec. 3.1]
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pliant.abilities import able
from pliant.arrays import Array
from pliant.budget import check_budget
from pliant.closed_stage import consistent
from pliant.errors import require_count
from pliant.linear.threads import one_thread
from pliant.state import Counts, SolveReport, State, Step
from pliant.systems.base import System
from pliant.systems.closures import Constrained
from pliant.systems.stepped import Marching, Smooth

MARCHED = 10_000  # substeps of one call, before the budget of the step is looked at


def explicit_report(system: System, before: State, q: Array, v: Array, h: float, forces: int) -> SolveReport:
    """Explicit steps solve nothing, so they are not certified; they fail where they do not stay finite.

    The residual is by how much the ends of the step miss the trapezoidal rule, |q1 - q0 - h (v0 + v1)/2|: it vanishes
    with h^2 or faster where the motion is resolved, and grows where the step is beyond its limit.
    """
    finite = bool(np.isfinite(q).all() and np.isfinite(v).all())
    message = "" if finite else "not finite: the step is beyond the stability limit; reduce h"
    missed = (q - before.q - 0.5 * h * (before.v + v))[system.free]
    with np.errstate(over="ignore"):  # of a step that explodes
        size = float(np.sqrt(system.weights(before.q)[system.free] @ missed**2)) if finite else float("nan")
    return SolveReport(finite, 0, size, None, Counts(forces=forces), message=message, certified=False)


def begun(system: System, state: State, memory: Any) -> tuple[State, Any]:
    """The state that an explicit step sets out from, and its memory: whether closures have been met.

    Where a run begins, velocities are made to agree with loops, motors and ties: accelerations keep them so, but would
    never close a gap that opens at a constant rate.
    """
    if memory is not None or not able(system, Constrained):
        return state, memory
    return consistent(system, state), {"begun": True}


def scripted_velocity(system: System, state: State, h: float) -> Array:
    """The velocities with the prescribed coordinates on their way to their places at t + h."""
    v: Array = (system.prescribe(state.q, state.t + h) - state.q) / h
    v[system.free] = state.v[system.free]
    return v


@dataclass(frozen=True)
class ExplicitEuler:
    """Explicit Euler, q += h v, v += h a(q, v) with the old values: order 1, gains energy; for comparison only."""

    substeps: int = 1
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = Smooth

    def __post_init__(self) -> None:
        require_count(self.substeps, 1, "ExplicitEuler.substeps")

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        dt = h / self.substeps
        state, memory = begun(system, state, memory)
        q, v, t = state.q, scripted_velocity(system, state, h), state.t
        for k in range(self.substeps):
            check_budget()
            a = system.acceleration(q, v, t + k * dt)
            q, v = system.prescribe(q + dt * v, t + (k + 1) * dt), v + dt * a
        return Step(State(q, v, t + h), memory, (explicit_report(system, state, q, v, h, self.substeps),))


@dataclass(frozen=True)
class SymplecticEuler:
    """Symplectic Euler, v += h a(q), then q += h v: order 1, no energy drift for h omega_max <= 2."""

    substeps: int = 1
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = Smooth
    symplectic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_count(self.substeps, 1, "SymplecticEuler.substeps")

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        dt = h / self.substeps
        state, memory = begun(system, state, memory)
        v = scripted_velocity(system, state, h)
        q, v = march(system, state.q, v, state.t, dt, self.substeps)
        return Step(State(q, v, state.t + h), memory, (explicit_report(system, state, q, v, h, self.substeps),))


@dataclass(frozen=True)
class Verlet:
    """Velocity Verlet: order 2 at the cost of symplectic Euler, explicit, no energy drift for h omega_max <= 2.

    It differs from symplectic Euler by half a kick at either end. Forces that depend on the velocity are evaluated at v
    + h a with the acceleration of the previous step, which preserves the order.
    """

    substeps: int = 1
    order: ClassVar[int] = 2
    made_for: ClassVar[type] = Smooth
    symplectic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_count(self.substeps, 1, "Verlet.substeps")

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        dt, t = h / self.substeps, state.t
        state, memory = begun(system, state, memory)
        q, v = state.q, scripted_velocity(system, state, h)
        a = system.acceleration(q, v, t)
        marched = marched_by_kernel(system, q, v - 0.5 * dt * a, dt, self.substeps)
        if marched is not None:
            q, v = marched
            v = v + 0.5 * dt * system.acceleration(q, v, t + h)
        else:
            for k in range(1, self.substeps + 1):
                check_budget()
                q = system.prescribe(q + dt * (v + 0.5 * dt * a), t + k * dt)
                new = system.acceleration(q, v + dt * a, t + k * dt)
                v, a = v + 0.5 * dt * (a + new), new
        return Step(State(q, v, t + h), memory, (explicit_report(system, state, q, v, h, self.substeps + 2),))


def march(system: System, q: Array, v: Array, t: float, dt: float, steps: int) -> tuple[Array, Array]:
    """``steps`` symplectic Euler steps, in one kernel call where the system offers it."""
    marched = marched_by_kernel(system, q, v, dt, steps)
    if marched is not None:
        return marched
    for k in range(steps):
        check_budget()
        v = v + dt * system.acceleration(q, v, t + k * dt)
        q = system.prescribe(q + dt * v, t + (k + 1) * dt)
    return q, v


def marched_by_kernel(system: System, q: Array, v: Array, dt: float, steps: int) -> tuple[Array, Array] | None:
    """The same in calls of a compiled loop; None where the system has none (damping, moving scripts)."""
    while steps > 0 and able(system, Marching):
        check_budget()
        marched = system.march(q, v, dt, min(steps, MARCHED))
        if marched is None:
            return None
        (q, v), steps = marched, steps - MARCHED
    return (q, v) if able(system, Marching) else None
