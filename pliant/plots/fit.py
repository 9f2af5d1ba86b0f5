"""A fit: what was measured, the run that it began with, and the one that fits."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pliant.arrays import Array
from pliant.plots.sheet import save, sheet

SHOWN = 6  # markers; more colours cannot be told apart


def plot_fit(times: Array, seen: Array, before: Array, after: Array, names: Sequence[str], path: str | Path) -> Path:
    """Places over time: dots ``seen (n, k, 3)``, dashes ``before``, lines ``after`` [m]; none for unseen axes."""
    axes_seen = [axis for axis in range(3) if np.isfinite(seen[:, :, axis]).any()]
    figure, grid = sheet(len(axes_seen), 1, (8.0, 2.4 * len(axes_seen) + 0.6), sharex=True)
    for axes, axis in zip(grid[:, 0], axes_seen):
        for k, name in enumerate(names[:SHOWN]):
            colour = f"C{k}"
            axes.plot(times, before[:, k, axis], "--", color=colour, linewidth=0.8, alpha=0.7)
            axes.plot(times, after[:, k, axis], "-", color=colour, label=name)
            axes.plot(times, seen[:, k, axis], ".", color=colour, markersize=3)
        axes.set_ylabel(f"{'xyz'[axis]} [m]")
        axes.grid(alpha=0.3)
    grid[0, 0].legend(fontsize="small", loc="best", title="measured (dots), fit (line), start (dashes)")
    grid[-1, 0].set_xlabel("time [s]")
    return save(figure, path)
