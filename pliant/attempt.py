"""One step of a run as the scene's policy wants it: tried, judged, halved or given up with a record of the failure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.abilities import able
from pliant.budget import OverBudget, check_budget, limited
from pliant.certificate import Certificate, certify, forbidden_inversions, readable
from pliant.checkpoint import Checkpoint, Topology
from pliant.coarsen.following import followed
from pliant.devices import fetched
from pliant.errors import ConvergenceError, NotPositiveDefinite, PliantError
from pliant.integrators.base import Landing, advance, isolated
from pliant.linear.threads import one_thread
from pliant.scene_like import Eventful, SceneLike
from pliant.state import State, Step
from pliant.systems.base import System
from pliant.systems.observed import Barring, topology_of
from pliant.systems.stepped import Charted, Remote

MAX_HALVINGS = 10
LIGHT = 299_792_458.0  # m/s: nothing that is simulated goes faster


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
    system: System
    whole: bool = False  # the step as the policy takes it, substeps included, and not one attempt of length h


class StepFailed(ConvergenceError):
    """A failed step ends the run; ``failure`` is what a bundle is made of."""

    def __init__(self, failure: Failure, remedy: str) -> None:
        super().__init__(f"step {failure.step}: {failure.reason}", where="simulate", remedy=remedy)
        self.failure = failure
        self.bundle: Path | None = None  # where it was written, once it was


def events_in(point: Checkpoint) -> int:
    """How many events have happened before a point of a run."""
    return 0 if point.topology is None else point.topology.events


def topology_after(point: Checkpoint, taken: Sequence[Step], system: System) -> Topology | None:
    """What makes the meshes and events of a run again after a step; None where they are those of the scene."""
    if all(part.system is None for part in taken):
        return point.topology
    return Topology(events_in(point), topology_of(system))


def attempt(scene: SceneLike, system: System, point: Checkpoint, h: float) -> tuple[Step | None, str]:
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
    if able(integrator, Landing) and able(scene, Eventful):
        return integrator.landing(scene.stops())
    return integrator


def trouble_of(step: Step, system: System) -> str:
    """Why a step may not be used, "" if it may."""
    overflow = overflow_of(step, system)
    if overflow:
        return overflow
    for report in step.reports:
        if not report.converged:
            numbers = f"residual {readable(report.residual)}, tolerance {readable(report.tolerance)}"
            return f"not converged: {report.message} ({numbers})"
    crossed = system.crossings(step.state.q, step.state.t) if able(system, Barring) else None
    if crossed:
        return f"{crossed} edges pass through triangles, although contact is a barrier"
    inverted = forbidden_inversions(system, step.state.q)
    if inverted:
        energy, elements = inverted[0]
        return f"{len(elements)} elements of {energy.name!r} are inverted, first {elements[0]}"
    return ""


def overflow_of(step: Step, system: System) -> str:
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


def take(scene: SceneLike, system: System, point: Checkpoint, index: int, h: float) -> tuple[list[Step], str]:
    """The step as the policy wants it: the pieces taken, and the trouble that a warning is about."""
    try:
        with limited(scene):
            return _taken(scene, system, point, index, h)
    except OverBudget as spent:
        failure = replace(failure_of(system, point, index, h, None, str(spent)), whole=True)
        raise StepFailed(failure, "raise scene.budget, or reduce h") from None


def _taken(scene: SceneLike, system: System, point: Checkpoint, index: int, h: float) -> tuple[list[Step], str]:
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


def _substeps(scene: SceneLike, system: System, point: Checkpoint, index: int, h: float) -> list[Step] | Failure:
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
        here = Checkpoint(point.step, step.state, step.memory, topology_after(here, [step], system))
        done += size
        while size < 2 ** (MAX_HALVINGS - 1) and done % (2 * size) == 0:
            size *= 2
    return pieces


def failure_of(system: System, point: Checkpoint, index: int, h: float, step: Step | None, reason: str) -> Failure:
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
