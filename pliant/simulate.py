"""Running a scene: one generator that steps, certifies and keeps the books; everything else consumes it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol, runtime_checkable
from warnings import warn

import numpy as np

from pliant import ledger
from pliant.abilities import able
from pliant.alarms import alarms_of
from pliant.budget import OverBudget, check_budget, limited
from pliant.certificate import Certificate, certify, forbidden_inversions, told
from pliant.checkpoint import Checkpoint, Topology
from pliant.coarsen.following import followed
from pliant.devices import fetched, moved, placed
from pliant.errors import ConvergenceError, NotPositiveDefinite, PliantError, SceneError
from pliant.integrators.base import Landing, advance, isolated
from pliant.linear.threads import one_thread
from pliant.state import Reactions, State, Step
from pliant.systems.base import Barring, Charted, Remote, topology_of
from pliant.units import energy_unit

MAX_HALVINGS = 10
LIGHT = 299_792_458.0  # m/s: nothing that is simulated goes faster
GAIN = 1e-6  # part of the ledger's scale that counts as a gain of energy


@runtime_checkable
class SceneLike(Protocol):
    """What can be run: `pliant.Scene`, or anything else that can say these things about itself."""

    @property
    def name(self) -> str: ...

    @property
    def integrator(self) -> Any: ...

    @property
    def on_failure(self) -> str: ...

    @property
    def on_energy_gain(self) -> str: ...

    @property
    def isolated(self) -> bool: ...

    @property
    def h(self) -> Any: ...

    @property
    def steps(self) -> int: ...

    def system(self) -> Any: ...

    def initial(self, system: Any) -> State: ...

    def after(self, happened: int) -> Any: ...

    def due(self, t: float) -> int: ...


@runtime_checkable
class OnDevice(Protocol):
    """A scene that says on which device it is stepped, "cpu" or "cuda"."""

    @property
    def device(self) -> str: ...


@runtime_checkable
class Eventful(Protocol):
    """A scene that knows the times at which something changes at once."""

    def event_after(self, t: float) -> float:
        """The time [s] of its next event; inf without one."""
        ...

    def stops(self) -> tuple[float, ...]:
        """The times [s] of all events, and of corners of scripts and loads."""
        ...


@runtime_checkable
class Around(Protocol):
    """Something with a scene in it, such as one that was loaded with its output and origin."""

    scene: Any


@dataclass(frozen=True, eq=False)
class TimeStep:
    """One step of a run: where it led, what vouches for it, where the energy went; ``memory`` is for the next step."""

    index: int
    state: State
    report: Certificate
    ledger: ledger.Row
    system: Any
    memory: Any
    scene: Any  # as it is after the events that have happened
    topology: Topology | None = None  # where it differs from that of the scene at its start
    reactions: Reactions | None = None  # forces of motors and other constraints, where a stage found them
    fetch: Any = None  # brings arrays of ``memory`` from the device where it is stepped
    acted: Any = None  # contact forces of the last solve (`pliant.systems.acted.Acted`), where the method knows them

    def checkpoint(self, marks: dict[str, Any] | None = None) -> Checkpoint:
        """What `simulate` needs to go on from here."""
        memory = self.memory if self.fetch is None else moved(self.memory, self.fetch)
        return Checkpoint(self.index, self.state, memory, self.topology, dict(marks or {}))


@dataclass(frozen=True, eq=False)
class Failure:
    """A step that may not be used: what it started from, what it tried, and what is wrong with it."""

    step: int
    h: float
    before: Checkpoint
    attempt: State | None
    report: Certificate | None
    solves: tuple[Any, ...]
    reason: str
    system: Any
    whole: bool = False  # the step as the policy takes it, substeps included, and not one attempt of length h


class StepFailed(ConvergenceError):
    """A failed step ends the run; ``failure`` is what a bundle is made of."""

    def __init__(self, failure: Failure, remedy: str) -> None:
        super().__init__(f"step {failure.step}: {failure.reason}", where="simulate", remedy=remedy)
        self.failure = failure
        self.bundle: Path | None = None  # where it was written, once it was


def simulate(scene: SceneLike, *, start: Checkpoint | None = None, system: Any = None) -> Iterator[TimeStep]:
    """Step from the initial state, or from a checkpoint, to the end of the scene; ``system`` saves building it anew.

    A step that does not converge, is not finite, or inverts elements of a material that forbids it, is treated as
    ``scene.on_failure`` says: "raise" `StepFailed`; "warn" once and go on (never with values that are not finite);
    "substep": halve h until it converges, at most 2^10 times, then return to h. A step that has used up
    ``scene.budget`` has failed, whatever the policy. ``scene.on_energy_gain`` says what a negative numerical
    dissipation beyond 1e-6 of the ledger's scale means.
    """
    with one_thread():
        if system is None or start is None:
            system, start = beginning(scene, start)
        point, now = start, scene.after(events_in(start))
        row = ledger.opening(point.step, system, point.state, scene.integrator)
    warned, peak = False, row.scale
    for index in range(point.step + 1, scene.steps + 1):
        begun = perf_counter()
        with one_thread():  # the step and its books: sums must not depend on the number of threads
            now, system, stretches = covered(scene, now, system, point, index)
            seconds = perf_counter() - begun
            rows = [row]
            for s in stretches:
                rows.append(booked(rows[-1], s.system, s.point.state, s.taken, scene.integrator.order))
            row, point = ledger.combined(rows[1:]), stretches[-1].point
            taken = [step for s in stretches for step in s.taken]
            last, trouble = taken[-1], next((s.trouble for s in stretches if s.trouble), "")
            topology = _changed(point, stretches[-1].taken, system)
            report = certify(index, float(scene.h), taken, system, seconds)
        if trouble:
            report = replace(report, converged=False, message=trouble)
            warned = _warn_once(warned, index, trouble)
        report = replace(report, alarms=tuple(alarms_of(report, row, peak, system)))
        peak = max(peak, row.scale)
        gain = gain_of(scene, row)
        if gain:
            failure = failure_of(system, point, index, float(scene.h), last, gain)
            failure = replace(failure, report=report, whole=True)
            warned = _gained(scene, failure, warned)
        point = Checkpoint(index, last.state, last.memory, topology)
        shown, state, fetch = system, last.state, None
        if able(system, Remote):
            shown, state, fetch = system.host, system.fetched(last.state), system.fetch
        yield TimeStep(
            index, state, report, row, shown, last.memory, now, topology, last.reactions, fetch=fetch, acted=last.acted
        )


@dataclass(frozen=True, eq=False)
class Stretch:
    """The steps ``taken`` on one system from one point, and the trouble that a warning is about."""

    system: Any
    point: Checkpoint
    taken: list[Step]
    trouble: str


def covered(scene: SceneLike, now: Any, system: Any, point: Checkpoint, index: int) -> tuple[Any, Any, list[Stretch]]:
    """One step of the scene, cut at events within it where the integrator lands on them; scene and system after it."""
    stretches: list[Stretch] = []
    h, end = float(scene.h), point.state.t + float(scene.h)
    while True:
        due = scene.due(point.state.t)
        if due > events_in(point):
            now, state = now.happen(events_in(point), due, fetched(system, point).state)
            system, point = _placed(scene, now.system(), Checkpoint(point.step, state, None, Topology(due)))
        cut = isinstance(scene.integrator, Landing) and isinstance(scene, Eventful)
        until = min(scene.event_after(point.state.t), end) if cut else end  # type: ignore[attr-defined]
        whole = until == end and not stretches
        taken, trouble = take(scene, system, point, index, h if whole else until - point.state.t)
        stretches.append(Stretch(system, point, taken, trouble))
        system = next((part.system for part in reversed(taken) if part.system is not None), system)
        if until == end:
            return now, system, stretches
        point = Checkpoint(point.step, taken[-1].state, taken[-1].memory, _changed(point, taken, system))


def beginning(scene: SceneLike, start: Checkpoint | None = None) -> tuple[Any, Checkpoint]:
    """The system and the point a run of ``scene`` starts from."""
    require_scene(scene, "simulate")
    if start is None:
        system = scene.system()
        return _placed(scene, system, Checkpoint(0, scene.initial(system)))
    if start.topology is None:
        return _placed(scene, scene.system(), start)
    now = scene.after(start.topology.events)
    system = now.system() if start.topology.mesh is None else now.restored(start.topology.mesh)
    return _placed(scene, system, start)


def _placed(scene: SceneLike, system: Any, point: Checkpoint) -> tuple[Any, Checkpoint]:
    return placed(scene.device if isinstance(scene, OnDevice) else "cpu", scene.integrator, system, point)


def events_in(point: Checkpoint) -> int:
    """How many events have happened before a point of a run."""
    return 0 if point.topology is None else point.topology.events


def _changed(point: Checkpoint, taken: Sequence[Step], system: Any) -> Topology | None:
    """What has changed after a step."""
    if all(part.system is None for part in taken):
        return point.topology
    return Topology(events_in(point), topology_of(system))


def require_scene(thing: Any, where: str) -> None:
    """Refuse what cannot be run (see `SceneLike`)."""
    if not isinstance(thing, SceneLike):
        remedy = "give its .scene" if isinstance(thing, Around) else "give a pliant.Scene"
        raise SceneError(f"{type(thing).__name__} is no scene", where=where, remedy=remedy)


def attempt(scene: SceneLike, system: Any, point: Checkpoint, h: float) -> tuple[Step | None, str]:
    """One integrator step and what is wrong with it ("" when nothing is)."""
    with one_thread(), np.errstate(all="ignore"):  # overflow on the way to a rejected step is no news
        try:
            state = system.rechart(point.state) if able(system, Charted) else point.state
            step = advance(followed(landing(scene), system), system, state, h, point.memory)
            step = isolated(step, system, state) if scene.isolated else step
            check_budget()
        except (NotPositiveDefinite, ConvergenceError) as error:
            return None, str(error)
        except (ArithmeticError, np.linalg.LinAlgError) as error:
            return None, f"{type(error).__name__}: {error}"
        if state is not point.state and step.start is None:
            step = replace(step, start=state)
        return step, trouble_of(step, system if step.system is None else step.system)


def landing(scene: SceneLike) -> Any:
    """The integrator of a scene; one that chooses its steps lands where something changes at once."""
    integrator = scene.integrator
    if isinstance(integrator, Landing) and isinstance(scene, Eventful):
        return integrator.landing(scene.stops())
    return integrator


def trouble_of(step: Step, system: Any) -> str:
    """Why a step may not be used, "" if it may."""
    overflow = overflow_of(step, system)
    if overflow:
        return overflow
    for report in step.reports:
        if not report.converged:
            numbers = f"residual {told(report.residual)}, tolerance {told(report.tolerance)}"
            return f"not converged: {report.message} ({numbers})"
    crossed = system.crossings(step.state.q, step.state.t) if isinstance(system, Barring) else None
    if crossed:
        return f"{crossed} edges pass through triangles, although contact is a barrier"
    inverted = forbidden_inversions(system, step.state.q)
    if inverted:
        energy, elements = inverted[0]
        return f"{len(elements)} elements of {energy.name!r} are inverted, first {elements[0]}"
    return ""


def overflow_of(step: Step, system: Any) -> str:
    """What is not finite after a step, or as good as; "" if nothing is."""
    q, v, t = step.state.q, step.state.v, step.state.t
    if not (np.isfinite(q).all() and np.isfinite(v).all()):
        return "positions or velocities are not finite"
    fastest = float(np.abs(v).max()) if len(v) else 0.0
    if fastest > LIGHT:
        return f"a velocity of {fastest:.3g} m/s: the step has exploded"
    with np.errstate(all="ignore"):
        energy = sum((system if step.system is None else step.system).energies(q, v, t).values())
    return "" if np.isfinite(energy) else "the energy is not finite"


def take(scene: SceneLike, system: Any, point: Checkpoint, index: int, h: float) -> tuple[list[Step], str]:
    """The step as the policy wants it: the pieces taken, and the trouble that a warning is about."""
    try:
        with limited(scene):
            return _taken(scene, system, point, index, h)
    except OverBudget as spent:
        failure = replace(failure_of(system, point, index, h, None, str(spent)), whole=True)
        raise StepFailed(failure, "raise scene.budget, or reduce h") from None


def _taken(scene: SceneLike, system: Any, point: Checkpoint, index: int, h: float) -> tuple[list[Step], str]:
    """`take` without its budget."""
    try:
        step, trouble = attempt(scene, system, point, h)
    except PliantError:
        raise
    except Exception as error:  # a defect: keep what is needed to reproduce it
        reason = f"{type(error).__name__}: {error}"
        raise StepFailed(failure_of(system, point, index, h, None, reason), "report the failure bundle") from error
    if not trouble and step is not None:
        return [step], ""
    moved = step is not None and step.state.t > point.state.t  # methods without an answer give the start back
    if scene.on_failure == "warn" and step is not None and moved and not overflow_of(step, system):
        return [step], trouble
    if scene.on_failure == "substep":
        pieces = _substeps(scene, system, point, index, h)
        if not isinstance(pieces, Failure):
            return pieces, ""
        remedy = "look at the failure bundle; the scene itself may be impossible"
        raise StepFailed(pieces, remedy)
    raise StepFailed(failure_of(system, point, index, h, step, trouble), _remedy(scene, step))


def _substeps(scene: SceneLike, system: Any, point: Checkpoint, index: int, h: float) -> list[Step] | Failure:
    """Cover h by halves: every failure halves the piece; pieces grow again where their grid allows it.

    The failure of the smallest piece where even that does not work.
    """
    pieces: list[Step] = []
    done, size = 0, 2 ** (MAX_HALVINGS - 1)  # in units of h / 2^MAX_HALVINGS
    here = point
    while done < 2**MAX_HALVINGS:
        check_budget()
        step, trouble = attempt(scene, system, here, h * size / 2**MAX_HALVINGS)
        if trouble or step is None:
            if size == 1:
                return failure_of(system, here, index, h / 2**MAX_HALVINGS, step, f"h / {2**MAX_HALVINGS}: {trouble}")
            size //= 2
            continue
        pieces.append(step)
        system = system if step.system is None else step.system
        here = Checkpoint(point.step, step.state, step.memory, _changed(here, [step], system))
        done += size
        while size < 2 ** (MAX_HALVINGS - 1) and done % (2 * size) == 0:
            size *= 2
    return pieces


def failure_of(system: Any, point: Checkpoint, index: int, h: float, step: Step | None, reason: str) -> Failure:
    """The record of a failed step."""
    with np.errstate(all="ignore"):
        report = None if step is None else certify(index, h, [step], system, 0.0)
    state, solves = (None, ()) if step is None else (step.state, step.reports)
    point = fetched(system, point)
    if able(system, Remote):
        state, system = state and system.fetched(state), system.host
    return Failure(index, h, point, state, report, solves, reason, system)


def _remedy(scene: SceneLike, step: Step | None) -> str:
    missed = [r for r in step.reports if not r.converged] if step is not None else []
    if missed and all(0.0 < r.residual < 10.0 * (r.tolerance or 0.0) for r in missed):
        return "the residual is close: give the solver a larger tolerance, round-off may forbid this one"
    return f'reduce h (now {float(scene.h):g} s), or set on_failure = "substep"'


def booked(row: ledger.Row, system: Any, before: State, taken: Sequence[Step], order: int) -> ledger.Row:
    """The next line of the ledger, substep by substep."""
    rows = []
    with np.errstate(all="ignore"):
        for part in (piece for step in taken for piece in step.pieces or (step,)):
            system = system if part.system is None else part.system
            start = before if part.start is None else part.start
            row = ledger.entry(row, system, start, part.state, order, part.work, part.exchange)
            rows.append(row)
            before = part.state
    return ledger.combined(rows)


def gain_of(scene: SceneLike, row: ledger.Row) -> str:
    """The energy that came from nowhere in a step, where the scene minds it; "" if none did."""
    if scene.on_energy_gain == "ignore" or row.numerical >= -GAIN * row.scale:
        return ""
    unit = energy_unit(scene)
    return f"energy gained: {-row.numerical:.3g} {unit} out of {row.scale:.3g} {unit}"


def _gained(scene: SceneLike, failure: Failure, warned: bool) -> bool:
    if scene.on_energy_gain == "raise":
        raise StepFailed(failure, "use a smaller h or a dissipative integrator")
    return _warn_once(warned, failure.step, failure.reason)


def _warn_once(warned: bool, index: int, trouble: str) -> bool:
    if not warned:
        warn(f"step {index}: {trouble}; further warnings are in the certificates only", stacklevel=3)
    return True
