"""chen/fig3_5: a twisted bar of linear material; the path of a corner. [Chen2019, Figures 3.5 and 3.6]"""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.chen.coarse import error_rows, simulate, systems
from pliant.bench.chen.play import plot
from pliant.bench.table import Claim, Table
from pliant.integrators import ImplicitMidpoint
from pliant.materials import Linear
from pliant.scenes.chen_coarse import H, Pair, notes, pair


def run(*, quick: bool = False) -> Table:
    frames = 20 if quick else 150
    bar = pair("bar", Linear(E=1e5, nu=0.45))
    runs = simulate(bar, systems(bar, 10, frozen=True), ImplicitMidpoint(), frames, turns=0.08)
    rows, _ = error_rows(bar, runs)
    corner = int(np.argmax(bar.fine.X.sum(axis=1)))
    weights = bar.B[corner]
    path = {n: np.array([_at(n, q, weights, corner, bar) for q, _ in r.path]) for n, r in runs.items()}
    errors = {n: np.linalg.norm(p - path["fine"], axis=1) for n, p in path.items() if n != "fine"}
    for r in rows:
        r["corner, mean error [m]"] = round(float(errors[r["method"]].mean()), 5)
    best = np.minimum(errors["coarse"], errors["DAC"])
    often = float((errors["EigenFit"] <= best + 1e-12).mean())
    mean = {n: float(e.mean()) for n, e in errors.items()}
    text = ", ".join(f"{n} {m:.4f}" for n, m in mean.items())
    claims = [
        Claim(
            "mean corner error: EigenFit below coarse and DAC [m]",
            "below",
            text,
            mean["EigenFit"] < min(mean["coarse"], mean["DAC"]),
        ),
        Claim("EigenFit is the closest", "almost always", f"{100 * often:.0f} % of the frames", often >= 0.7),
    ]
    t = H * np.arange(1.0, frames + 1.0)
    picture = plot("fig3_5", "Twisted bar: error of a corner", {n: (t, e) for n, e in errors.items()}, "distance [m]")
    return Table("chen/fig3_5", "Twisted bar, linear, IM, 10 modes", rows, claims, notes("bar"), [picture])


def _at(name: str, q: Array, weights: Any, corner: int, bar: Pair) -> Array:
    """Where the corner of the fine mesh is, carried by the coarse mesh where need be."""
    x = q.reshape(-1, 3)
    return x[corner] if name == "fine" else bar.fine.X[corner] + np.asarray(weights @ (x - bar.coarse.X)).ravel()
