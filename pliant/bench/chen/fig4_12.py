"""chen/fig4_12: bars held at one end, E from 10 to 50 kPa: running time and energy. [Chen2019, Figures 4.11, 4.12]"""

from pliant.bench.chen.contest import compete, damping_claim, rows
from pliant.bench.chen.play import energy_plot
from pliant.bench.table import Claim, Table
from pliant.scenes.chen_solids import soft_bar

CELLS = (24, 6, 6)


def run(*, quick: bool = False) -> Table:
    seconds = 0.25 if quick else 1.0
    table, cost, energies = [], [], []
    moduli = (10e3, 50e3) if quick else (10e3, 20e3, 30e3, 40e3, 50e3)
    for E in moduli:
        runs = compete(soft_bar(E, cells=CELLS), seconds)
        table += [{"E [kPa]": E / 1e3, **r} for r in rows(runs)]
        cost.append({n: sum(r.seconds) for n, r in runs.items()})
        energies.append(damping_claim(runs, f"{E / 1e3:.0f} kPa: "))
        if moduli[0] == E:
            soft = runs
    products = [r["products/step"] for r in table if r["method"] == "ERE"]
    slow = all(c["BE"] > c["ERE"] and c["IM"] > c["ERE"] for c in cost)
    ratios = "; ".join(f"{c['BE'] / c['ERE']:.1f}, {c['IM'] / c['ERE']:.1f}" for c in cost)
    claims = [
        Claim(
            "ERE costs more the stiffer the bar",
            "increasing",
            ", ".join(f"{p:.0f}" for p in products),
            products[-1] > products[0],
        ),
        Claim("BE/ERE, IM/ERE cost", "> 1", ratios, slow),
        *energies,
    ]
    picture = energy_plot("fig4_12", "Bar held at one end, 10 kPa", list(soft.values()))
    return Table(
        "chen/fig4_12",
        "Volumetric bars",
        table,
        claims,
        [f"{CELLS} cells; the source's mesh is not known. Of 10 x 3 x 3, every E needs two substeps"],
        [picture],
    )
