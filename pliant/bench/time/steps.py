"""time/steps: BDF2 on random steps is of order 2, estimates are errors, and resumed runs have the same bytes.

BAR swings for 0.05 s in n steps whose lengths are drawn at random, each up to twice as long or half as short as the one
before; the order is the slope of a line through the errors of 40 to 320 of them. Below it, for each method with an
estimate of its own, the estimated error of one step over the true one (against DOP853 from the same state), at two
lengths: 1 where the estimate is right. At last a bouncing ball is saved at every frame, and resumed before, after and
between frames in which steps were rejected.
"""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.bench.time.cases import ball, error, exact_step, reference, swinging_bar
from pliant.checkpoint import load, save
from pliant.integrators import BDF2, ERE, SDIRK2, TRBDF2, Adaptive
from pliant.integrators.bdf2 import RATIO, History
from pliant.integrators.estimate import estimated
from pliant.scene import Scene
from pliant.simulate import TimeStep, simulate
from pliant.solvers import Newton, Tolerance
from pliant.state import State

T = 0.05
TIGHT = Newton(tolerance=Tolerance(relative=1e-9, absolute=1e-13))


def lengths(n: int, seed: int) -> Array:
    """n random step lengths that add up to T."""
    rng = np.random.default_rng(seed)
    h = rng.uniform(0.5, 1.0, n)
    return h * (T / h.sum())


def ended(scene: Scene, steps: Array) -> Array:
    """Coordinates after all steps."""
    system = scene.system()
    state, memory = scene.initial(system), None
    for h in steps:
        step = BDF2(TIGHT).step(system, state, float(h), memory)
        state, memory = step.state, step.memory
    return state.q


def orders(quick: bool) -> tuple[list[dict[str, Any]], list[Claim]]:
    scene, rows, claims = swinging_bar(), [], []
    exact = reference(scene, T, 1)
    for seed in (1,) if quick else (1, 2, 3):
        counts = [40 * 2**k for k in range(3 if quick else 4)]
        errors = [error(ended(scene, lengths(n, seed))[None], exact, 3) for n in counts]
        order = -float(np.polyfit(np.log(counts), np.log(errors), 1)[0])
        rows += [
            {"what": f"BDF2, sequence {seed}", "steps": n, "error [m]": float(f"{e:.3g}"), "estimated / true": None}
            for n, e in zip(counts, errors, strict=True)
        ]
        claims.append(
            Claim(f"order of BDF2 on random steps, sequence {seed}", "2 +- 0.1", f"{order:.3f}", abs(order - 2) <= 0.1)
        )
    return rows, claims


def estimates() -> tuple[list[dict[str, Any]], list[Claim]]:
    """Estimated over true errors of one step, from a state in the middle of the motion."""
    scene, rows, claims = swinging_bar(), [], []
    system = scene.system()
    for method in (TRBDF2(TIGHT), SDIRK2(TIGHT), BDF2(TIGHT), ERE(tolerance=1e-11)):
        found = []
        for h in (1e-3, 5e-4):
            state, memory = started(scene, system, method, h)
            step, guess = estimated(method, system, state, h, memory)
            true = exact_step(system, state, h)
            wrong = np.concatenate([true.q - step.state.q, h * (true.v - step.state.v)])
            told = np.concatenate([guess.q, h * guess.v])
            found.append(float(np.linalg.norm(told) / np.linalg.norm(wrong)))
            name = f"{type(method).__name__}, one step of {1e3 * h:g} ms"
            rows.append({"what": name, "steps": 1, "error [m]": None, "estimated / true": round(found[-1], 3)})
        name = f"{type(method).__name__}: estimated / true error"
        claims.append(Claim(name, "0.5 to 2", f"{found[-1]:.2f}", 0.5 <= found[-1] <= 2.0))
    return rows, claims


def started(scene: Scene, system: Any, method: Any, h: float) -> tuple[State, Any]:
    """The exact state after three steps of h; for BDF2 also those before it."""
    states = [scene.initial(system)]
    for _ in range(3):
        states.insert(0, exact_step(system, states[0], h))
    return states[0], History(tuple(states[:3]), (h, h), None) if isinstance(method, BDF2) else None


def resumed(quick: bool) -> list[Claim]:
    """Whether runs that go on from saved frames have the bytes of the run that was never interrupted."""
    scene = replace(ball(), integrator=Adaptive(tolerance=1e-2), h=0.006, duration=0.09)
    steps = list(simulate(scene))
    rejected = [s.index for s in steps if s.report.rejected]
    within = [s.index for s in steps if not s.report.accepted]
    saved = sorted({k + d for k in rejected for d in (-1, 0) if k + d > 0} | set(within))[-4 if quick else 0 :]
    same = 0
    with TemporaryDirectory() as folder:
        for k in saved:
            save(Path(folder) / "c.h5", steps[k - 1].checkpoint())
            after = simulate(scene, start=load(Path(folder) / "c.h5"))
            same += all(printed(a) == printed(b) for a, b in zip(steps[k:], after, strict=True))
    name = f"resumed with the same bytes: around {len(rejected)} frames with rejected steps, {len(within)} within steps"
    return [
        Claim(name, f"{len(saved)} of {len(saved)}", f"{same} of {len(saved)}", bool(rejected) and same == len(saved))
    ]


def printed(step: TimeStep) -> tuple[Any, ...]:
    """What must be the same to the bit."""
    return step.state.q.tobytes(), step.state.v.tobytes(), repr(step.ledger), step.report.estimate, step.report.inner_h


def run(*, quick: bool = False) -> Table:
    (rows, claims), (more, further) = orders(quick), estimates()
    notes = [f"Where a step is more than {RATIO:g} times as long as the one before, BDF2 starts anew with SDIRK2."]
    return Table(
        "time/steps", "Steps of any length, and their errors", rows + more, claims + further + resumed(quick), notes
    )
