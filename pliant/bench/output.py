"""A benchmark's table as files: CSV, JSON, Markdown, and its figure as PNG."""

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pliant.bench.table import Plot, Table
from pliant.errors import RunError


def write(table: Table, folder: Path, figure: Callable[[Table], Any] | None = None) -> list[Path]:
    """Write the table into a folder and draw it (``figure``: the module's own drawing); the files, pictures last."""
    stem = table.id.replace("/", "_")
    if figure is not None or not table.figures:
        from pliant.plots import save

        table.figures.append(str(save((figure or draw)(table), folder / f"{stem}.png")))
    paths = [folder / f"{stem}.{ending}" for ending in ("csv", "json", "md")]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, (csv_of, json_of, markdown_of)):
            path.write_text(text(table), encoding="utf-8", newline="")
    except OSError as error:
        raise RunError(f"cannot write {folder}: {error.strerror}", where="--out", remedy="choose another") from error
    return [*paths, *map(Path, table.figures)]


def draw(table: Table) -> Any:
    """The table's plot, or one of well-chosen columns; its claims where the rows have no numbers."""
    from pliant.plots import bars, curves, sheet
    from pliant.plots.rows import choose, is_number, wide

    plot, found = table.plot, choose(table.rows)
    if plot is None and found is not None:
        x, y, by = found
        plot = Plot(x, y, by, "".join(name for name, column in (("x", x), ("y", y)) if wide(table.rows, column)))
    if plot is None:
        return _claims(table)
    lying = not any(is_number(row.get(plot.x)) for row in table.rows)
    tall = max(3.8, 1.2 + 0.16 * len(table.rows)) if lying else 4.2
    figure, ((axes,),) = sheet(size=(8.0, min(tall, 40.0)))
    (bars if lying else curves)(axes, table.rows, plot.x, plot.y, plot.by)
    if "y" in plot.log:
        (axes.set_xscale if lying else axes.set_yscale)("log")
    if "x" in plot.log and not lying:
        axes.set_xscale("log")
    axes.set_title(f"{table.id}: {table.title}", fontsize="medium", wrap=True)
    return figure


def _claims(table: Table) -> Any:
    """What was claimed, what we have, and whether it holds, as a page of text."""
    from pliant.plots import sheet

    figure, ((axes,),) = sheet(size=(10.0, 1.0 + 0.4 * max(len(table.claims), 1)))
    axes.set(xlim=(0, 1), ylim=(len(table.claims), -1), title=f"{table.id}: {table.title}")
    axes.axis("off")
    for k, claim in enumerate(table.claims):
        colour = "tab:green" if claim.holds else "tab:red"
        axes.text(0.0, k, "holds" if claim.holds else "fails", color=colour, weight="bold", va="center")
        axes.text(0.08, k, f"{claim.name}: {claim.paper}; ours {claim.measured}", va="center", fontsize="small")
    return figure


def csv_of(table: Table) -> str:
    """The rows, with a column for every key of any row."""
    text = io.StringIO()
    writer = csv.DictWriter(text, table.columns)
    writer.writeheader()
    writer.writerows(table.rows)
    return text.getvalue()


def json_of(table: Table) -> str:
    return json.dumps(table.as_json(), default=float, indent=1) + "\n"


def markdown_of(table: Table) -> str:
    """Title, rows, claims and notes."""
    parts = [f"## {table.id}: {table.title}"]
    if table.rows:
        parts.append(_grid(table.columns, [[cell(row.get(c)) for c in table.columns] for row in table.rows]))
    if table.claims:
        rows = [[c.name, c.paper, c.measured, "yes" if c.holds else "NO"] for c in table.claims]
        parts.append(_grid(["claim", "paper", "ours", "holds?"], rows))
    return "\n\n".join([*parts, *table.notes]) + "\n"


def cell(value: Any) -> str:
    """One entry of a table as text; nothing for a missing one."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return ""
    if not isinstance(value, float):
        return str(value)
    return "-" if math.isnan(value) else f"{value:.4g}"  # what did not happen, or could not be measured


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(text.replace("|", "\\|") for text in line) + " |" for line in lines)
