"""chen/table2_1: iterations of BFGS and Newton for backward Euler, against stiffness. [Chen2019, Table 2.1]

Five particles, 20 frames of 0.1 s. How they are connected and held is not in the source: ours are a chain of 1 kg each,
held at one end and let go horizontally.
"""

from typing import Any

import numpy as np

from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import SpringNet
from pliant.integrators import BDF1
from pliant.maps.pins import Pin
from pliant.mesh import chain
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import BFGS, Newton, Tolerance

PAPER = {
    "BFGS": (59, 100, 205, 614, 1199, 1510),
    "Newton": (20, 20, 39, 45, 70, 80),
}
STIFFNESS = (1e-1, 1e0, 1e1, 1e2, 1e3, 1e4)  # [N/m]
TIGHT = Tolerance(relative=1e-6, absolute=1e-9)
SOLVERS: dict[str, Any] = {"BFGS": BFGS(tolerance=TIGHT), "Newton": Newton(project="on_demand", tolerance=TIGHT)}


def iterations(k: float, solver: Any, frames: int) -> int:
    """Those of all frames together."""
    body = SpringNet(chain(4, 1.0), k=k, mass=1.0, pins=Pin(np.array([0])))
    scene = Scene([body], BDF1(solver), h=0.1, duration=0.1 * frames)
    return sum(step.report.iterations for step in simulate(scene))


def run(*, quick: bool = False) -> Table:
    frames = 5 if quick else 20
    found = {name: [iterations(k, solver, frames) for k in STIFFNESS] for name, solver in SOLVERS.items()}
    rows = [
        {"k [N/m]": f"{k:g}", "solver": name, "thesis": PAPER[name][i], "iterations": found[name][i]}
        for name in SOLVERS
        for i, k in enumerate(STIFFNESS)
    ]
    claims = []
    for name, counts in found.items():
        rising = all(b >= a for a, b in zip(counts[1:], counts[2:], strict=False))
        claims.append(
            Claim(f"{name}: more the stiffer, from 1 N/m on", "increasing", ", ".join(map(str, counts)), rising)
        )
    growth = {name: counts[-1] / counts[0] for name, counts in found.items()}
    text = f"{growth['BFGS']:.1f}, {growth['Newton']:.1f}"
    claims.append(Claim("growth from 0.1 to 10,000 N/m: BFGS, Newton", "25.6, 4.0: > 5 and more", text,
                        growth["BFGS"] > max(5.0, growth["Newton"])))  # fmt: skip
    note = "absolute counts are those of the optimiser, its line search and its tolerance"
    return Table("chen/table2_1", "Iterations of backward Euler, 5 particles", rows, claims, [note],
                 plot=Plot("k [N/m]", "iterations", "solver", "y"))  # fmt: skip
