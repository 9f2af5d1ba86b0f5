"""chen/fig4_11: twisted bars let go, E from 10 Pa to 10 kPa: running time and energy. [Chen2019, Figure 4.11]"""

from typing import Any

from pliant.bench.chen.contest import compete, damping_claim, rows
from pliant.bench.chen.play import energy_plot
from pliant.bench.table import Claim, Table
from pliant.scenes.chen_solids import twisted_bar

CELLS = (10, 3, 3)


def run(*, quick: bool = False) -> Table:
    table: list[dict[str, Any]] = []
    energies, cost, stiff = [], [], {}
    for E in (1e3, 1e4) if quick else (1e1, 1e2, 1e3, 1e4):
        runs = compete(twisted_bar(E, CELLS), 0.25 if quick else 2.0)
        table += [{"E [Pa]": f"{E:g}", **r} for r in rows(runs)]
        cost.append({n: sum(r.seconds) for n, r in runs.items()})
        energies.append(damping_claim(runs, f"{E:g} Pa: "))
        stiff = runs
    slower = all(min(c["BE"], c["IM"]) > c["ERE"] for c in cost)
    ratios = "; ".join(f"{c['BE'] / c['ERE']:.1f}, {c['IM'] / c['ERE']:.1f}" for c in cost)
    claims = [*energies, Claim("BE/ERE, IM/ERE cost", "> 1", ratios, slower)]
    return Table("chen/fig4_11", "Twisted bars", table, claims, [f"{CELLS} cells, a quarter turn; both are ours"],
                 [energy_plot("fig4_11", "Twisted bar, 10 kPa", list(stiff.values()))])  # fmt: skip
