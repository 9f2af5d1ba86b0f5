"""``pliant fit``: materials and other numbers of a scene from a measured motion."""

import json as js
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.table import Table

from pliant.cli.console import console

SHOWN = 8  # numbers per line

if TYPE_CHECKING:
    from pliant.adjoint import FitRun, Fitted


def fit_scene(
    source: str,
    data: Path,
    vary: str,
    markers: Sequence[str],
    settings: Sequence[str],
    out: Path | None,
    *,
    runs: int,
    quiet: bool,
    json: bool,
) -> None:
    from pliant.adjoint import completed, fit, read_recording
    from pliant.plots.fit import plot_fit
    from pliant.scene_file import load_scene

    scene = load_scene(source, settings).scene
    wrt = [completed(scene, path.strip()) for path in vary.split(",")]
    conditions = dict(_marker(text) for text in markers)
    seen = read_recording(data, scene, conditions)
    with _watching(scene, quiet) as (watch, stepped):
        found = fit(scene, seen, wrt, runs=runs, watch=watch, stepped=stepped)
    folder = out or Path("runs") / f"{Path(source).stem}-fit"
    picture = plot_fit(seen.times, seen.places, found.before, found.after, seen.names, folder / "fit.png")
    told = _told(found)
    (folder / "fit.json").write_text(js.dumps(told, indent=1), encoding="utf-8")
    if json:
        print(js.dumps({"folder": str(folder), **told}))
    else:
        _show(found, source, wrt)
        print(picture)
    if not found.converged:
        print(f"not converged in {found.runs} runs; continue with --runs, or start closer", file=sys.stderr)
        raise typer.Exit(1)


def _marker(text: str) -> tuple[str, str]:
    """The name and the condition of ``tip=x == max``."""
    from pliant.errors import SceneError

    name, equals, condition = text.partition("=")
    if not equals or not name.strip() or not condition.strip():
        raise SceneError(f"{text!r} is not a marker", where="--marker", remedy='write it like tip="x == max"')
    return name.strip(), condition.strip()


Watchers = tuple["Callable[[FitRun], None] | None", "Callable[[int], None] | None"]


@contextmanager
def _watching(scene: Any, quiet: bool) -> Iterator[Watchers]:
    """A line for every run on standard error, and a bar for its steps where that is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    if quiet:
        yield None, None
        return

    def say(run: "FitRun") -> None:
        values = "  ".join(f"{v:.6g}" for v in run.values[:SHOWN])
        worse = "" if run.better else "  (worse)"
        print(f"run {run.run}: off by {1e3 * run.rms:.4g} mm with {values}{worse}", file=sys.stderr)

    terminal = Console(stderr=True)
    if not terminal.is_terminal:
        yield say, None
        return
    with Progress(TextColumn("{task.description}"), BarColumn(), console=terminal, transient=True) as progress:
        task = progress.add_task(str(scene.name), total=scene.steps)
        yield say, lambda k: progress.update(task, completed=k)


def _told(found: "Fitted") -> dict[str, Any]:
    """The result as JSON has it."""
    numbers = zip(found.names, found.start, found.values, strict=True)
    interval = [None] * len(found.names) if found.interval is None else found.interval.tolist()
    parameters = [
        {"name": name, "start": float(start), "value": float(value), "interval": between}
        for (name, start, value), between in zip(numbers, interval, strict=True)
    ]
    rms = [run.rms if run.rms < float("inf") else None for run in found.history]
    return {"converged": found.converged, "noise": found.noise, "rms": rms, "parameters": parameters}


def _show(found: "Fitted", source: str, wrt: Sequence[str]) -> None:
    table = Table()
    for column in ("parameter", "start", "fit", "95 % interval"):
        table.add_column(column)
    for name, row in zip(found.names, _told(found)["parameters"], strict=True):
        between = "unknown" if row["interval"] is None else " to ".join(f"{x:.6g}" for x in row["interval"])
        table.add_row(name, f"{row['start']:.6g}", f"{row['value']:.6g}", between)
    console().print(table)
    noise = "unknown" if found.noise is None else f"{1e3 * found.noise:.4g} mm"
    print(f"{found.runs} runs; noise of the data {noise}")
    if found.names == tuple(wrt):  # numbers, no arrays
        pairs = zip(wrt, found.values, strict=True)
        print(f"pliant run {source} " + " ".join(f"--set {name}={value:.8g}" for name, value in pairs))
