"""Contests of solvers over scenes with contact: the same sampled steps for all, what detection costs, and analyses.

A guide walks along the first ``steps`` of the scene, by smaller steps where one fails; at steps spread evenly over
them every solver solves the very same step from the guide's state, in turns (as in `pliant.bench.samples`, but for one
shared system, with contacts watched).
PLIANT_BENCH_STEPS sets the number of sampled steps ("all": every one).
"""

import os
import sys
from copy import copy
from dataclasses import dataclass, field, replace
from time import process_time
from typing import Any

from pliant.bench.parts import WHOLE, Share, together
from pliant.bench.race import Runner, faster
from pliant.bench.samples import OwnMemory
from pliant.checkpoint import Checkpoint
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import QLB, Tolerance

OURS = "QLB (ours)"
GUIDE = QLB(tolerance=Tolerance(1e-3), max_iterations=100)


@dataclass
class Duel:
    """The runners after ``samples`` of the first ``steps`` steps, and the seconds each spent on finding contacts."""

    case: str
    runners: list[Runner]
    steps: int
    samples: int
    detection: dict[str, float]
    size: str  # of the scene, in words
    contacts: list[tuple[float, int]] = field(default_factory=list)  # of every sampled step, with its time [s]

    def runner(self, name: str) -> Runner:
        return next(r for r in self.runners if r.name == name)

    def joined(self, others: "list[Duel]") -> "Duel":
        """With the steps of other shares of the same case."""
        parts = [self, *others]
        return replace(
            self,
            runners=[together([p.runner(r.name) for p in parts]) for r in self.runners],
            samples=sum(p.samples for p in parts),
            detection={name: sum(p.detection[name] for p in parts) for name in self.detection},
            contacts=sorted(c for p in parts for c in p.contacts),
        )

    def ratio(self, slow: str, fast: str) -> float:
        """How many times faster ``fast`` was than ``slow``."""
        return self.runner(slow).seconds / max(self.runner(fast).seconds, 1e-12)

    def faster(self, slow: str, fast: str) -> str:
        """The same with the spread over the steps, in words."""
        return faster(self.runner(slow), self.runner(fast))

    def share(self, name: str) -> float:
        """The part of a solver's time that went into finding contacts."""
        return self.detection[name] / max(self.runner(name).seconds, 1e-12)

    def rows(self) -> list[dict[str, Any]]:
        return [self._row(r) for r in self.runners]

    def _row(self, r: Runner) -> dict[str, Any]:
        c = r.counts
        counts = {
            "iterations": r.iterations,
            "forces": c.forces,
            "factorizations": c.factorizations,
            "inner": c.inner,
            "switches": c.switches,
        }
        return {
            "case": self.case,
            "solver": r.name,
            "CPU s/step": round(r.seconds / self.samples, 3),
            **{name: round(count / self.samples, 1) for name, count in counts.items()},
            "analyses": r.counts.analyses,
            "detection": round(self.share(r.name), 3),
            **r.shares,
            "failed": f"{r.failures}/{r.solves}",
        }

    def note(self) -> str:
        found = ", ".join(str(count) for _, count in self.contacts)
        return (
            f"{self.case}: {self.size}; {self.samples} sampled steps of the first {self.steps}, with {found} contacts"
        )


def duel(case: str, scene: Scene, solvers: dict[str, Any], *, steps: int, samples: int, share: Share = WHOLE) -> Duel:
    """Every solver on the same sampled steps of ``scene``, or a ``share`` of them; rows go to stderr as they come."""
    wanted = os.environ.get("PLIANT_BENCH_STEPS", str(samples))
    samples = steps if wanted == "all" else min(int(wanted), steps)
    guide = Runner("guide", replace(_solved_by(scene, GUIDE), on_failure="substep"))
    path = simulate(guide.scene, start=Checkpoint(0, guide.state), system=guide.system)
    watch = guide.system.contact = _Watch(guide.system.contact)
    runners = [_entrant(guide, name, solver) for name, solver in solvers.items()]
    chosen = share.among(sorted({int((k + 0.5) * steps / samples) for k in range(samples)}))
    size = f"{len(guide.system.X)} vertices, {scene.steps} steps of {float(scene.h):g} s"
    result = Duel(case, runners, steps, len(chosen), dict.fromkeys(solvers, 0.0), size)
    for k in range(max(chosen, default=-1) + 1):
        if k in chosen:
            for runner in runners:
                before = watch.seconds
                after = runner.visit(guide.state, guide.memory).state
                result.detection[runner.name] += watch.seconds - before
                sys.stderr.write(f"{case} step {k} {runner.name}: {runner.seconds:.2f} s, {runner.failures} failed\n")
            found = len(guide.system.contacts(after.q, after.v, after.t) or ())
            result.contacts.append((guide.state.t, found))
        step = next(path)
        guide.state, guide.memory = step.state, step.memory
    for runner in runners:
        runner.retire()
    return result


def _solved_by(scene: Scene, solver: Any) -> Scene:
    return replace(scene, integrator=replace(scene.integrator, solver=solver))  # type: ignore[type-var]


def _entrant(guide: Runner, name: str, solver: Any) -> Runner:
    """A runner on the reference system that has compiled and analysed everything: its first step is not counted."""
    kept = OwnMemory(replace(solver, tolerance=Tolerance(0.5)))
    runner = copy(guide)
    runner.name, runner.scene, runner.phases, runner.times = name, _solved_by(guide.scene, kept), {}, []
    runner.scene.integrator.step(runner.system, runner.state, float(runner.scene.h), None)
    kept.solver = solver
    return runner


class _Watch:
    """A contact model that keeps the time its detection takes."""

    def __init__(self, model: Any) -> None:
        self._model, self.seconds = model, 0.0
        self.setting, self.force_names = model.setting, model.force_names
        self.initial, self.touch, self.distance = model.initial, model.touch, model.distance

    def at(self, start: Any, t: float, c: float = 0.0) -> Any:
        begun = process_time()
        terms = self._model.at(start, t, c)
        self.seconds += process_time() - begun
        return terms
