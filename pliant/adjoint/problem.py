"""A run with its parameters: what its steps did, its tape backwards for adjoints, and step by step for tangents."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, sqrt
from typing import Any, Literal

import numpy as np

from pliant.adjoint.losses import Loss, Physical, checked
from pliant.adjoint.methods import Taken, TapeWriter, same, write_step
from pliant.adjoint.operations import Algebra
from pliant.adjoint.parameters import Parameters, Wrt, parameter, with_values
from pliant.adjoint.refusals import require_chart, require_closed, require_each_once, require_plain, require_smooth
from pliant.adjoint.tape import Tape
from pliant.arrays import Array
from pliant.checkpoint import Checkpoint
from pliant.closed_stage import ClosedStage
from pliant.errors import SceneError
from pliant.integrators.base import Staged
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers.base import NonlinearSolver
from pliant.stage import Stage
from pliant.state import State
from pliant.systems.closures import Constrained

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


class Problem:
    """A scene, its parameters, and the state that it starts from."""

    def __init__(self, scene: Scene, wrt: Sequence[Wrt], start: State | None = None) -> None:
        require_smooth(scene)
        require_each_once(wrt)
        self.scene, self.system, self.wrt = scene, scene.system(), wrt
        require_plain(scene.integrator, self.system)
        self.begin = start or scene.initial(self.system)
        rows = self.system.closures(self.begin.q, self.begin.v, 0.0) if isinstance(self.system, Constrained) else None
        self.parameters = Parameters([parameter(scene, given, self.system) for given in wrt], len(self.begin.q))
        if rows is not None:
            require_closed(scene.integrator, self.parameters)

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
            require_chart(self.system, state)
            yield Taken(self.system, state, step.state, h, stages), step.checkpoint()
            state = step.state
            if step.index == stop:
                return

    def tapes(self, start: Checkpoint, before: State, stop: int, algebra: Algebra) -> Iterator[tuple[Tape, int, State]]:
        """The tapes of the steps after ``start``, their numbers and where they led; ``before`` is one step earlier."""
        for taken, point in self.steps(start, stop):
            tape = Tape([taken.start.q, taken.start.v, before.q, before.v])
            tape.end = write_step(self.scene.integrator, TapeWriter(tape, algebra), taken)
            if not same(tape.end[0].of(tape.values), point.state.q):
                what = f"step {point.step} was not taken as {type(self.scene.integrator).__name__} takes it"
                raise SceneError(what, where="gradient", remedy="leave gaps at the start and friction_solves = 1")
            yield tape, point.step, point.state
            before = taken.start

    def tangents(self, directions: Array) -> Iterator[tuple[State, Array, Array]]:
        """The states of the run, with the changes (N, k) of q and v along k directions (size, k), as it goes on."""
        now = earlier = self.parameters.start(directions)
        yield self.begin, *now
        for tape, _, state in self.tapes(Checkpoint(0, self.begin), self.begin, self.scene.steps, Algebra()):
            now, earlier = tape.forwards([*now, *earlier], self.parameters, directions), now
            yield state, *now

    def adjoint(self, loss: Loss, keep: Keep) -> tuple[float, Array, Algebra]:
        """The loss, its derivatives (size,), and how well they were solved for."""
        algebra = Algebra()
        parts = reversed(self.segments(keep))
        return *self.swept(loss, (list(self.tapes(*part, algebra)) for part in parts)), algebra

    def swept(self, loss: Loss, parts: Iterable[list[tuple[Tape, int, State]]]) -> tuple[float, Array]:
        """The loss and its derivatives (size,), from the steps of all parts of the run, the last part first.

        Lists are emptied on the way, so that memory is free as soon as it can be.
        """
        into, zero = np.zeros(self.parameters.size), np.zeros_like(self.begin.q)
        value, after = 0.0, [zero, zero, zero, zero]  # adjoints of q and v where a step ends, and where it begins
        for steps in parts:
            while steps:
                tape, k, state = steps.pop()
                value += self._seed(loss, k, state, after, into)
                after = tape.backwards(after, self.parameters, into)
        after = [after[0] + after[2], after[1] + after[3]]  # before the first step there was the same state
        value += self._seed(loss, 0, self.begin, after, into)
        into += self.parameters.gather_start(*after)
        return value, into

    def segments(self, keep: Keep) -> list[tuple[Checkpoint, State, int]]:
        """Where the parts of the run begin that are kept as a whole, one step earlier, and the steps they end at."""
        n = self.scene.steps
        length = n if keep == "all" else max(1, ceil(sqrt(n)))
        found = [(Checkpoint(0, self.begin), self.begin, min(length, n))]
        if length < n:
            for taken, point in self.steps(found[0][0], n - 1):
                if point.step % length == 0:
                    found.append((point, taken.start, min(point.step + length, n)))
        return found

    def _seed(self, loss: Loss, k: int, state: State, after: list[Array], into: Array) -> float:
        """The term of step k; its derivatives are added to the adjoints of q and v, and to those of the parameters."""
        term, *slopes = self._value(loss, k, state)
        for j, slope in enumerate(slopes):
            if slope is not None:
                after[j] = after[j] + slope
        into += self._explicit(loss, k, state)
        return float(term)

    def tangent(self, loss: Loss, direction: Array) -> tuple[float, float]:
        """The loss and its derivative along one direction (size,)."""
        value, slope = 0.0, 0.0
        for k, (state, *changes) in enumerate(self.tangents(direction[:, None])):
            term, *slopes = self._value(loss, k, state)
            value += term
            slope += float(direction @ self._explicit(loss, k, state))
            slope += sum(float(s @ c[:, 0]) for s, c in zip(slopes, changes, strict=True) if s is not None)
        return value, slope

    def changed(self, values: Array) -> "Problem":
        """The same problem with other values of its parameters (size,)."""
        scene, start = with_values(self.scene, self.parameters, values)
        return Problem(scene, self.wrt, start)

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
        return self.parameters.explicit(lambda system: loss.at(k, state, system)[0], loss.feels)

    def _value(self, loss: Loss, k: int, state: State) -> Any:
        return checked(loss.at(k, state, self.system), state)
