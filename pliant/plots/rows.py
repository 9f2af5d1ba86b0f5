"""Flat rows (dictionaries) as bars or curves: how the tables of benchmarks and sweeps are drawn.

Rows of a table that has several kinds of them are drawn where they have the columns that are asked for.
"""

import re
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

Rows = Sequence[dict[str, Any]]
TIMES = re.compile(r"^(?!h\b|h_|t\b).*(\b|_)(cpu|seconds|s|ms|us|ns)(\b|_)", re.IGNORECASE)  # but h and t are given
DECADES = 50.0  # values that span more than this factor get a logarithmic axis


def bars(axes: Any, rows: Rows, x: str, y: str, by: str | None = None) -> None:
    """Lying bars of the numbers ``y``, a group for each value of ``x``, in it a bar for each value of ``by``."""
    rows = [row for row in _having(rows, x, by) if is_number(row.get(y))]
    groups = list(dict.fromkeys(str(row[x]) for row in rows))
    series = list(dict.fromkeys(str(row[by]) for row in rows)) if by else [y]
    thick = 0.8 / len(series)
    for k, name in enumerate(series):
        mine = [row for row in rows if not by or str(row[by]) == name]
        places = [groups.index(str(row[x])) + (k - 0.5 * (len(series) - 1)) * thick for row in mine]
        axes.barh(places, [row[y] for row in mine], 0.9 * thick, label=name)
    axes.set_yticks(range(len(groups)), groups, fontsize="small")
    axes.set(xlabel=y, ylim=(len(groups) - 0.5, -0.5))  # the first group is on top, as in the table
    if by:
        axes.legend(title=by, fontsize="x-small", title_fontsize="x-small")


def curves(axes: Any, rows: Rows, x: str, y: str, by: str | None = None) -> None:
    """The numbers ``y`` over the numbers ``x``, sorted by x, a curve for each value of ``by``."""
    rows = [row for row in _having(rows, x, by) if is_number(row[x]) and is_number(row.get(y))]
    for name in dict.fromkeys(str(row[by]) for row in rows) if by else [y]:
        mine = sorted((row[x], row[y]) for row in rows if not by or str(row[by]) == name)
        axes.plot(*zip(*mine), "o-", ms=4, lw=1.2, label=name)
    axes.set(xlabel=x, ylabel=y)
    axes.grid(alpha=0.3, which="both")
    if by:
        axes.legend(title=by, fontsize="x-small", title_fontsize="x-small")


def _having(rows: Rows, *columns: str | None) -> Rows:
    return [row for row in rows if all(column in row for column in columns if column)]


def choose(rows: Rows) -> tuple[str, str, str | None] | None:
    """Columns (x, y, by) worth drawing when nobody named them: times if there are any, over names if there are any."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    texts = [c for c in columns if all(isinstance(row.get(c, ""), str) for row in rows)]
    values = {c: len({row.get(c) for row in rows}) for c in texts}
    names = sorted((c for c in texts if values[c] > 1), key=lambda c: -values[c])  # the most values become groups
    numbers = [c for c in columns if c not in texts and any(is_number(row.get(c)) for row in rows)]
    times = [c for c in numbers if TIMES.search(c)]
    if not numbers:
        return None
    y = (times or [c for c in numbers if not _counts(rows, c)] or numbers)[0]
    if names and values[names[0]] == len(rows):
        return names[0], y, None
    if len(names) > 1:
        return names[0], y, names[1]
    x = next((c for c in numbers if c != y), None)
    if x is None:
        return (names[0], y, None) if names else None
    if not times and numbers.index(x) > numbers.index(y):
        x, y = y, x  # the first number is what was varied
    return x, y, names[0] if names else None


def _counts(rows: Rows, column: str) -> bool:
    """Whether a column holds whole numbers only: sizes and counts, less telling than measurements."""
    return all(float(row[column]).is_integer() for row in rows if is_number(row.get(column)))


def wide(rows: Rows, column: str) -> bool:
    """Whether a column holds positive numbers of very different size, which want a logarithmic axis."""
    found = [float(row[column]) for row in rows if is_number(row.get(column))]
    return bool(found) and min(found) > 0 and max(found) > DECADES * min(found)


def is_number(value: Any) -> bool:
    """Finite, and neither text, truth value nor missing."""
    return hasattr(value, "__float__") and not isinstance(value, bool | np.bool_) and isfinite(float(value))
