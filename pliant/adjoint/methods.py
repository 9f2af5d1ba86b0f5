"""How each method makes a step from solved stages and accelerations, written on the tape in the words of its own file.

``solved`` are the stages of the step as they were recorded. What a method starts from are vectors of the tape, so a
formula here is the formula there, and its adjoint needs no second thought.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.adjoint.closed import Closed
from pliant.adjoint.linear_step import SteppedLinearly
from pliant.adjoint.operations import Accelerated, Algebra, Put, SolvedStage, Sped
from pliant.adjoint.tape import Tape, Vector
from pliant.arrays import Array
from pliant.closed_stage import ClosedStage
from pliant.errors import SceneError
from pliant.integrators.bdf1 import BDF1
from pliant.integrators.bdf2 import BDF2
from pliant.integrators.explicit import ExplicitEuler, SymplecticEuler, Verlet, begun, scripted_velocity
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.integrators.midpoint import ImplicitMidpoint
from pliant.integrators.quasistatic import Quasistatic
from pliant.integrators.sdirk2 import ALPHA, SDIRK2
from pliant.integrators.trbdf2 import GAMMA, TRBDF2
from pliant.linear.cholesky import Analysis
from pliant.stage import Stage
from pliant.state import State
from pliant.systems.base import System
from pliant.systems.closures import Constrained

Pair = tuple[Vector, Vector]


@dataclass(frozen=True, eq=False)
class Taken:
    """One step as it was taken: where it set out from, where it led, and its stages with their roots.

    ``analysis`` is that of the stages' matrices, where their solver keeps one; ``first`` says that it had no memory.
    """

    system: Any
    start: State
    end: State
    h: float
    stages: Sequence[tuple[Stage | ClosedStage, Array]]
    analysis: Analysis | None
    first: bool

    @property
    def began(self) -> State:
        """What the method made of the start: velocities that agree with closures, where it asks for them."""
        if not self.stages:
            return begun(self.system, self.start, None)[0] if self.first else self.start
        stage = self.stages[0][0]
        return stage.free.start if isinstance(stage, ClosedStage) else stage.start


@dataclass(frozen=True, eq=False)
class TapeWriter:
    """Writes a step on its tape; ``now`` are q and v where it begins, ``before`` those of one step earlier."""

    tape: Tape
    algebra: Algebra

    @property
    def now(self) -> Pair:
        return self.tape.given(0), self.tape.given(1)

    @property
    def before(self) -> Pair:
        return self.tape.given(2), self.tape.given(3)

    def solve(self, taken: Taken, k: int, start: Vector, target: Vector, base: Vector) -> tuple[Vector, Vector]:
        """q and v = (q - base)/c of stage k, which sets out from ``start``."""
        stage, z = taken.stages[k]
        multipliers = None
        if isinstance(stage, ClosedStage):
            (z, multipliers), stage = stage.split(z), stage.free
        q, system, how = stage.embed(z), taken.system, (stage.c, stage.t, stage.inertia)
        q = taken.end.q if np.array_equal(q, taken.end.q) else q  # kept once
        slots, inputs = self.tape.values, (target, base, start)
        solved = SolvedStage(system, stage.system, stage.start, *how, q, slots, inputs, self.algebra, multipliers)
        found = self.tape.add(solved, q)
        return found, (1.0 / stage.c) * (found - base)

    def acceleration(self, taken: Taken, q: Vector, v: Vector, t: float) -> Vector:
        system, slots = taken.system, self.tape.values
        at = q.of(slots), v.of(slots), t
        a = system.acceleration(*at)
        if closed(system, *at):
            return self.tape.add(Closed(system, False, slots, t, (q, v), a), a)
        return self.tape.add(Accelerated(system, slots, t, (q, v), a), a)

    def begun(self, taken: Taken) -> Pair:
        """Where a method sets out that makes velocities agree with closures at the beginning of a run only."""
        return self.consistent(taken) if taken.first else self.now

    def consistent(self, taken: Taken) -> Pair:
        """Where the step begins, with velocities that agree with closures."""
        (q, v), system, start = self.now, taken.system, taken.start
        if closed(system, start.q, start.v, start.t):
            u = taken.began.v - start.v
            v = v + self.tape.add(Closed(system, True, self.tape.values, start.t, (q, v), u), u)
            self.tape.began = q, v
        return q, v

    def linear_step(self, taken: Taken, q: Vector, v: Vector, beta: float) -> Vector:
        u = taken.end.v
        step = SteppedLinearly(taken.system, taken.start, taken.h, beta, u, (q, v), self.algebra)
        return self.tape.add(step, u)

    def put(self, taken: Taken, q: Vector, t: float) -> Vector:
        value = taken.system.prescribe(q.of(self.tape.values), t)
        return self.tape.add(Put(taken.system.free, t, (q,)), value)

    def sped(self, taken: Taken, v: Vector, q: Vector) -> Vector:
        value = scripted_velocity(taken.system, taken.began, taken.h)
        return self.tape.add(Sped(taken.system.free, taken.start.t, taken.h, (v, q)), value)


def closed(system: System, q: Array, v: Array, t: float) -> bool:
    """Whether something closes: a loop, a motor, a tie."""
    return isinstance(system, Constrained) and system.closures(q, v, t) is not None


def bdf1(write: TapeWriter, taken: Taken) -> Pair:
    (q, v), h = write.now, taken.h
    return write.solve(taken, 0, q, q + h * v, base=q)


def sdirk2(write: TapeWriter, taken: Taken) -> Pair:
    return two_stages(write, taken, *write.now)


def two_stages(write: TapeWriter, taken: Taken, q: Vector, v: Vector) -> Pair:
    h = taken.h
    c = ALPHA * h
    qa, va = write.solve(taken, 0, q, q + c * v, base=q)
    target = q + (2.0 * ALPHA - 1.0) * h * v + (2.0 - 2.0 * ALPHA) * h * va
    return write.solve(taken, 1, qa, target, base=q + (1.0 - ALPHA) * h * va)


def bdf2(write: TapeWriter, taken: Taken) -> Pair:
    if len(taken.stages) == 2:
        return two_stages(write, taken, *write.consistent(taken))
    (q, v), (q0, v0), c = write.now, write.before, 2.0 / 3.0 * taken.h
    base = (4.0 / 3.0) * q - (1.0 / 3.0) * q0
    return write.solve(taken, 0, q, base + c * ((4.0 / 3.0) * v - (1.0 / 3.0) * v0), base)


def trbdf2(write: TapeWriter, taken: Taken) -> Pair:
    (q, v), h, t = write.now, taken.h, taken.start.t
    c = 0.5 * GAMMA * h
    a = write.acceleration(taken, q, v, t)
    qg, vg = write.solve(taken, 0, q, q + 2.0 * c * v + c * c * a, base=q + c * v)
    w = 1.0 / (GAMMA * (2.0 - GAMMA))
    base = w * qg - w * (1.0 - GAMMA) ** 2 * q
    return write.solve(taken, 1, qg, base + c * (w * vg - w * (1.0 - GAMMA) ** 2 * v), base)


def midpoint(write: TapeWriter, taken: Taken) -> Pair:
    (q, v), h, t = write.begun(taken), taken.h, taken.start.t
    middle, vm = write.solve(taken, 0, q, q + 0.5 * h * v, base=q)
    end = write.put(taken, 2.0 * middle - q, t + h)
    return end, write.sped(taken, 2.0 * vm - v, q)


def quasistatic(write: TapeWriter, taken: Taken) -> Pair:
    q, _ = write.now
    after, _ = write.solve(taken, 0, q, q, base=q)
    return after, (1.0 / taken.h) * (after - q)


def linearly_implicit(write: TapeWriter, taken: Taken, beta: float) -> Pair:
    (q, v), h = write.now, taken.h
    u = write.linear_step(taken, q, v, beta)
    return write.put(taken, q + h * u, taken.start.t + h), u


def explicit(write: TapeWriter, taken: Taken, substeps: int) -> Pair:
    dt, t = taken.h / substeps, taken.start.t
    q, v = write.begun(taken)
    v = write.sped(taken, v, q)
    for k in range(substeps):
        a = write.acceleration(taken, q, v, t + k * dt)
        q, v = write.put(taken, q + dt * v, t + (k + 1) * dt), v + dt * a
    return q, v


def symplectic(write: TapeWriter, taken: Taken, substeps: int) -> Pair:
    dt, t = taken.h / substeps, taken.start.t
    q, v = write.begun(taken)
    v = write.sped(taken, v, q)
    for k in range(substeps):
        v = v + dt * write.acceleration(taken, q, v, t + k * dt)
        q = write.put(taken, q + dt * v, t + (k + 1) * dt)
    return q, v


def verlet(write: TapeWriter, taken: Taken, substeps: int) -> Pair:
    dt, t = taken.h / substeps, taken.start.t
    q, v = write.begun(taken)
    v = write.sped(taken, v, q)
    a = write.acceleration(taken, q, v, t)
    for k in range(1, substeps + 1):
        q = write.put(taken, q + dt * (v + (0.5 * dt) * a), t + k * dt)
        new = write.acceleration(taken, q, v + dt * a, t + k * dt)
        v, a = v + (0.5 * dt) * (a + new), new
    return q, v


IMPLICIT: dict[type, Callable[[TapeWriter, Taken], Pair]] = {
    BDF1: bdf1,
    BDF2: bdf2,
    SDIRK2: sdirk2,
    TRBDF2: trbdf2,
    ImplicitMidpoint: midpoint,
    Quasistatic: quasistatic,
}
EXPLICIT: dict[type, Callable[[TapeWriter, Taken, int], Pair]] = {
    ExplicitEuler: explicit,
    SymplecticEuler: symplectic,
    Verlet: verlet,
}


def require_method(integrator: Any) -> None:
    """Refuse a method that has no adjoint."""
    known = (*IMPLICIT, LinearlyImplicit, *EXPLICIT)
    if type(integrator) not in known:
        names = ", ".join(kind.__name__ for kind in known)
        what = f"{type(integrator).__name__} has no adjoint"
        raise SceneError(what, where="scene.integrator", remedy=f"use one of {names}")


def write_step(integrator: Any, write: TapeWriter, taken: Taken) -> Pair:
    """q and v after the step."""
    if type(integrator) in EXPLICIT:
        return EXPLICIT[type(integrator)](write, taken, integrator.substeps)
    if isinstance(integrator, LinearlyImplicit):
        return linearly_implicit(write, taken, integrator.beta)
    return IMPLICIT[type(integrator)](write, taken)


def same(a: Array, b: Array) -> bool:
    """Whether the tape found the state that the run did, up to the order of its sums."""
    return bool(np.abs(a - b).max(initial=0.0) <= 1e-9 * max(1.0, float(np.abs(b).max(initial=0.0))))
