"""Running a scene: one generator that steps, certifies and keeps the ledger; everything else consumes it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any
from warnings import warn

import numpy as np

from pliant import ledger
from pliant.abilities import able
from pliant.alarms import alarms_of
from pliant.arrays import Array
from pliant.attempt import Failure, StepFailed, events_in, failure_of, take, topology_after
from pliant.certificate import Certificate, certify
from pliant.checkpoint import Checkpoint, Topology
from pliant.devices import fetched, moved, placed
from pliant.integrators.base import Landing
from pliant.linear.threads import one_thread
from pliant.scene_like import Eventful, OnDevice, SceneLike, require_scene
from pliant.state import Reactions, State, Step
from pliant.systems.base import System
from pliant.systems.stepped import Remote
from pliant.systems.supports import support_forces
from pliant.units import energy_unit

GAIN = 1e-6  # part of the ledger's scale that counts as a gain of energy


@dataclass(frozen=True, eq=False)
class TimeStep:
    """One step of a run: its state, certificate and ledger row; ``memory`` is for the next step."""

    index: int
    state: State
    report: Certificate
    ledger: ledger.Row
    system: Any  # a System, of whatever class it is
    memory: Any
    scene: Any  # as it is after the events that have happened
    topology: Topology | None = None  # where it differs from that of the scene at its start
    reactions: Reactions | None = None  # forces of motors and other constraints, where a stage found them
    fetch: Any = None  # brings arrays of ``memory`` from the device where it is stepped
    acted: Any = None  # contact forces of the last solve (`pliant.systems.acted.Acted`), where the method knows them

    def part(self, body: int | str) -> tuple[Any, State]:
        """The system that a body (its name or number) belongs to, and its own coordinates and rates.

        Each articulated body is a part of its own; all rigid bodies are one, and all soft bodies are one.
        """
        found: tuple[Any, State] = self.scene.part(body, self.system, self.state)
        return found

    def support_forces(self) -> Array | None:
        """Forces (p, 3) [N] of pins and scripts on the vertices they hold (`pliant.systems.supports`)."""
        static = self.scene.integrator.order == 0
        return support_forces(self.system, self.state, static=static, acted=self.acted, reactions=self.reactions)

    def checkpoint(self, marks: dict[str, Any] | None = None) -> Checkpoint:
        """What `simulate` needs to continue from here."""
        memory = self.memory if self.fetch is None else moved(self.memory, self.fetch)
        return Checkpoint(self.index, self.state, memory, self.topology, dict(marks or {}))


def simulate(scene: SceneLike, *, start: Checkpoint | None = None, system: Any = None) -> Iterator[TimeStep]:
    """Step from the initial state, or from a checkpoint, to the end of the scene; yields every step.

    A step that does not converge, is not finite, or inverts elements of a material that forbids inversion is handled as
    ``scene.on_failure`` says: "raise" raises `StepFailed`; "warn" warns once and continues (never with values that are
    not finite); "substep" halves h until the step converges, at most 2^10 times, and then returns to h. A step that has
    used up ``scene.budget`` has failed, whatever the policy. ``scene.on_energy_gain`` is the policy for a negative
    numerical dissipation beyond 1e-6 of the energies in the ledger. A ``system`` that was built before need not be
    built again.
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
            topology = topology_after(point, stretches[-1].taken, system)
            report = certify(index, float(scene.h), taken, system, seconds)
        if trouble:
            report = replace(report, converged=False, message=trouble)
            warned = _warn_once(warned, index, trouble)
        report = replace(report, alarms=tuple(alarms_of(report, row, peak, system, scene.integrator)))
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

    system: System
    point: Checkpoint
    taken: list[Step]
    trouble: str


def covered(
    scene: SceneLike, now: Any, system: System, point: Checkpoint, index: int
) -> tuple[Any, Any, list[Stretch]]:
    """One step of the scene, cut at events within it where the integrator lands on them; scene and system after it."""
    stretches: list[Stretch] = []
    h, end = float(scene.h), point.state.t + float(scene.h)
    while True:
        due = scene.due(point.state.t)
        if due > events_in(point):
            now, state = now.happen(events_in(point), due, fetched(system, point).state)
            system, point = _placed(scene, now.system(), Checkpoint(point.step, state, None, Topology(due)))
        cut = able(scene.integrator, Landing) and able(scene, Eventful)
        until = min(scene.event_after(point.state.t), end) if cut else end  # type: ignore[attr-defined]
        whole = until == end and not stretches
        taken, trouble = take(scene, system, point, index, h if whole else until - point.state.t)
        stretches.append(Stretch(system, point, taken, trouble))
        system = next((part.system for part in reversed(taken) if part.system is not None), system)
        if until == end:
            return now, system, stretches
        point = Checkpoint(point.step, taken[-1].state, taken[-1].memory, topology_after(point, taken, system))


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


def _placed(scene: SceneLike, system: System, point: Checkpoint) -> tuple[Any, Checkpoint]:
    return placed(scene.device if able(scene, OnDevice) else "cpu", scene.integrator, system, point)


def booked(row: ledger.Row, system: System, before: State, taken: Sequence[Step], order: int) -> ledger.Row:
    """The next line of the ledger, substep by substep."""
    rows = []
    with np.errstate(all="ignore"):
        for part in (piece for step in taken for piece in step.pieces or (step,)):
            system = system if part.system is None else part.system
            start = before if part.start is None else part.start
            during = None if part.acted is None else part.acted.during
            row = ledger.entry(row, system, start, part.state, order, part.work, part.exchange, during)
            rows.append(row)
            before = part.state
    return ledger.combined(rows)


def gain_of(scene: SceneLike, row: ledger.Row) -> str:
    """The spurious energy gain of a step in words, where the scene asks to be stopped by it; "" if there is none."""
    if scene.on_energy_gain == "ignore" or row.numerical >= -GAIN * row.scale:
        return ""
    unit = energy_unit(scene)
    return f"energy gained: {-row.numerical:.3g} {unit} out of {row.scale:.3g} {unit}"


def _gained(scene: SceneLike, failure: Failure, warned: bool) -> bool:
    if scene.on_energy_gain == "raise":
        raise StepFailed(failure, "use a smaller h, or BDF1, which gains nothing from convex energies and contact")
    return _warn_once(warned, failure.step, failure.reason)


def _warn_once(warned: bool, index: int, trouble: str) -> bool:
    if not warned:
        warn(f"step {index}: {trouble}; further warnings are in the certificates only", stacklevel=3)
    return True
