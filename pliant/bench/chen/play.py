"""What the tables and figures of this folder share: run an integrator with a watch on its stability, plot energies."""

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.integrators.base import Integrator, advance
from pliant.plots import save, sheet
from pliant.state import Counts, State

FOLDER = Path(os.environ.get("PLIANT_FIGURES", tempfile.gettempdir()))


@dataclass
class Played:
    """Time series of one integrator on one system; ``ended`` says why it stopped early ("" when it did not)."""

    name: str
    h: float
    energies: list[dict[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)  # CPU per step
    counts: list[Counts] = field(default_factory=list)
    path: list[Array] = field(default_factory=list)  # what `watch` returned after each step
    ended: str = ""
    state: State | None = None

    @property
    def stable(self) -> bool:
        return not self.ended or self.ended == "stopped: too slow"

    def per_step(self, skip: int = 2) -> float:
        """Median CPU seconds of a step, analyses and first modes left out."""
        return float(np.median(self.seconds[skip:] or self.seconds or [np.nan]))

    def total(self, *without: str) -> Array:
        """Sum of all energies per step [J], some left out."""
        return np.array([sum(v for k, v in e.items() if k not in without) for e in self.energies])

    def series(self, name: str) -> Array:
        return np.array([e.get(name, 0.0) for e in self.energies])


def play(
    name: str,
    system: Any,
    state: State,
    integrator: Integrator,
    h: float,
    steps: int,
    *,
    watch: Callable[[State], Array] | None = None,
    budget: float = np.inf,
) -> Played:
    """``steps`` steps of size h. Stops when a step fails, positions run away, or ``budget`` CPU seconds are spent.

    ``watch`` reads something from the state after each step.
    """
    run, memory = Played(name, h), None
    far = 100.0 * system.scale
    with np.errstate(all="ignore"):
        integrator.step(system, state, h, None)  # compiles what the method needs, so that no order of runs matters
    for n in range(steps):
        start = process_time()
        with np.errstate(all="ignore"):
            step = advance(integrator, system, state, h, memory)
        state, memory = step.state, step.memory
        run.seconds.append(process_time() - start)
        run.counts.append(sum((r.counts for r in step.reports), Counts()))
        moved = float(np.abs(state.q - system.X.ravel()).max()) if np.isfinite(state.q).all() else np.inf
        if moved > far:
            run.ended = f"unstable at step {n + 1}"
            break
        if not all(r.converged for r in step.reports):
            run.ended = f"not converged at step {n + 1}"
            break
        run.energies.append(system.energies(state.q, state.v, state.t))
        if watch is not None:
            run.path.append(watch(state))
        if sum(run.seconds) > budget:
            run.ended = "stopped: too slow"
            break
    run.state = state
    return run


def swing(values: Array, part: float = 0.2) -> tuple[float, float]:
    """Peak to peak over the first and the last ``part`` of a series."""
    n = max(2, round(part * len(values)))
    return float(np.ptp(values[:n])), float(np.ptp(values[-n:]))


def plot(name: str, title: str, curves: dict[str, tuple[Array, Array]], ylabel: str) -> str:
    """A picture of named curves (t, y); returns its path."""
    figure, grid = sheet()
    axes = grid[0, 0]
    for label, (t, y) in curves.items():
        axes.plot(t, y, label=label, linewidth=1.2)
    axes.set(xlabel="time [s]", ylabel=ylabel, title=title)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return str(save(figure, FOLDER / f"chen_{name}.png"))


def energy_plot(name: str, title: str, runs: list[Played], *terms: str) -> str:
    """The named energies summed (all but kinetic when none is named) over time, one curve per run."""
    curves: dict[str, tuple[Array, Array]] = {}
    for run in runs:
        y = sum((run.series(t) for t in terms), np.zeros(len(run.energies))) if terms else run.total()
        curves[run.name] = (run.h * np.arange(1.0, len(run.energies) + 1.0), y)
    return plot(name, title, curves, " + ".join(terms) + " energy [J]" if terms else "total energy [J]")
