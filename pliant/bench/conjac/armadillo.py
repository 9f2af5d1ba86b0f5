"""conjac/armadillo: nodes that wake and fall asleep, the liveliness metric over time. [Weidner2022, Fig. 4.11]"""

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.conjac.play import march
from pliant.bench.race import no_inversion
from pliant.bench.table import Claim, Table
from pliant.mesh import figure
from pliant.scenes.conjac import LIMBS, armadillo, limbs

THRESHOLDS = (0.02, 0.10)
PULLS = (1.5, 2.5, 3.5, 4.5)  # when each limb is pulled [s]


def record(threshold: float, mesh: Any) -> dict[str, Array]:
    """Times, averaged metrics and activity of the nodes in the order of `LIMBS`; analyses and right-hand sides."""
    scene = armadillo(threshold, mesh=mesh)
    order = np.argsort(np.argsort(limbs(mesh)))  # plans number nodes by vertex
    t, metric, active, analyses, columns, dets = [], [], [], [], [], []
    for moment in march(scene):
        memory = moment.step.memory
        t.append(moment.state.t)
        dets.append(moment.det)
        metric.append(memory.metrics.mean(axis=0)[order])
        active.append(memory.active[order])
        analyses.append(moment.step.reports[0].counts.analyses)
        columns.append(moment.step.reports[0].counts.solves)
    arrays = {"t": t, "metric": metric, "active": active, "analyses": analyses, "columns": columns, "dets": dets}
    return {name: np.array(values) for name, values in arrays.items()}


def plot(runs: dict[float, dict[str, Array]]) -> str:
    """Metric, threshold and activity of every node, one column per threshold."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sheet = Figure(figsize=(5.5 * len(runs), 8), layout="constrained")
    FigureCanvasAgg(sheet)
    axes = sheet.subplots(len(LIMBS), len(runs), sharex=True, squeeze=False)
    for column, (threshold, run_) in enumerate(runs.items()):
        for k, name in enumerate(LIMBS):
            axis = axes[k, column]
            top = float(run_["metric"].max())
            axis.fill_between(run_["t"], 0.0, top * run_["active"][:, k], color="C1", alpha=0.25, lw=0, label="dynamic")
            axis.plot(run_["t"], run_["metric"][:, k], lw=1, label="metric")
            axis.axhline(threshold, color="k", lw=0.6, ls="--")
            axis.set_ylabel(f"{name}\n[1/s]")
        axes[0, column].set_title(f"threshold {threshold:g} / s")
        axes[-1, column].set_xlabel("time [s]")
    axes[0, 0].legend(fontsize="small")
    folder = Path(os.environ.get("PLIANT_FIGURES", tempfile.gettempdir()))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "conjac_armadillo.png"
    sheet.savefig(path, dpi=120)
    return str(path)


def run(*, quick: bool = False) -> Table:
    mesh = figure(cells=14 if quick else 31)
    runs = {threshold: record(threshold, mesh) for threshold in THRESHOLDS}
    h = 5e-3
    rows: list[dict[str, Any]] = []
    for threshold, r in runs.items():
        awake = h * r["active"].sum(axis=0)
        rows.append({"threshold": threshold} | {name: float(a) for name, a in zip(LIMBS, awake, strict=True)})
    return Table(
        "conjac/armadillo",
        f"Seconds awake per node, {len(mesh.X)} vertices",
        rows,
        claims(runs, h),
        figures=[plot(runs)],
    )


def claims(runs: dict[float, dict[str, Array]], h: float) -> list[Claim]:
    low, high = (runs[t] for t in THRESHOLDS)
    first = all(not r["active"][0].any() for r in runs.values())
    gravity = all(r["active"][r["t"] < PULLS[0]].any() for r in runs.values())
    woken = [
        bool(r["active"][(r["t"] > t) & (r["t"] < t + 0.9), k].any())
        for r in runs.values()
        for k, t in enumerate(PULLS)
    ]
    others = sum(
        int(high["active"][(high["t"] > t) & (high["t"] < t + 0.9)][:, [j for j in range(4) if j != k]].sum())
        for k, t in enumerate(PULLS)
    )
    asleep = all(not r["active"][-1].any() for r in runs.values())
    longer = bool((low["active"].sum(axis=0) > high["active"].sum(axis=0)).all())
    most = max(int(r["active"].sum(axis=1).max()) for r in runs.values())
    analyses = max(int(r["analyses"].sum()) for r in runs.values())
    rest = int(high["columns"][-1])
    torso = [h * float(r["active"][r["t"] > PULLS[0], 4].sum()) for r in (low, high)]
    return [
        Claim("CJ-10 starts asleep, gravity wakes nodes", "yes", f"{first}, {gravity}", first and gravity),
        Claim("CJ-10 each pull wakes its limb", "yes", f"{sum(woken)} of {len(woken)}", all(woken)),
        Claim("CJ-10 and no other limb (threshold 0.10)", "-", f"{others} node steps", others == 0),
        Claim(
            "CJ-10 torso wakes through the others", "briefly", f"{torso[0]:.2f} s and {torso[1]:.2f} s", torso[0] > 0
        ),
        Claim("CJ-10 all asleep at the end", "yes", str(asleep), asleep),
        Claim("CJ-10 lower threshold, longer awake, every node", "yes", str(longer), longer),
        Claim("CJ-10 never more than 5 active", "5", str(most), most <= 5),
        Claim("CJ-10 symbolic analyses while nodes switch", "1", str(analyses), analyses == 1),
        Claim("CJ-10 right-hand sides per step at rest", "1", str(rest), rest == 1),
        no_inversion({f"threshold {t:g}": float(r["dets"].min()) for t, r in runs.items()}),
    ]
