"""Races of solvers over scenes with contact, with what detection costs and how often patterns are analysed."""

import os
from dataclasses import dataclass, field
from time import process_time
from typing import Any

from pliant.bench.race import Runner, race
from pliant.scene import Scene


@dataclass
class Duel:
    """The runners after a race, and the seconds each spent on finding contacts."""

    runners: list[Runner]
    detection: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def runner(self, name: str) -> Runner:
        return next(r for r in self.runners if r.name == name)

    def rows(self, case: str) -> list[dict[str, Any]]:
        extra = lambda r: {"analyses": r.counts.analyses, "detection s": round(self.detection[r.name], 2)}
        return [r.row(case) | extra(r) for r in self.runners]


def duel(scenes: dict[str, Scene], steps: int) -> Duel:
    """Race the scenes (one per solver) over ``steps`` time steps, or as many as PLIANT_BENCH_STEPS allows."""
    runners = [Runner(name, scene) for name, scene in scenes.items()]
    spent = {r.name: _watched(r) for r in runners}
    steps = min(steps, runners[0].scene.steps, int(os.environ.get("PLIANT_BENCH_STEPS", "1000000")))
    race(runners, steps)
    system, state = runners[0].system, runners[0].state
    notes = [
        f"{len(system.X)} vertices, {steps} steps of {float(runners[0].scene.h):g} s; "
        f"{len(system.contacts(state.q, state.v, state.t) or ())} contacts at the end; CPU seconds of one thread"
    ]
    return Duel(runners, {name: clock.seconds for name, clock in spent.items()}, notes)


class _Watch:
    """A contact model that keeps the time its detection takes."""

    def __init__(self, model: Any) -> None:
        self._model, self.seconds = model, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def at(self, start: Any, t: float) -> Any:
        begun = process_time()
        terms = self._model.at(start, t)
        self.seconds += process_time() - begun
        return terms


def _watched(runner: Runner) -> _Watch:
    watch = _Watch(runner.system.contact)
    runner.system.contact = watch
    return watch
