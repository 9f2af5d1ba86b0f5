"""Curves and bars of runs and tables (matplotlib, without a screen)."""

from pliant.plots.ledger import PANELS, plot_runs
from pliant.plots.papers import iterations_per_step, liveliness, wall_clock, work_precision
from pliant.plots.rows import bars, curves
from pliant.plots.sheet import save, sheet

__all__ = [
    "PANELS",
    "bars",
    "curves",
    "iterations_per_step",
    "liveliness",
    "plot_runs",
    "save",
    "sheet",
    "wall_clock",
    "work_precision",
]
