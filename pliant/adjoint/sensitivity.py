"""Gradients of a run: how a loss changes with what a scene is made of, by the discrete adjoint.

The run is recorded as it is (`simulate` takes the steps, with certificates and policies); then its tape is read
backwards: one transposed solve per stage, whatever the number of parameters. The derivative is that of the discrete
motion, exact for the method and the step size, not an approximation of the continuous one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, sqrt
from typing import Any, Literal

import numpy as np

from pliant.adjoint.linear_step import require_linear_step
from pliant.adjoint.losses import Loss, Physical, checked
from pliant.adjoint.methods import Taken, TapeWriter, require_method, same, write_step
from pliant.adjoint.operations import Algebra
from pliant.adjoint.parameters import Parameters, parameter, with_values
from pliant.adjoint.tape import Tape
from pliant.arrays import Array
from pliant.checkpoint import Checkpoint
from pliant.closed_stage import ClosedStage
from pliant.errors import SceneError
from pliant.integrators.base import Staged
from pliant.integrators.bdf1 import BDF1
from pliant.integrators.bdf2 import BDF2
from pliant.integrators.quasistatic import Quasistatic
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers.base import NonlinearSolver
from pliant.stage import Stage
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.closures import Constrained
from pliant.systems.observed import Reshaping
from pliant.systems.stepped import Charted

Keep = Literal["all", "few"]


@dataclass(frozen=True, eq=False)
class Recorder:
    """A solver that remembers the stages it was given, and their roots."""

    solver: NonlinearSolver
    stages: list[tuple[Stage | ClosedStage, Array]] = field(default_factory=list)

    def solve(self, stage: Any, guess: Array, memory: Any) -> Any:
        solution = self.solver.solve(stage, guess, memory)
        self.stages.append((stage, solution.z))
        return solution


@dataclass(frozen=True, eq=False)
class Check:
    """The derivative along one direction three ways: adjoint, tangent, and central differences of whole runs."""

    adjoint: float
    tangent: float
    difference: float

    @property
    def error(self) -> float:
        """The adjoint against differences, relative."""
        return abs(self.adjoint - self.difference) / max(abs(self.difference), 1e-300)

    def __str__(self) -> str:
        return f"adjoint {self.adjoint:.10g}, tangent {self.tangent:.10g}, differences {self.difference:.10g}"


@dataclass(frozen=True, eq=False)
class Gradient:
    """The loss of a run and its derivatives, by the names in ``wrt`` and in the shapes of the parameters.

    ``residual`` is the worst relative residual of the adjoint solves; ``indefinite`` counts matrices that were not
    positive definite, so that the motion was at or beyond a bifurcation of its stage.
    """

    value: float
    wrt: dict[str, Array]
    residual: float
    solves: int
    indefinite: int
    check: Check | None = None

    def __getitem__(self, name: str) -> Array:
        return self.wrt[name]

    @property
    def flat(self) -> Array:
        """All derivatives in one array, in the order of ``wrt``."""
        return np.concatenate([np.ravel(g) for g in self.wrt.values()])


def gradient(
    scene: Scene, loss: Loss, wrt: Sequence[str], *, keep: Keep = "all", check: bool = False, seed: int = 0
) -> Gradient:
    """The loss of running ``scene`` and its derivatives by the parameters named in ``wrt``.

    Names are paths into the scene (``bodies.bar.material.E``, ``gravity``, ``forces.0.value``), ``bodies.bar.mesh.X``
    for a rest shape, ``initial.q`` and ``initial.v`` for the state at the start. ``keep="all"`` stores every stage,
    "few" a state at every sqrt(n)-th step, and steps again from there to the same bytes. ``check`` also runs the
    tangent, and whole runs on both sides along a random direction.
    """
    problem = _Problem(scene, wrt)
    found = problem.adjoint(loss, keep)
    return replace(found, check=problem.checked(loss, found, seed)) if check else found


def tangent(scene: Scene, loss: Loss, wrt: Sequence[str], direction: Array) -> tuple[float, float]:
    """The loss and its derivative along one direction of all parameters, by one pass forwards."""
    return _Problem(scene, wrt).tangent(loss, np.asarray(direction, dtype=np.float64))


def objective(scene: Scene, loss: Loss, wrt: Sequence[str]) -> tuple[Callable[[Array], tuple[float, Array]], Array]:
    """f(x) -> (loss, gradient) over the flat values of the parameters, and their values in the scene.

    ``scipy.optimize.minimize(f, x0, jac=True)`` takes them as they are.
    """
    parts = _Problem(scene, wrt).parameters
    x0 = np.concatenate([np.ravel(p.value) for p in parts.parts])

    def f(x: Array) -> tuple[float, Array]:
        changed, start = with_values(scene, parts, np.asarray(x, dtype=np.float64))
        found = _Problem(changed, wrt, start).adjoint(loss, "all")
        return found.value, found.flat

    return f, x0


class _Problem:
    """A scene, its parameters, and the state that it starts from."""

    def __init__(self, scene: Scene, wrt: Sequence[str], start: State | None = None) -> None:
        _require_smooth(scene)
        if not wrt or len(set(wrt)) < len(wrt):
            remedy = 'give each parameter once, such as wrt=["bodies.bar.material.E"]'
            raise SceneError(f"wrt is {list(wrt)}", where="gradient", remedy=remedy)
        self.scene, self.system = scene, scene.system()
        _require_plain(self.system)
        self.begin = start or scene.initial(self.system)
        rows = self.system.closures(self.begin.q, self.begin.v, 0.0) if isinstance(self.system, Constrained) else None
        self.parameters = Parameters([parameter(scene, path, self.system) for path in wrt], len(self.begin.q))

        if rows is not None:
            _require_closed(scene.integrator, self.parameters)

    def steps(self, start: Checkpoint, stop: int) -> Iterator[tuple[Taken, Checkpoint]]:
        """The steps after ``start`` up to number ``stop``: what each did, and the point it reached."""
        integrator = self.scene.integrator
        recorder = Recorder(integrator.solver) if isinstance(integrator, Staged) else None
        if recorder is not None:
            integrator = replace(integrator, solver=recorder)  # type: ignore[type-var]
        run = simulate(replace(self.scene, integrator=integrator), start=start, system=self.system)
        state, h = start.state, float(self.scene.h)
        for step in run:
            stages = [] if recorder is None else list(recorder.stages)
            if recorder is not None:
                recorder.stages.clear()
            _require_chart(self.system, state)
            yield Taken(self.system, state, step.state, h, stages), step.checkpoint()
            state = step.state
            if step.index == stop:
                return

    def tape(self, start: Checkpoint, before: State, stop: int, algebra: Algebra) -> tuple[Tape, list[State]]:
        """The tape of the steps after ``start``, and the states they reached; ``before`` is one step earlier."""
        tape = Tape([start.state.q, start.state.v, before.q, before.v])
        write = TapeWriter(tape, algebra)
        now = tape.given(0), tape.given(1)
        earlier = tape.given(2), tape.given(3)
        states = []
        for taken, point in self.steps(start, stop):
            now, earlier = write_step(self.scene.integrator, write, taken, now, earlier), now
            tape.states.append(now)
            states.append(point.state)
            if not same(now[0].of(tape.values), point.state.q):
                what = f"step {point.step} was not taken as {type(self.scene.integrator).__name__} takes it"
                raise SceneError(what, where="gradient", remedy="leave gaps at the start and friction_solves = 1")
        return tape, states

    def adjoint(self, loss: Loss, keep: Keep) -> Gradient:
        n = self.scene.steps
        length = n if keep == "all" else max(1, ceil(sqrt(n)))
        starts = [(Checkpoint(0, self.begin), self.begin)]
        algebra, value = Algebra(), self._value(loss, 0, self.begin)[0]
        if keep == "few":
            for taken, point in self.steps(starts[0][0], n):
                value += self._value(loss, point.step, point.state)[0]
                if point.step % length == 0 and point.step < n:
                    starts.append((point, taken.start))
        into = np.zeros(self.parameters.size)
        zero = np.zeros_like(self.begin.q)
        after = [zero, zero, zero, zero]  # adjoints of q, v at the end of a segment, and one step before
        for point, earlier in reversed(starts):
            stop = min(point.step + length, n)
            tape, states = self.tape(point, earlier, stop, algebra)
            bars = [np.zeros_like(zero) for _ in tape.values]
            self._seed(tape, bars, after)
            for k, state in enumerate(states):
                term, dq, dv = self._value(loss, point.step + 1 + k, state)
                value += term if keep == "all" else 0.0
                into += self._explicit(loss, point.step + 1 + k, state)
                for x, bar in zip(tape.states[k], (dq, dv), strict=True):
                    if bar is not None:
                        x.spread(bar, bars)
            after = tape.backwards(bars, self.parameters, into)
        _, dq, dv = self._value(loss, 0, self.begin)
        into += self._explicit(loss, 0, self.begin)
        q = after[0] + after[2] + (0.0 if dq is None else dq)
        v = after[1] + after[3] + (0.0 if dv is None else dv)
        into += self.parameters.gather_start(q, v)
        parts = zip(self.parameters.parts, self.parameters.slices, strict=True)
        wrt = {p.name: into[s].reshape(p.value.shape) for p, s in parts}
        return Gradient(value, wrt, algebra.residual, algebra.solves, algebra.indefinite)

    @staticmethod
    def _seed(tape: Tape, bars: list[Array], after: list[Array]) -> None:
        """The adjoints that the next segment asked for, on the last two states of this one."""
        last = tape.states[-1]
        before = tape.states[-2] if len(tape.states) > 1 else (tape.given(0), tape.given(1))
        for x, bar in zip((*last, *before), after, strict=True):
            x.spread(bar, bars)

    def tangent(self, loss: Loss, direction: Array) -> tuple[float, float]:
        tape, states = self.tape(Checkpoint(0, self.begin), self.begin, self.scene.steps, Algebra())
        q, v = self.parameters.start(direction)
        changes = tape.forwards([q, v, q, v], self.parameters, direction)
        value, slope = 0.0, 0.0
        moved = [(q, v), *((x.of(changes), y.of(changes)) for x, y in tape.states)]
        for k, (state, change) in enumerate(zip([self.begin, *states], moved, strict=True)):
            term, *slopes = self._value(loss, k, state)
            value += term
            slope += float(direction @ self._explicit(loss, k, state))
            slope += sum(float(s @ c) for s, c in zip(slopes, change, strict=True) if s is not None)
        return value, slope

    def checked(self, loss: Loss, found: Gradient, seed: int) -> Check:
        """Along a random direction, each parameter in its own size."""
        random = np.random.default_rng(seed)
        values = np.concatenate([np.ravel(p.value) for p in self.parameters.parts])
        sizes = [np.full(p.value.size, max(float(np.abs(p.value).max()), 1e-3)) for p in self.parameters.parts]
        direction = random.uniform(-1.0, 1.0, len(values)) * np.concatenate(sizes)
        _, slope = self.tangent(loss, direction)
        sides = []
        for step in (1e-4, -1e-4, 5e-5, -5e-5):
            scene, start = with_values(self.scene, self.parameters, values + step * direction)
            sides.append(_Problem(scene, [p.name for p in self.parameters.parts], start).value(loss))
        coarse, fine = (sides[0] - sides[1]) / 2e-4, (sides[2] - sides[3]) / 1e-4
        return Check(float(found.flat @ direction), slope, (4.0 * fine - coarse) / 3.0)

    def value(self, loss: Loss) -> float:
        """The loss alone."""
        total = self._value(loss, 0, self.begin)[0]
        for step in simulate(self.scene, start=Checkpoint(0, self.begin), system=self.system):
            total += self._value(loss, step.index, step.state)[0]
        return total

    def _explicit(self, loss: Loss, k: int, state: State) -> Array:
        """How a term changes with the parameters where the state stays."""
        if not isinstance(loss, Physical) or not self._value(loss, k, state)[0]:
            return np.zeros(self.parameters.size)
        return self.parameters.explicit(lambda system: loss.at(k, state, system)[0])

    def _value(self, loss: Loss, k: int, state: State) -> Any:
        return checked(loss.at(k, state, self.system), state)


def _require_smooth(scene: Scene) -> None:
    """Refuse what has no derivative: policies that choose the step, events that change the mesh."""
    require_method(scene.integrator)
    require_linear_step(scene)
    if scene.on_failure != "raise":
        what = f'on_failure="{scene.on_failure}" changes steps, which has no derivative'
        raise SceneError(what, where="scene.on_failure", remedy='use "raise" and a smaller h')
    if scene.events:
        raise SceneError("events change the scene", where="scene.events", remedy="leave them out for gradients")

    if isinstance(scene.contact, BarrierContact) and scene.contact.stiffness == "adaptive":
        remedy = "give BarrierContact its stiffness [N/m^3]"
        raise SceneError("its stiffness depends on the closest contact", where="scene.contact", remedy=remedy)


def _require_plain(system: Any) -> None:
    if isinstance(system, Reshaping):
        raise SceneError("its mesh changes", where="gradient", remedy="use bodies whose mesh stays")


def _require_closed(integrator: Any, parameters: Parameters) -> None:
    """Refuse methods that do more with loops, motors and ties than solve stages with them."""
    if not isinstance(integrator, BDF1 | BDF2 | Quasistatic):
        what = f"{type(integrator).__name__} has no adjoint with loops, motors or stiff ties"
        raise SceneError(what, where="scene.integrator", remedy="use BDF1 or BDF2, or springs")
    starts = any(np.any(part) for part in parameters.start(np.ones(parameters.size)))
    if isinstance(integrator, BDF2) and starts:
        what = "BDF2 makes velocities at the start agree with loops and ties, which has no adjoint"
        raise SceneError(what, where="scene.integrator", remedy="use BDF1 for parameters of the start")


def _require_chart(system: Any, state: State) -> None:
    if isinstance(system, Charted) and system.rechart(state) is not state:
        remedy = "use shorter runs, or joints with fewer axes"
        raise SceneError("a rotation has come to the end of its chart", where="gradient", remedy=remedy)
