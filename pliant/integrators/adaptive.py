"""Adaptive time steps: any integrator whose error can be estimated, and a tolerance in metres.

A step of the scene, from one frame to the next, is covered by as many steps of the integrator as the tolerance
requires; they may also be longer than a frame, and frames are then interpolated by the cubic through both ends. Errors
are controlled per second: a step of h may add h times the tolerance, so that after a second of motion the errors have
added up to the tolerance, whatever the number of steps. [Hairer1993, II.4; Soderlind2003]
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf, nan
from typing import Any, ClassVar

import numpy as np

from pliant.abilities import able
from pliant.arrays import IntArray
from pliant.errors import ConvergenceError, NotPositiveDefinite, SceneError, require_numbers, require_part
from pliant.integrators.base import Booking, Integrator, Recalling, Special
from pliant.integrators.control import (
    Yardstick,
    between,
    bodies_of_points,
    divided,
    just_before,
    next_step,
    shorter_step,
)
from pliant.integrators.estimate import LocalError, estimated
from pliant.integrators.limited import Substepping, limited_step
from pliant.integrators.trbdf2 import TRBDF2
from pliant.linear.threads import one_thread
from pliant.state import Control, SolveReport, State, Step, Transient
from pliant.systems.base import Composed, System
from pliant.systems.eigenfit import EigenFit
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.observed import Barring
from pliant.systems.stepped import Charted
from pliant.units import read_fields

LEAD = 0.1  # s: an error of a body's velocity is as bad as that of positions which it leads to in this time
FIRST = 1.0 / 16.0  # of the scene's step is tried first
LONGEST, SHORTEST = 10.0, 1e-6  # steps, as parts of the scene's
KINK = 0.05  # s: a step that was rejected before may add what a step of this length may; there is a kink in its way
SAME = 1e-9  # of a step: times that differ by less are one
ROUND = 1e-10  # of the size of a system: errors below drown in round-off


@dataclass(frozen=True, eq=False)
class Pace:
    """Where an integration stands that has its own pace: ``path`` are the states of its last step, which may end beyond
    the frame that was ``shown`` last. ``h`` [s] is the step to try next, ``ratio`` the error of the last one over what
    was allowed, ``rate`` [m/s] that error per second; ``report`` is what a frame within that step has to show.
    """

    path: tuple[State, ...]
    shown: State
    h: float
    dense: bool
    ratio: float = 1.0
    rate: float = 0.0
    inner: Any = None
    report: SolveReport | None = None
    bodies: Transient | None = None  # see `bodies_of_points`
    analysis: Transient = Transient(None)  # see `LocalError`

    @property
    def state(self) -> State:
        return self.path[-1]

    def moved(self, state: State) -> "Pace":
        """The same where the velocities shown were changed by less than the errors of a step."""
        if self.state.t > state.t:
            return replace(self, shown=state)
        inner = self.inner.moved(state) if isinstance(self.inner, Recalling) else self.inner
        return replace(self, path=(*self.path[:-1], state), shown=state, inner=inner)


@dataclass(frozen=True, eq=False)
class Attempt:
    """A step that was ``made``, its estimated ``error`` and the ``size`` [m] of that; None and NaN where it failed.

    ``reports`` are of all its solves, also of those that failed.
    """

    made: Step | None = None
    error: LocalError | None = None
    size: float = nan
    trouble: str = ""
    reports: tuple[SolveReport, ...] = ()


@dataclass(eq=False)
class Progress:
    """What has happened within one step of the scene: the steps inside with their errors per second, and all solves."""

    pieces: list[tuple[Step, float]]
    reports: list[SolveReport] = field(default_factory=list)
    accepted: int = 0
    rejected: int = 0


@dataclass(frozen=True)
class Adaptive:
    """Adaptive time steps: an integrator whose step size follows an error estimate.

    The steps of ``integrator`` are between ``h_min`` and ``h_max`` [s] (by default a millionth of the scene's step and
    ten of them), chosen so that errors grow by ``tolerance`` [m] per second of motion, as root mean squares over each
    body, and those of its mean velocity by ``speed`` [m/s] (by default ten times the tolerance per second).

    Steps end at ``stops`` [s], the times of discontinuities; `simulate` adds the events and script corners of a scene.
    Frames are interpolated (``dense``) where coordinates are positions and contact is not a barrier; otherwise steps
    end at frames. A step of ``h_min`` is accepted whatever its error, and is then not certified. `Verlet` and
    `SymplecticEuler` follow their stability limit instead of the tolerance (`pliant.integrators.limited`), so that they
    conserve energy as they do with equal steps; their error is unknown.
    """

    integrator: Integrator = field(default_factory=TRBDF2)
    tolerance: float | str = 1e-4
    speed: float | str | None = None
    h_min: float | str | None = None
    h_max: float | str | None = None
    dense: bool = True
    stops: Sequence[float] = ()
    order: ClassVar[int]
    made_for: ClassVar[Any]
    units: ClassVar[dict[str, str]] = {"tolerance": "m", "speed": "m/s", "h_min": "s", "h_max": "s"}

    def __post_init__(self) -> None:
        read_fields(self)
        inside: Any = self.integrator
        require_part(inside, "step", "Adaptive.integrator", "give an object, such as TRBDF2()")
        if isinstance(inside, Adaptive) or inside.order < 1:
            what = f"{type(inside).__name__} has no error to choose steps by"
            raise SceneError(what, where="Adaptive.integrator", remedy="give a dynamic integrator, such as TRBDF2()")
        for name in ("tolerance", "speed", "h_min", "h_max"):
            value = getattr(self, name)
            if value is not None and not value > 0.0:
                raise SceneError(f"{name} is {value:g}", where=f"Adaptive.{name}", remedy="give a positive number")
        if float(self.h_min or 0.0) > float(self.h_max or inf):
            what = f"h_min = {self.h_min:g} s is longer than h_max = {self.h_max:g} s"
            raise SceneError(what, where="Adaptive.h_min", remedy="exchange them")
        stops = require_numbers(self.stops, "Adaptive.stops", "give a list of times [s]")
        if stops.ndim != 1 or not np.isfinite(stops).all():
            raise SceneError(f"stops are {self.stops!r}", where="Adaptive.stops", remedy="give a list of times [s]")
        object.__setattr__(self, "stops", tuple(sorted(stops.tolist())))
        object.__setattr__(self, "order", inside.order)  # each has its integrator's
        made_for = inside.made_for if isinstance(inside, Special) else (Elastodynamics, EigenFit)
        object.__setattr__(self, "made_for", made_for)

    def landing(self, times: Sequence[float]) -> "Adaptive":
        """The same integrator, which also ends steps at ``times`` [s]."""
        return replace(self, stops=tuple({*self.stops, *times}))

    @one_thread()
    def step(self, system: System, state: State, h: float, memory: Any = None) -> Step:
        if isinstance(self.integrator, Substepping):
            return limited_step(self.integrator, system, state, h, memory, float(self.h_max or inf))
        pace, end = self._pace(system, state, h, memory), state.t + h
        end = next((t for t in self.stops if abs(t - end) <= SAME * h), end)
        progress = Progress([(piece, pace.rate) for piece in ahead(pace, state)])
        while pace.state.t < end:
            found = self._accepted(system, pace, h, inf if pace.dense else end, progress)
            if isinstance(found, str):
                report = SolveReport(False, 0, nan, None, message=found)
                return Step(state, memory, (*progress.reports, report))
            pace = found
        return shown(system, pace, end, progress)

    def _pace(self, system: System, state: State, h: float, memory: Pace | None) -> Pace:
        """Where the integration stands; at ``state`` where somebody has changed what was shown."""
        if memory is None or memory.shown.q.shape != state.q.shape:
            least = ROUND * system.scale
            if float(self.tolerance) < least:
                what = f"tolerance = {self.tolerance:g} m is below the round-off of a system of {system.scale:.3g} m"
                raise SceneError(what, where="Adaptive.tolerance", remedy=f"give at least {least:.2g} m")
            barrier = isinstance(system, Barring) and system.crossings(state.q, state.t) is not None
            dense = self.dense and able(system, Composed) and not barrier and not able(self.integrator, Booking)
            return Pace((state,), state, FIRST * h, dense)
        same = np.array_equal(memory.shown.q, state.q) and np.array_equal(memory.shown.v, state.v)
        return memory if same else replace(memory, path=(state,), shown=state)

    def _accepted(self, system: System, pace: Pace, frame: float, end: float, progress: Progress) -> Pace | str:
        """The pace after one more step that is good enough, not beyond ``end``; or why there is none."""
        state = system.rechart(pace.state) if able(system, Charted) else pace.state
        bodies = pace.bodies or Transient(bodies_of_points(system, state.q))
        stop = min((t for t in self.stops if t > state.t), default=inf)
        goal = min(stop, end)
        least = float(self.h_min or SHORTEST * frame)
        wanted = max(least, min(pace.h, float(self.h_max or LONGEST * frame)))
        h, landing = divided(goal - state.t, wanted)
        rejected = False
        while True:
            span = just_before(state.t, stop) if landing and goal == stop else h
            trial = self._tried(system, state, span, pace, bodies.value)
            allowed = float(self.tolerance) * (max(span, KINK) if rejected else span)
            if trial.size <= allowed or (trial.made is not None and h <= least):
                break
            progress.reports += [spent(report) for report in trial.reports]
            if h <= least:
                return f"{trial.trouble}, with the least step of {least:.3g} s"
            progress.rejected += 1
            order = trial.error.order - 1 if trial.error else self.order
            h = max(least, shorter_step(h, trial.size / (float(self.tolerance) * span), order))
            landing, rejected = False, True
        pace = replace(pace, bodies=bodies, h=wanted)
        return self._gone(pace, state, trial, (goal, goal == stop) if landing else None, rejected, progress)

    def _tried(self, system: System, state: State, h: float, pace: Pace, bodies: IntArray) -> Attempt:
        """One step of the integrator with its error; what went wrong if it failed."""
        try:
            with np.errstate(all="ignore"):
                known = pace.analysis.value if pace.analysis else None  # checkpoints drop it
                step, error = estimated(self.integrator, system, state, h, pace.inner, known)
        except (NotPositiveDefinite, ConvergenceError, ArithmeticError, np.linalg.LinAlgError) as wrong:
            return Attempt(trouble=str(wrong))
        if step.system is not None:
            remedy = "use a fixed step for meshes that change during the run"
            raise SceneError("a step changed the mesh", where="Adaptive", remedy=remedy)
        for report in step.reports:
            if not report.converged:
                return Attempt(trouble=f"not converged: {report.message}", reports=step.reports)
        lead = LEAD if self.speed is None else float(self.tolerance) / float(self.speed)
        size = Yardstick(bodies, lead).size(system, step.state, error)
        if not np.isfinite(size):
            return Attempt(trouble="not finite", reports=step.reports)
        return Attempt(step, error, size, reports=step.reports)

    def _gone(
        self,
        pace: Pace,
        state: State,
        trial: Attempt,
        landed: tuple[float, bool] | None,
        rejected: bool,
        progress: Progress,
    ) -> Pace:
        """The pace after an accepted step; ``landed`` on a time, which may be a stop."""
        step, error = trial.made, trial.error
        assert step is not None and error is not None
        pieces = list(step.pieces or (step,))
        h = step.state.t - state.t
        rate, ratio = trial.size / h, trial.size / (float(self.tolerance) * h)
        path = [state, *(piece.state for piece in pieces)]
        steps = [replace(p, memory=None, reports=(), start=a) for p, a in zip(pieces, path[:-1], strict=True)]
        if landed:  # but the books are kept up to just before a stop
            path[-1] = replace(path[-1], t=landed[0])
        certified = trial.size <= float(self.tolerance) * max(h, KINK)
        reports = [r if certified else replace(r, certified=False) for r in step.reports]
        progress.pieces += [(piece, rate) for piece in steps]
        progress.reports += reports
        progress.accepted += 1
        longer = next_step(h, ratio, pace.ratio, error.order - 1, 1.0 if rejected else error.growth)
        if landed:  # cut short, so nothing is known against the step that was wanted
            longer = max(longer, pace.h)
        return replace(
            pace,
            path=tuple(path),
            h=longer,
            ratio=pace.ratio if landed else ratio,
            rate=rate,
            inner=None if landed and landed[1] else step.memory,
            report=bare(reports[-1]) if reports else None,
            analysis=Transient(error.analysis),
        )


def ahead(pace: Pace, state: State) -> list[Step]:
    """The steps from a frame to the current time of the integration, in pieces for the ledger."""
    return [
        Step(b, None, start=state if a.t <= state.t else a)
        for a, b in zip(pace.path[:-1], pace.path[1:], strict=True)
        if b.t > state.t
    ]


def shown(system: System, pace: Pace, end: float, progress: Progress) -> Step:
    """The step of the scene: its end read from the last step of the integrator, which may go further."""
    pieces = [(piece, rate) for piece, rate in progress.pieces if piece.start is not None and piece.start.t < end]
    frame, reports = pace.state, progress.reports
    if frame.t > end:
        a, b = next((a, b) for a, b in zip(pace.path[:-1], pace.path[1:], strict=True) if b.t > end)
        frame = between(a, b, end)
        frame = replace(frame, q=system.prescribe(frame.q, end))
        pieces[-1] = replace(pieces[-1][0], state=frame), pieces[-1][1]
        last = [replace(report, acted=None, reactions=None) for report in reports[-1:]]  # of another moment
        reports = [*reports[:-1], *last] if reports else [pace.report] if pace.report else []
    estimate = sum(rate * (piece.state.t - piece.start.t) for piece, rate in pieces if piece.start is not None)
    control = Control(pace.state.t - pace.path[0].t, float(estimate), progress.accepted, progress.rejected)
    steps = tuple(piece for piece, _ in pieces)
    start = steps[0].start if len(steps) == 1 else None
    return Step(frame, replace(pace, shown=frame), tuple(reports), start=start, pieces=steps, control=control)


def spent(report: SolveReport) -> SolveReport:
    """What a solve that was rejected has cost, without its verdict."""
    return SolveReport(True, report.iterations, 0.0, None, report.counts, report.seconds)


def bare(report: SolveReport) -> SolveReport:
    """The report of a solve for a time within its step.

    Its cost is counted elsewhere, and its forces belong to another time.
    """
    return SolveReport(
        report.converged,
        0,
        report.residual,
        report.tolerance,
        message=report.message,
        error=report.error,
        judged=report.judged,
        certified=report.certified,
    )
