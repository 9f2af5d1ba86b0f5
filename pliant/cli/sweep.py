"""``pliant sweep``: a scene with every combination of some settings."""

import json as js
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from rich.table import Table

from pliant.cli.console import console

PLOTTED = 12  # runs; more curves cannot be told apart


def sweep_scene(
    scene: str,
    over: Sequence[str],
    settings: Sequence[str],
    out: Path | None,
    *,
    workers: int,
    cluster: str | None,
    batch: int | None,
    metric: str | None,
    json: bool,
) -> None:
    from pliant.scene_file import load_scene
    from pliant.sweep import TABLE, points, sweep, sweep_batches

    folder = out or Path("runs") / f"{Path(scene).stem}-sweep"
    todo = points(scene, over, settings, folder)
    load_scene(scene, todo[0].settings)  # wrong names are an error now, not in every row
    done: list[dict[str, Any]] = []

    def watch(row: dict[str, Any]) -> None:
        done.append(row)
        print(f"{len(done)}/{len(todo)} {row['folder']}: {row['status']}", file=sys.stderr)

    if batch is None:
        rows = sweep(todo, workers=workers, cluster=cluster, watch=watch)
    else:
        rows = sweep_batches(todo, batch, watch=watch)
    finished = [point.folder for point, row in zip(todo, rows) if row["status"] == "finished"]
    if json:
        print(js.dumps(rows))
    else:
        _show(rows)
        print(folder / TABLE)
    if metric is not None:
        from pliant.sweep_chart import draw

        picture = draw(rows, over, metric, folder / f"{metric}.png")
        print(picture, file=sys.stderr if json else sys.stdout)
    elif not json and batch is None and 0 < len(finished) <= PLOTTED:
        from pliant.plots import plot_runs
        from pliant.record import load

        print(plot_runs([load(one) for one in finished], folder / "sweep.png"))
    if len(finished) < len(todo):
        raise typer.Exit(1)


def _show(rows: Sequence[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(key for row in rows for key in row if key != "folder"))
    table = Table()
    for column in columns:
        table.add_column(column)
    for row in rows:
        table.add_row(*(f"{v:.6g}" if isinstance(v := row.get(c, ""), float) else str(v) for c in columns))
    console().print(table)
