"""Curves of runs (matplotlib, without a screen)."""

from pliant.plots.ledger import PANELS, plot_runs

__all__ = ["PANELS", "plot_runs"]
