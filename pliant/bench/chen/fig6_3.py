"""chen/fig6_3: what a step of ERE and of SIERE costs as stiffness and size grow. [Chen2019, Figure 6.3]

A clamped neo-Hookean bar under its weight. The spectral radius of J grows with sqrt(E) / edge, and so do the Krylov
vectors that ERE needs; SIERE has one factorization whatever the stiffness.
"""

from typing import Any

import numpy as np

from pliant.bench.chen.play import Played, play
from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import Solid
from pliant.integrators import ERE, SIERE
from pliant.maps.pins import Pin
from pliant.materials import NeoHookean
from pliant.mesh import bar
from pliant.scene import Scene

H = 0.01  # [s]
CELLS = {"coarse": (8, 2, 2), "fine": (16, 4, 4)}
MODULI = (1e5, 1e6, 1e7, 1e8)  # [Pa]
METHODS: dict[str, Any] = {"ERE": ERE(), "SIERE": SIERE()}


def clamped(E: float, cells: tuple[int, int, int]) -> Scene:
    """A bar of 0.4 m x 0.1 m x 0.1 m, held at one end."""
    mesh = bar((0.4, 0.1, 0.1), cells)
    return Scene([Solid(mesh, NeoHookean(E, 0.45), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))])


def cost(name: str, E: float, cells: tuple[int, int, int], steps: int) -> Played:
    scene = clamped(E, cells)
    system = scene.system()
    return play(name, system, scene.initial(system), METHODS[name], H, steps)


def run(*, quick: bool = False) -> Table:
    steps = 4 if quick else 12
    rows: list[dict[str, Any]] = []
    spent: dict[tuple[str, str], list[float]] = {}
    for size, cells in CELLS.items():
        for E in MODULI[: 3 if quick else None]:
            for name in METHODS:
                one = cost(name, E, cells, steps)
                products = float(np.mean([c.inner for c in one.counts]))
                ms = round(1e3 * one.per_step(), 2)
                spent.setdefault((name, size), []).append(ms)
                mesh = f"{size}, {np.prod([c + 1 for c in cells])} vertices"
                rows.append({"mesh": mesh, "E [Pa]": f"{E:.0e}", "method": name, "CPU ms/step": ms,
                             "products/step": round(products), "ended": one.ended or "-"})  # fmt: skip
    return Table("chen/fig6_3", "Cost of exponential steps", rows, claims(spent), [f"{steps} steps of {H:g} s; median"],
                 plot=Plot("E [Pa]", "CPU ms/step", "method", "y"))  # fmt: skip


def claims(spent: dict[tuple[str, str], list[float]]) -> list[Claim]:
    grown = {key: times[-1] / times[0] for key, times in spent.items()}
    shown = lambda name: ", ".join(f"{size} {grown[name, size]:.1f}x" for size in CELLS)
    ere, siere = ([grown[name, size] for size in CELLS] for name in METHODS)
    finest = {name: spent[name, "fine"][-1] for name in METHODS}
    ratio = finest["ERE"] / finest["SIERE"]
    return [
        Claim("ERE from the softest to the stiffest", "prohibitive, >= 5x", shown("ERE"), min(ere) >= 5.0),
        Claim("SIERE from the softest to the stiffest", "hardly grows, <= 1.5x", shown("SIERE"), max(siere) <= 1.5),
        Claim("ERE / SIERE on the stiffest fine bar", "> 1", f"{ratio:.1f}x", ratio > 1.0),
    ]
