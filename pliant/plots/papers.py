"""The kinds of figure that the papers have; each function draws into given axes (`pliant.plots.sheet` makes them)."""

from typing import Any

from pliant.arrays import Array
from pliant.plots.rows import Rows, bars, curves


def wall_clock(axes: Any, rows: Rows, case: str = "case", solver: str = "solver", seconds: str = "CPU s") -> None:
    """Time of every solver, a group of bars for each case, as in [QLB2021, Fig. 3]."""
    bars(axes, rows, case, seconds, solver)


def work_precision(axes: Any, rows: Rows, work: str, error: str, by: str) -> None:
    """Error over work, both logarithmic; a curve for each method, lower left is better."""
    curves(axes, rows, work, error, by)
    axes.set(xscale="log", yscale="log")


def iterations_per_step(axes: Any, counts: dict[str, tuple[Array, Array]]) -> None:
    """Iterations of each solver, (times [s], counts), over time, as in [Weidner2022, Fig. 5.7 and 5.10]."""
    for name, (t, count) in counts.items():
        axes.step(t, count, where="mid", lw=1, label=name)
    axes.set(xlabel="time [s]", ylabel="iterations per step")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="small")


def liveliness(axes: Any, t: Array, metric: Array, active: Array, threshold: float) -> None:
    """One node's averaged rate of stretch [1/s], its threshold, shaded while the node is dynamic.

    [Weidner2022, Fig. 4.11]; ``t``, ``metric`` and ``active`` (truth values) are (n,).
    """
    top = 1.05 * max(float(metric.max()), threshold)
    axes.fill_between(t, 0.0, top, where=active.astype(bool), step="mid", color="C1", alpha=0.25, lw=0, label="dynamic")
    axes.plot(t, metric, lw=1, label="liveliness")
    axes.axhline(threshold, color="k", lw=0.6, ls="--", label="threshold")
    axes.set(xlabel="time [s]", ylabel="liveliness [1/s]", ylim=(0.0, top))
