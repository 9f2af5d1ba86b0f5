"""time/work: CPU time against error, steps of chosen size beside the best fixed step, which was chosen afterwards.

`Adaptive(TRBDF2)` follows a motion with one tolerance and makes some error. TRBDF2 with fixed steps is run with ever
smaller h until its error is smaller; the CPU time that it needs for the same error lies between its last two runs (a
straight line in logarithms). Smooth motions have nothing to gain from steps of different size; motions that rest, meet
or snap, and rest again, have. All in one process; errors are the largest over all frames of the root mean square
distance to a run with a tolerance a hundred times smaller.
"""

from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.table import Claim, Plot, Table
from pliant.bench.time.cases import MotionCase, arch, drape, error, swinging_bar
from pliant.bodies import Rayleigh, Solid
from pliant.contact.obstacles import Plane
from pliant.integrators import TRBDF2, Adaptive
from pliant.loads import Tug
from pliant.materials import StableNeoHookean
from pliant.mesh import long_eared
from pliant.scene import Scene
from pliant.systems.penalty_contact import PenaltyContact

HALVINGS = 9


@dataclass(frozen=True)
class WorkCase:
    """A motion, the tolerance it is followed with, and whether it is smooth all the way."""

    case: MotionCase
    tolerance: float
    smooth: bool


def landing_bunny() -> Scene:
    """BUNNY, coarse, falls by 2 cm, lands on a floor, and rests there for most of two seconds."""
    mesh = long_eared(height=0.1, cells=5)
    mesh = mesh.transformed(translate=(0, 0, 0.02 - float(mesh.X[:, 2].min())))
    body = Solid(mesh, StableNeoHookean(E=5e4, nu=0.4), damping=Rayleigh(alpha=15.0, beta=1e-3), name="bunny")
    return Scene([body], contact=PenaltyContact(mu=0.0), obstacles=[Plane()], name="bunny")


def resting_arch() -> Scene:
    """The arch rests, is pushed down within 0.1 s, snaps through, and rests."""
    scene = arch()
    (tug,) = scene.forces
    assert isinstance(tug, Tug)
    return replace(scene, forces=[replace(tug, start=0.4, full=0.5)])


CONTESTS = (
    WorkCase(MotionCase("BAR swing", swinging_bar, 0.2, 10), 1e-3, True),
    WorkCase(MotionCase("cloth drape", drape, 0.25, 10), 1e-3, True),
    WorkCase(MotionCase("landing BUNNY", landing_bunny, 2.0, 100), 1e-2, False),
    WorkCase(MotionCase("snapping arch", resting_arch, 1.5, 50), 1e-2, False),
)


@dataclass(frozen=True, eq=False)
class Tried:
    """A run: coordinates (frames, N), CPU seconds, accepted steps and all factorizations."""

    q: Array
    seconds: float
    steps: int
    factorizations: int


def tried(case: MotionCase, integrator: Any, parts: int = 1) -> Tried:
    """A case with an integrator, every frame in equal ``parts``."""
    scene = case.scene()
    system = scene.system()
    state, memory, out, reports = scene.initial(system), None, [], []
    steps = 0
    begun = process_time()
    for k in range(case.frames * parts):
        step = integrator.step(system, state, case.duration / case.frames / parts, memory)
        state, memory = step.state, step.memory
        reports += step.reports
        steps += 1 if step.control is None else step.control.accepted
        if (k + 1) % parts == 0:
            out.append(state.q)
    seconds = process_time() - begun
    if not all(report.converged for report in reports):
        return Tried(np.full((case.frames, len(state.q)), np.nan), seconds, steps, 0)
    return Tried(np.array(out), seconds, steps, sum(report.counts.factorizations for report in reports))


def fixed_for(errors: list[float], seconds: list[float], wanted: float) -> float:
    """CPU seconds of fixed steps that make the error ``wanted``, from runs with ever smaller ones."""
    if len(errors) < 2 or not np.isfinite(errors[-2]):
        return seconds[-1]
    (a, b), (s, t) = np.log(errors[-2:]), np.log(seconds[-2:])
    part = np.clip((a - np.log(wanted)) / (a - b), 0.0, 1.0)
    return float(np.exp(s + part * (t - s)))


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    claims = []
    for contest in CONTESTS[:2] if quick else CONTESTS:
        case, scene = contest.case, contest.case.scene()
        chosen = Adaptive(TRBDF2(), tolerance=contest.tolerance).landing(scene.stops())
        exact = tried(case, replace(chosen, tolerance=0.01 * contest.tolerance)).q  # also compiles what there is
        mine = tried(case, chosen)
        wanted = error(mine.q, exact, scene.dim)
        rows.append(row(case, f"Adaptive, {contest.tolerance:g} m", mine, wanted))
        errors, seconds = [], []
        for k in range(HALVINGS):
            fixed = tried(case, TRBDF2(), 2**k)
            errors.append(error(fixed.q, exact, scene.dim))
            seconds.append(fixed.seconds)
            h = case.duration / case.frames / 2**k
            rows.append(row(case, f"h = {1e3 * h:.3g} ms", fixed, errors[-1]))
            if errors[-1] <= wanted:
                break
        ratio = mine.seconds / fixed_for(errors, seconds, wanted)
        if contest.smooth:
            claims.append(Claim(f"{case.name}: CPU / that of the best fixed h", "<= 1.5", f"{ratio:.2f}", ratio <= 1.5))
        else:
            claims.append(Claim(f"{case.name}: faster than the best fixed h", ">= 2", f"{1 / ratio:.1f}", ratio <= 0.5))
    plot = Plot("CPU s", "error [m]", "motion", "xy")
    return Table("time/work", "What choosing the steps costs, and saves", rows, claims, plot=plot)


def row(case: MotionCase, steps: str, found: Tried, wrong: float) -> dict[str, Any]:
    return {
        "motion": case.name,
        "TRBDF2 with": steps,
        "error [m]": float(f"{wrong:.3g}"),
        "CPU s": round(found.seconds, 3),
        "steps": found.steps,
        "factorizations": found.factorizations,
    }
