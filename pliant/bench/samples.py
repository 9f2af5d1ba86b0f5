"""A contest of nonlinear solvers on sampled time steps: the same states, the same tolerance, in turns.

One simulation, the guide, walks through the whole script with a cheap solver. At steps spread evenly over the script
every solver solves the very same step from the guide's state, and its result is compared and dropped. So all of them
see every part of the script, nobody's path favours anybody, and a contest costs minutes where whole runs cost an hour.

PLIANT_BENCH_STEPS sets the number of sampled steps; "all" gives every solver a run of its own instead (`race`).
"""

import os
import sys
from collections.abc import Callable, Collection, Iterable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.bench.parts import WHOLE, Share, together
from pliant.bench.race import Runner, faster, no_inversion, race
from pliant.bench.table import Claim
from pliant.certificate import smallest_det
from pliant.scene import Scene
from pliant.solvers import QLB, Solution, Tolerance
from pliant.solvers.base import StageLike

Build = Callable[[Any], Scene]  # a scene for a nonlinear solver
SAMPLES = 30  # steps: enough for the quartiles of their ratios to mean something


class OwnMemory:
    """A solver that keeps its own memory (the analysis of a pattern) and returns that of the reference run."""

    def __init__(self, solver: Any) -> None:
        self.solver, self.memory = solver, None

    def solve(self, stage: StageLike, guess: Any, memory: Any = None) -> Solution:
        solution = self.solver.solve(stage, guess, self.memory)
        self.memory = solution.memory
        return replace(solution, memory=memory)


@dataclass(frozen=True)
class Contest:
    """What the solvers of one case spent on ``steps`` of the ``whole`` time steps of its script.

    ``apart`` is the largest distance between a solver's roots and those of the first solver that found one, in sizes of
    the scene; ``iterations`` are those of every step, with its time [s]; ``least`` is the smallest det F on the path.
    """

    case: str
    runners: list[Runner]
    steps: int
    whole: int
    apart: dict[str, float] = field(default_factory=dict)
    iterations: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    least: float | None = None
    vertices: int = 0

    def runner(self, name: str) -> Runner:
        return next(r for r in self.runners if r.name == name)

    def among(self, names: Collection[str]) -> "Contest":
        """Of some of the solvers only."""
        runners = [r for r in self.runners if r.name in names]
        return replace(self, runners=runners, iterations={n: self.iterations[n] for n in names})

    def joined(self, others: "list[Contest]") -> "Contest":
        """With the steps of other shares of the same case."""
        parts = [self, *others]
        dets = [p.least for p in parts if p.least is not None]
        return replace(
            self,
            runners=[together([p.runner(r.name) for p in parts]) for r in self.runners],
            steps=sum(p.steps for p in parts),
            apart={name: max(p.apart[name] for p in parts) for name in self.apart},
            iterations={n: sorted(point for p in parts for point in p.iterations[n]) for n in self.iterations},
            least=min(dets, default=None),
        )

    def seconds(self, name: str) -> float:
        """CPU seconds per time step."""
        return self.runner(name).seconds / self.steps

    def ratio(self, slow: str, fast: str) -> float:
        """How many times faster ``fast`` was than ``slow``."""
        return self.seconds(slow) / max(self.seconds(fast), 1e-12)

    def faster(self, slow: str, fast: str) -> str:
        """The same with the spread over the steps, in words."""
        return faster(self.runner(slow), self.runner(fast))

    def rows(self, base: str) -> list[dict[str, Any]]:
        """One row per solver; counts are per time step, the shares those of the named phases in wall time."""
        return [self._row(r) | {f"{base} / this": round(self.ratio(base, r.name), 2)} for r in self.runners]

    def _row(self, r: Runner) -> dict[str, Any]:
        c = r.counts
        work = {
            "iterations": r.iterations,
            "factorizations": c.factorizations,
            "fills": c.fills,
            "forces": c.forces,
            "solves": c.solves,
            "inner": c.inner,
            "switches": c.switches,
        }
        return {
            "case": self.case,
            "solver": r.name,
            "vertices": self.vertices,
            "steps": f"{self.steps} of {self.whole}",
            "CPU s/step": round(self.seconds(r.name), 3),
            **{name: round(count / self.steps, 2) for name, count in work.items()},
            "failed": f"{r.failures}/{r.solves}",
            "min det F": "unknown" if self.least is None else round(self.least, 2),
            "apart": f"{self.apart[r.name]:.0e}" if r.name in self.apart else "",
            **r.shares,
        }


def contest(case: str, build: Build, solvers: dict[str, Any], samples: int = SAMPLES, share: Share = WHOLE) -> Contest:
    """The solvers on ``samples`` steps of a case (or on whole runs, see above), or on a ``share`` of them; the rows so
    far go to stderr.
    """
    wanted = os.environ.get("PLIANT_BENCH_STEPS", str(samples))
    if wanted == "all":
        runners = [Runner(name, build(solver)) for name, solver in solvers.items()]
        whole = runners[0].scene.steps
        vertices = len(runners[0].system.X)
        result = Contest(case, race(runners, whole), whole, whole, vertices=vertices)
    else:
        result = sampled(case, build, solvers, int(wanted), share)
    for runner in result.runners:
        runner.retire()
    for row in result.rows(next(iter(solvers))):
        sys.stderr.write(", ".join(f"{k} {v}" for k, v in row.items()) + "\n")
    return result


def sampled(case: str, build: Build, solvers: dict[str, Any], samples: int, share: Share = WHOLE) -> Contest:
    """Every solver on the same ``samples`` steps along the reference path, or on a ``share`` of them."""
    guide = Runner("guide", build(QLB(tolerance=Tolerance(1e-4))))
    runners = [_ready(guide, name, solver, build) for name, solver in solvers.items()]
    whole = guide.scene.steps
    chosen = share.among(sorted({int((k + 0.5) * whole / samples) for k in range(min(samples, whole))}))
    apart = dict.fromkeys(solvers, 0.0)
    iterations: dict[str, list[tuple[float, int]]] = {name: [] for name in solvers}
    dets = []
    for k in range(max(chosen, default=-1) + 1):
        if k in chosen:
            first = None
            for runner in runners:
                step = runner.visit(guide.state, guide.memory)
                iterations[runner.name].append((step.state.t, sum(r.iterations for r in step.reports)))
                if not all(r.converged for r in step.reports):
                    continue  # counted as a failure; what it returns is no root
                first = step.state.q if first is None else first
                far = float(np.abs(step.state.q - first).max()) / runner.system.scale
                apart[runner.name] = max(apart[runner.name], far)
            sys.stderr.write(f"{case} step {k}: " + ", ".join(f"{r.name} {r.times[-1]:.2f} s" for r in runners) + "\n")
        guide.step()
        dets.append(smallest_det(guide.system, guide.state.q))
    least = min((d for d in dets if d is not None), default=None)
    return Contest(case, runners, len(chosen), whole, apart, iterations, least, len(guide.system.X))


def upright(contests: Iterable[Contest]) -> list[Claim]:
    """The claim that no element is inside out on the way; none where nobody looked (whole runs)."""
    dets = {c.case: c.least for c in contests if c.least is not None}
    return [no_inversion(dets)] if dets else []


def _ready(guide: Runner, name: str, solver: Any, build: Build) -> Runner:
    """A runner on the reference system that has compiled and analysed everything: its first step, to a loose tolerance,
    is not counted.
    """
    kept = OwnMemory(replace(solver, tolerance=Tolerance(0.5)))
    runner = copy(guide)
    runner.name, runner.scene, runner.phases, runner.times = name, build(kept), {}, []
    runner.scene.integrator.step(runner.system, runner.state, float(runner.scene.h), None)
    kept.solver = solver
    return runner
