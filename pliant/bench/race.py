"""A race of nonlinear solvers over one scene: the same stages, the same tolerance, interleaved step by step.

Every solver runs its own simulation; the solvers take turns after each time step, so that a busy machine slows all of
them alike. Counts (iterations, factorizations, fills, forces, solves) reproduce anywhere; seconds do not.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from time import process_time
from typing import Any

import numpy as np

from pliant.bench.table import Claim
from pliant.scene import Scene
from pliant.state import Counts, State, Step

PHASES = ("fill", "factor", "solve", "force")


@dataclass
class Runner:
    """One contestant: its scene (integrator and solver included), where it is, and what it has spent."""

    name: str
    scene: Scene
    seconds: float = 0.0
    iterations: int = 0
    solves: int = 0
    failures: int = 0
    counts: Counts = Counts()
    phases: dict[str, float] = field(default_factory=dict)
    times: list[float] = field(default_factory=list)  # CPU seconds of every step

    def __post_init__(self) -> None:
        self.system = self.scene.system()
        self.state, self.memory = self.scene.initial(self.system), None

    def step(self) -> None:
        step = self.visit(self.state, self.memory)
        self.state, self.memory = step.state, step.memory

    def visit(self, state: State, memory: Any) -> Step:
        """One step from a given state, counted; the runner stays where it is."""
        start = process_time()
        step = self.scene.integrator.step(self.system, state, float(self.scene.h), memory)
        self.times.append(process_time() - start)
        self.seconds += self.times[-1]
        self._count(step)
        return step

    def retire(self) -> None:
        """Let go of the simulation and its factors; the counts stay."""
        self.scene = self.system = self.state = self.memory = None  # type: ignore[assignment]

    @property
    def shares(self) -> dict[str, str]:
        """The column with the percentage of the time spent in each of the PHASES."""
        total = max(sum(self.phases.values()), 1e-12)
        return {"/".join(PHASES) + " %": "/".join(f"{100 * self.phases.get(p, 0.0) / total:.0f}" for p in PHASES)}

    def _count(self, step: Step) -> None:
        for report in step.reports:
            self.iterations += report.iterations
            self.solves += 1
            self.failures += not report.converged
            self.counts += report.counts
            for phase, seconds in report.seconds.items():
                self.phases[phase] = self.phases.get(phase, 0.0) + seconds


def race(runners: list[Runner], steps: int) -> list[Runner]:
    """All runners over ``steps`` time steps, in turns; the first step (compilation, analysis) is not counted."""
    for runner in runners:
        runner.scene.integrator.step(runner.system, runner.state, float(runner.scene.h), None)
    for _ in range(steps):
        for runner in runners:
            runner.step()
    return runners


def ratio(runners: list[Runner], slow: str, fast: str) -> float:
    """How many times faster ``fast`` was than ``slow``."""
    seconds = {r.name: r.seconds for r in runners}
    return seconds[slow] / max(seconds[fast], 1e-12)


def middle(slow: Runner, fast: Runner) -> tuple[float, float]:
    """The quartiles of how many times faster each step was."""
    low, high = np.quantile(np.array(slow.times) / np.maximum(fast.times, 1e-12), (0.25, 0.75))
    return float(low), float(high)


def faster(slow: Runner, fast: Runner) -> str:
    """How many times faster over all steps, and between which factors in the middle half of them."""
    low, high = middle(slow, fast)
    total = slow.seconds / max(fast.seconds, 1e-12)
    return f"{total:.2f}x ({low:.1f}-{high:.1f} in half of {len(slow.times)} steps)"


def all_converged(runners: Iterable[Runner], kind: str = "solver") -> Claim:
    """The claim that no solve of any contestant failed."""
    failures = sum(r.failures for r in runners)
    return Claim(f"every step of every {kind} converged", "yes", f"{failures} failures", failures == 0)


def no_inversion(dets: dict[str, float]) -> Claim:
    """That no element is ever inside out, for the smallest det F of every run: finite numbers alone say little."""
    worst = min(dets, key=lambda name: dets[name])
    shown = f"{dets[worst]:.2f}" + (f" ({worst})" if len(dets) > 1 else "")
    return Claim("no element inside out: min det F > 0", "-", shown, dets[worst] > 0.0)
