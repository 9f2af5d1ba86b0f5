"""chen/fig4_1: what the action of the exponential costs, by size of the matrix and by k/m. [Chen2019, Figure 4.1]

A neo-Hookean bar at small strain; substeps tau of the exponential, products with J and time of one step of 1/30 s.
"""

from time import process_time
from typing import Any

import numpy as np

from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import Solid
from pliant.integrators import ERE
from pliant.maps.pins import Pin
from pliant.materials import NeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.state import State

H = 1 / 30
SMALL = 3  # cells across of the bar on which k/m varies


def cost(across: int, ratio: float) -> dict[str, Any]:
    """One step from a stretch of 2 %, compiled and analysed before."""
    mesh = bar((4.0, 1.0, 1.0), (4 * across, across, across))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    body = Solid(mesh, NeoHookean(E=1000.0 * ratio, nu=0.45), density=1000.0, pins=pins)
    system = Scene([body], gravity=(0, 0, 0)).system()
    x = system.X * np.array([1.02, 0.98, 0.98])
    state = State(system.prescribe(x.ravel(), 0.0), np.zeros(x.size))
    method = ERE(project="never")
    method.step(system, state, H)
    best, report = np.inf, None
    for _ in range(3):
        start = process_time()
        report = method.step(system, state, H).reports[0]
        best = min(best, process_time() - start)
    assert report is not None
    return {
        "k/m": ratio,
        "N": 2 * len(system.free),
        "tau": report.iterations,
        "products": report.counts.inner,
        "CPU [ms]": round(1e3 * best, 2),
    }


def run(*, quick: bool = False) -> Table:
    ratios = (1e3, 1e5) if quick else (1e3, 1e4, 1e5, 1e6)
    sizes = (1, 2, 3) if quick else (1, 2, 3, 4, 6, 8)
    rows = [cost(across, ratio) for ratio in ratios for across in sizes]
    size = [r for r in rows if r["k/m"] == ratios[-1]]
    stiff = [r for r in rows if r["N"] == next(s["N"] for s, a in zip(size, sizes, strict=True) if a == SMALL)]
    tau = [r["tau"] for r in size]
    time = [r["CPU [ms]"] for r in size]
    n = np.array([r["N"] for r in size], dtype=float)
    slope = float(np.polyfit(np.log(n), np.log(time), 1)[0])
    growth = [r["products"] for r in stiff]
    rising = lambda counts: all(b >= a for a, b in zip(counts, counts[1:], strict=False)) and counts[-1] > 2 * counts[0]
    claims = [
        Claim("tau grows with N", "roughly linear", ", ".join(map(str, tau)), rising(tau)),
        Claim("and with k/m: products", "increasing", ", ".join(map(str, growth)), rising(growth)),
        Claim("run time grows faster than N", "super-linear", f"N^{slope:.2f}", slope > 1.0),
    ]  # fmt: skip
    note = "a finer mesh of the same body is stiffer too: |M^-1 K| grows by 4 where the edges are halved"
    return Table(
        "chen/fig4_1", "Cost of the exponential in ERE", rows, claims, [note], plot=Plot("N", "CPU [ms]", "k/m", "xy")
    )
