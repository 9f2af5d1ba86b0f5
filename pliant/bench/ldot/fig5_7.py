"""ldot/fig5_7: nonlinear iterations per time step over the BAR script, as a plot. [Weidner2022, Fig. 5.7]"""

import os
import tempfile
from pathlib import Path
from typing import Any

from pliant.bench.ldot.contest import CONTESTANTS, THREE, bar_case
from pliant.bench.race import Runner
from pliant.bench.table import Claim, Table


def iterations(runner: Runner, steps: int) -> list[int]:
    """Iterations of every time step of a run."""
    out = []
    for _ in range(steps):
        before = runner.iterations
        runner.step()
        out.append(runner.iterations - before)
    return out


def plot(curves: dict[str, list[int]], h: float) -> str:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axis = plt.subplots(figsize=(7, 4))
    for name, counts in curves.items():
        axis.step([h * (k + 1) for k in range(len(counts))], counts, label=name)
    axis.set(xlabel="time [s]", ylabel="nonlinear iterations", title="BAR, quasistatic")
    axis.legend()
    folder = Path(os.environ.get("PLIANT_FIGURES", tempfile.gettempdir()))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "ldot_fig5_7.png"
    fig.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(fig)
    return str(path)


def run(*, quick: bool = False) -> Table:
    build = bar_case(quick)
    curves: dict[str, list[int]] = {}
    rows: list[dict[str, Any]] = []
    for name in THREE:
        scene = build(CONTESTANTS[name])
        steps = min(scene.steps, int(os.environ.get("PLIANT_BENCH_STEPS", "1000000")))
        runner = Runner(name, scene)
        curves[name] = iterations(runner, steps)
        rows.append(runner.row("BAR") | {"most in one step": max(curves[name])})
    first = steps // 5  # the compression takes the first second of five
    peak = all(max(c[:first]) == max(c) for c in curves.values())
    claims = [Claim("LD-2 iterations highest in the initial compression", "yes", str(peak), peak)]
    return Table("ldot/fig5_7", "Iterations per step", rows, claims, figures=[plot(curves, float(scene.h))])
