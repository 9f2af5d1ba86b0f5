"""A run with its parameters: what its steps did, its tape backwards for adjoints, and step by step for tangents."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, floor
from typing import Any, Literal

import numpy as np

from pliant.adjoint.losses import Loss, Physical, checked
from pliant.adjoint.methods import Taken, TapeWriter, same, write_step
from pliant.adjoint.operations import Algebra
from pliant.adjoint.parameters import Parameters, Wrt, parameter, with_values
from pliant.adjoint.refusals import require_chart, require_each_once, require_plain, require_smooth
from pliant.adjoint.tape import Tape
from pliant.arrays import Array
from pliant.checkpoint import Checkpoint
from pliant.closed_stage import ClosedStage
from pliant.errors import SceneError
from pliant.integrators.base import Staged
from pliant.linear.cholesky import Analysis
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers.base import NonlinearSolver
from pliant.stage import Stage
from pliant.state import State

Keep = Literal["all", "few"]
LEVELS: dict[Keep, int] = {"all": 0, "few": 2}  # of cuts


@dataclass(frozen=True, eq=False)
class Recorder:
    """A solver that remembers the stages it was given, their roots, and what it remembers itself."""

    solver: NonlinearSolver
    solved: list[tuple[Stage | ClosedStage, Array, Any]] = field(default_factory=list)

    def solve(self, stage: Any, guess: Array, memory: Any) -> Any:
        solution = self.solver.solve(stage, guess, memory)
        self.solved.append((stage, solution.z, solution.memory))
        return solution

    def taken(self) -> tuple[list[tuple[Stage | ClosedStage, Array]], Analysis | None]:
        """The stages since this was last asked, and the analysis of their matrices where the solver keeps one."""
        memory = self.solved[-1][2] if self.solved else None
        stages = [(stage, z) for stage, z, _ in self.solved]
        self.solved.clear()
        return stages, memory if isinstance(memory, Analysis) else None


@dataclass(frozen=True, eq=False)
class Piece:
    """The steps after ``start`` up to number ``stop``; ``before`` is the state one step before the start."""

    start: Checkpoint
    before: State
    stop: int


class Problem:
    """A scene, its parameters, and the state that it starts from."""

    def __init__(self, scene: Scene, wrt: Sequence[Wrt], start: State | None = None) -> None:
        require_smooth(scene)
        require_each_once(wrt)
        self.scene, self.system, self.wrt = scene, scene.system(), wrt
        require_plain(scene.integrator, self.system)
        self.begin = start or scene.initial(self.system)
        self.parameters = Parameters([parameter(scene, given, self.system) for given in wrt], len(self.begin.q))

    def steps(self, start: Checkpoint, stop: int) -> Iterator[tuple[Taken, Checkpoint]]:
        """The steps after ``start`` up to number ``stop``: what each did, and the point it reached."""
        integrator = self.scene.integrator
        recorder = Recorder(integrator.solver) if isinstance(integrator, Staged) else None
        if recorder is not None:
            integrator = replace(integrator, solver=recorder)  # type: ignore[type-var]
        run = simulate(replace(self.scene, integrator=integrator), start=start, system=self.system)
        state, memory, h = start.state, start.memory, float(self.scene.h)
        for step in run:
            stages, analysis = ([], None) if recorder is None else recorder.taken()
            require_chart(self.system, state)
            yield Taken(self.system, state, step.state, h, stages, analysis, memory is None), step.checkpoint()
            state, memory = step.state, step.memory
            if step.index == stop:
                return

    @property
    def whole(self) -> Piece:
        """All steps of the run."""
        return Piece(Checkpoint(0, self.begin), self.begin, self.scene.steps)

    def tapes(self, piece: Piece, algebra: Algebra) -> Iterator[tuple[Tape, int, State]]:
        """The tapes of the steps of a piece, their numbers and where they led."""
        before = piece.before
        for taken, point in self.steps(piece.start, piece.stop):
            algebra.memory = taken.analysis or algebra.memory  # shared with the run: its buffers are large
            tape = Tape([taken.start.q, taken.start.v, before.q, before.v])
            tape.end = write_step(self.scene.integrator, TapeWriter(tape, algebra), taken)
            if not same(tape.end[0].of(tape.values), point.state.q):
                what = f"step {point.step} was not taken as {type(self.scene.integrator).__name__} takes it"
                raise SceneError(what, where="gradient", remedy="leave gaps at the start and friction_solves = 1")
            yield tape, point.step, point.state
            before = taken.began

    def tangents(self, directions: Array) -> Iterator[tuple[State, Array, Array]]:
        """The states of the run, with the changes (N, k) of q and v along k directions (size, k), as it goes on."""
        q, v = self.parameters.start(directions)
        changes = [q, v, q, v]  # before the first step there was the same state
        yield self.begin, q, v
        for tape, _, state in self.tapes(self.whole, Algebra()):
            changes = tape.forwards(changes, self.parameters, directions)
            yield state, changes[0], changes[1]

    def adjoint(self, loss: Loss, keep: Keep) -> tuple[float, Array, Algebra]:
        """The loss, its derivatives (size,), and how well they were solved for."""
        algebra = Algebra()

        def kept() -> Iterator[list[tuple[Tape, int, State]]]:
            for piece in self.pieces(self.whole, LEVELS[keep]):
                steps = list(self.tapes(piece, algebra))
                del piece  # and the factor it remembers, before others are made on the way to the next
                yield steps
                algebra.memory = None

        return *self.swept(loss, kept()), algebra

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

    def pieces(self, piece: Piece, levels: int) -> Iterator[Piece]:
        """The pieces that a piece is cut into, the last first, so many times over; one state is kept at every cut.

        With l levels, l n^(1/(l + 1)) states and n^(1/(l + 1)) whole steps are kept at a time, and steps are taken
        up to l times more. [Griewank1992]
        """
        if not levels:
            yield piece
            return
        length = piece.stop - piece.start.step
        parts = max(1, floor(length ** (1.0 / (levels + 1.0)) + 1e-9))
        cuts = self._cut(piece, ceil(length / parts))
        while cuts:
            yield from self.pieces(cuts.pop(), levels - 1)

    def _cut(self, piece: Piece, length: int) -> list[Piece]:
        """Pieces of that many steps; the last may be shorter."""
        first = piece.start.step
        ends = [*range(first + length, piece.stop, length), piece.stop]
        found = [Piece(piece.start, piece.before, ends[0])]
        if len(ends) > 1:
            for taken, point in self.steps(piece.start, ends[-2]):
                if point.step == found[-1].stop:
                    found.append(Piece(point, taken.began, ends[len(found)]))
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
        term, *slopes = self._value(loss, k, state)
        if not isinstance(loss, Physical) or (not term and slopes == [None, None]):
            return np.zeros(self.parameters.size)  # nothing is asked of this step
        return self.parameters.explicit(lambda system: loss.at(k, state, system)[0], loss.feels)

    def _value(self, loss: Loss, k: int, state: State) -> Any:
        return checked(loss.at(k, state, self.system), state)
