"""The ledger and the certificates of one or several runs as curves over time."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.errors import RunError
from pliant.plots.papers import iterations_per_step
from pliant.plots.sheet import save, sheet
from pliant.record import Run

Ledger = dict[str, Array]


def energies(axes: Any, ledgers: dict[str, Ledger], unit: str = "J") -> None:
    """Total energy; of a single run also the kinetic and every potential part."""
    for name, ledger in ledgers.items():
        axes.plot(ledger["t"], ledger["total"], lw=2, label="total" if len(ledgers) == 1 else name)
        if len(ledgers) == 1:
            for part in parts(ledger):
                axes.plot(ledger["t"], ledger[part], lw=1, label=part)
    axes.set_ylabel(f"energy [{unit}]")


def dissipation(axes: Any, ledgers: dict[str, Ledger], unit: str = "J") -> None:
    """Energy that the integrator took so far; of a single run also the work of scripts and forces."""
    for name, ledger in ledgers.items():
        label = "numerical dissipation" if len(ledgers) == 1 else name
        axes.plot(ledger["t"], np.cumsum(ledger["numerical"]), lw=2, label=label)
        if len(ledgers) == 1:
            for work in works(ledger):
                axes.plot(ledger["t"], np.cumsum(ledger[work]), lw=1, label=work.replace("_", " of ", 1))
    axes.set_ylabel(f"since the start [{unit}]")


def iterations(axes: Any, ledgers: dict[str, Ledger], unit: str = "J") -> None:
    """Iterations of the nonlinear solver per step, as in [Weidner2022, Fig. 5.7 and 5.10]."""
    iterations_per_step(axes, {name: (ledger["t"][1:], ledger["iterations"][1:]) for name, ledger in ledgers.items()})


def steps(axes: Any, ledgers: dict[str, Ledger], unit: str = "J") -> None:
    """The steps that were chosen, and on the right the errors that they have added, where step sizes are controlled."""
    right = axes.twinx()
    for name, ledger in ledgers.items():
        label = "step" if len(ledgers) == 1 else name
        if not len(controlled(ledger)):
            continue
        (line,) = axes.step(ledger["t"], ledger["inner_h"], where="pre", lw=1.5, label=label)
        right.plot(ledger["t"], np.nancumsum(ledger["estimate"]), lw=1, ls="--", color=line.get_color())
    axes.plot([], [], lw=1, ls="--", color="grey", label="estimated error (right)")
    axes.set_yscale("log")
    axes.set_ylabel("step [s]")
    right.set_ylabel("error [m]")


PANELS: dict[str, Callable[[Any, dict[str, Ledger], str], None]] = {
    "energy": energies,
    "dissipation": dissipation,
    "iterations": iterations,
    "steps": steps,
}


def parts(ledger: Ledger) -> list[str]:
    """The energies that make up the total: the columns between it and the work."""
    return _between(ledger, "total", "work_scripts")


def works(ledger: Ledger) -> list[str]:
    """The work of scripts and forces: the columns up to the numerical dissipation."""
    return ["work_scripts", *_between(ledger, "work_scripts", "numerical")]


def _between(ledger: Ledger, first: str, last: str) -> list[str]:
    columns = list(ledger)
    return columns[columns.index(first) + 1 : columns.index(last)]


def plot_runs(runs: Sequence[Run], path: str | Path, panels: Sequence[str] = ()) -> Path:
    """Draw the panels one above the other, every run a curve, into a picture file (.png, .svg, .pdf).

    Without a choice all of them are drawn, the "steps" only where a run has chosen them itself.
    """
    for panel in panels:
        if panel not in PANELS:
            raise RunError(f"unknown plot {panel!r}", where="plot", remedy=f"use {', '.join(PANELS)}")
    ledgers = dict(zip(names(runs), map(complete, runs)))
    chosen = any(np.isfinite(controlled(ledger)).any() for ledger in ledgers.values())
    panels = panels or tuple(name for name in PANELS if name != "steps" or chosen)
    if "steps" in panels and not chosen:
        remedy = "run with integrator=adaptive"
        raise RunError("no run has adaptive steps", where="plot", remedy=remedy)
    figure, grid = sheet(len(panels), 1, (8.0, 2.4 * len(panels) + 0.6), sharex=True)
    for axes, panel in zip(grid[:, 0], panels):
        PANELS[panel](axes, ledgers, " or ".join(dict.fromkeys(run.energy_unit for run in runs)))
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small", loc="best")
        axes.set_xlabel("")
    grid[-1, 0].set_xlabel("time [s]")
    return save(figure, path)


def controlled(ledger: Ledger) -> Array:
    """The steps inside the steps of a scene; NaN where they were fixed, none in ledgers of old versions."""
    return ledger.get("inner_h", np.zeros(0))


def names(runs: Sequence[Run]) -> list[str]:
    """Names of the folders; whole paths when names are equal, numbered when these are."""
    for found in ([run.folder.resolve().name for run in runs], [str(run.folder) for run in runs]):
        if len(set(found)) == len(found):
            return found
    return [f"{run.folder} ({k + 1})" for k, run in enumerate(runs)]


def complete(run: Run) -> Ledger:
    """The ledger of a run that has taken a step; what is missing is named."""
    try:
        ledger = run.ledger
    except RunError as error:
        remedy = "`pliant resume` it, or run it again"
        raise RunError(f"{run.folder} has no complete ledger: {error}", where="plot", remedy=remedy) from error
    if len(ledger["t"]) < 2:
        remedy = "let it run for a step, or `pliant resume` it"
        raise RunError(f"{run.folder} has no finished step", where="plot", remedy=remedy)
    return ledger
