"""A benchmark returns a Table: rows, and the claims it exists for. A claim that fails stays in the table.

``pliant bench paper/figure --out FOLDER`` writes the table as CSV, JSON and Markdown and its figure as PNG
(``paper_figure.png``; `pliant.bench.output`). Every table has a figure, from the first of these that there is:

1. the module's own ``def figure(table: Table) -> matplotlib.figure.Figure`` (axes from `pliant.plots.sheet`, drawn by
   ``wall_clock``, ``work_precision``, ``iterations_per_step``, ``liveliness``, ``bars`` or ``curves``);
2. pictures that ``run`` has drawn already, into the folder $PLIANT_FIGURES, and named in ``Table.figures``;
3. ``Table(..., plot=Plot(x, y, by))``: the column y over the column x, a series for each value of the column by;
4. columns chosen from the rows: a time, if there is one, over the names in the first column.
"""

import os
import platform
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pliant.certificate import plain


@dataclass(frozen=True)
class Claim:
    """One statement of a paper (or one of our targets), our number, and whether it holds."""

    name: str
    paper: str
    measured: str
    holds: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))  # comparisons of NumPy numbers give NumPy booleans


@dataclass(frozen=True)
class Plot:
    """Columns to draw: bars where ``x`` is text, curves where it is a number; ``log`` is "", "x", "y" or "xy".

    ``by`` names the column with the series. Of bars, "y" is the axis of the numbers.
    """

    x: str
    y: str
    by: str | None = None
    log: str = ""


@dataclass(frozen=True)
class Table:
    """The result of ``run(quick)`` in a benchmark module; ``id`` is paper/figure, rows are flat dicts of one shape."""

    id: str
    title: str
    rows: list[dict[str, Any]]
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    plot: Plot | None = None

    @property
    def columns(self) -> list[str]:
        """All keys of the rows, in the order of their first appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def as_json(self) -> dict[str, Any]:
        """What ``--json`` prints; strict JSON has no numbers that are not finite, so these are strings."""
        content = {
            "id": self.id,
            "title": self.title,
            "machine": machine(),
            "rows": self.rows,
            "claims": [vars(c) for c in self.claims],
            "notes": self.notes,
            "figures": self.figures,
        }
        return dict(plain(content))


def processor() -> str:
    """The name of the processor where the system provides it, else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def machine() -> dict[str, Any]:
    """What a reader needs to judge the times: processor kind, cores, versions."""
    import numba
    import numpy
    import scipy

    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
    }
