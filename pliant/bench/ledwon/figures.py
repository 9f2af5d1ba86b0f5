"""Plots of the comparison as PNG files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]
MARKS = {"XPBD": "o", "XPBD substeps": "v", "PD": "s", "PD + L-BFGS": "D", "QLB": "^", "Newton": "*"}


@dataclass(frozen=True)
class FigurePlot:
    """One study as curves of ``y`` over ``x``, a panel per scene; the scale of y is "log" or "symlog"."""

    study: str
    x: str
    y: str
    labels: tuple[str, str]
    scale: str = "log"


PLOTS = (
    FigurePlot("stage", "cpu ms", "error", ("CPU time [ms]", "error to the converged stage")),
    FigurePlot("run", "cpu ms", "error", ("CPU time [ms]", "error to the fine-step reference")),
    FigurePlot("damping", "setting", "value", ("iterations or substeps", "energy lost [J]"), "symlog"),
)


def draw(rows: Rows, folder: Path) -> list[str]:
    """Work-precision plots of single stages and of whole runs, and energy lost against iterations."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_figure(rows, plot, folder) for plot in PLOTS]


def _figure(rows: Rows, plot: FigurePlot, folder: Path) -> str:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter

    chosen = [r for r in rows if r["study"] == plot.study]
    scenes = list(dict.fromkeys(r["scene"] for r in chosen))
    figure = Figure(figsize=(4.2 * len(scenes), 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(scenes), squeeze=False)[0]
    for axis, scene in zip(axes, scenes, strict=True):
        for number, (method, mark) in enumerate(MARKS.items()):
            points = [(r[plot.x], r[plot.y]) for r in chosen if (r["scene"], r["method"]) == (scene, method)]
            if points:
                axis.plot(*zip(*points, strict=True), marker=mark, color=f"C{number}", label=method)
        axis.set_xscale("log")
        axis.set_yscale(plot.scale, **({"linthresh": 0.1} if plot.scale == "symlog" else {}))
        axis.set(title=scene, xlabel=plot.labels[0], ylabel=plot.labels[1])
        axis.xaxis.set_minor_formatter(NullFormatter())
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.grid(True, which="both", alpha=0.3)
    axes[0].legend(fontsize="small")
    path = folder / f"xpbd_vs_pd_{plot.study}.png"
    figure.savefig(path, dpi=130)
    return str(path)
