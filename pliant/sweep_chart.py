"""Pictures of sweeps: a metric against one swept parameter, or as a heat map over two."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import PliantError, RunError, nearest
from pliant.plots.sheet import save, sheet
from pliant.sweep import Row, axis
from pliant.units import in_any_unit

LOGARITHMIC = 30.0  # values that span more than this factor get a logarithmic scale


def draw(rows: Sequence[Row], over: Sequence[str], metric: str, path: str | Path) -> Path:
    """Draw a numeric column of a sweep's table against its axes (``material.E=1e4,1e5``): one or two of them.

    A curve has a point per run; a heat map has a cell per run with its number in it, empty where the run failed.
    """
    axes = [axis(text) for text in over]
    columns = sorted({name for row in rows for name, value in row.items() if isinstance(value, int | float)})
    if metric not in columns:
        raise RunError(f"no column of numbers is called {metric!r}", where="--metric", remedy=nearest(metric, columns))
    if len(axes) > 2:
        raise RunError(f"{len(axes)} axes", where="--over", remedy="a picture has one or two; fix the others by --set")
    figure, panels = sheet(size=(6.4, 4.2))
    panel = panels[0, 0]
    if len(axes) == 1:
        _curve(panel, rows, axes[0], metric)
    else:
        _heat_map(figure, panel, rows, axes, metric)
    return save(figure, path)


def _curve(panel: Any, rows: Sequence[Row], swept: tuple[str, tuple[str, ...]], metric: str) -> None:
    path, values = swept
    found = {str(row[path]): row.get(metric) for row in rows}
    y = [np.nan if found.get(value) is None else found[value] for value in values]
    numbers = [_number(value) for value in values]
    if all(np.isfinite(numbers)):
        panel.plot(numbers, y, "o-")
        if min(numbers) > 0 and max(numbers) > LOGARITHMIC * min(numbers):
            panel.set_xscale("log")
        panel.set_xticks(numbers, values, rotation=30)
        panel.minorticks_off()
    else:
        panel.bar(range(len(values)), y)
        panel.set_xticks(range(len(values)), values, rotation=30)
    panel.set(xlabel=path, ylabel=metric)
    panel.grid(alpha=0.3)


def _heat_map(figure: Any, panel: Any, rows: Sequence[Row], axes: Any, metric: str) -> None:
    (across, xs), (up, ys) = axes
    table = np.full((len(ys), len(xs)), np.nan)
    for row in rows:
        value = row.get(metric)
        if value is not None:
            table[ys.index(str(row[up])), xs.index(str(row[across]))] = value
    image = panel.imshow(table, origin="lower", aspect="auto", cmap="viridis")
    low, high = np.nanmin(table), np.nanmax(table)
    for (i, j), value in np.ndenumerate(table):
        if np.isfinite(value):
            dark = value < 0.5 * (low + high)
            panel.text(j, i, f"{value:.3g}", ha="center", va="center", color="white" if dark else "black")
    panel.set_xticks(range(len(xs)), xs, rotation=30)
    panel.set_yticks(range(len(ys)), ys)
    panel.set(xlabel=across, ylabel=up)
    figure.colorbar(image, ax=panel, label=metric)


def _number(text: str) -> float:
    """The number that a value starts with, NaN if it has none: "100 kPa" and "200 kPa" lie along an axis."""
    try:
        return float(in_any_unit(text, "value"))
    except (ValueError, TypeError, PliantError):  # a name, a list, a table
        return float("nan")
