"""chen/fig6_11: Honeycomb, the oscillation that SIERE keeps and SI loses. [Chen2019, Figure 6.11]

"We hang up the sheet": its weight pulls along it. Once more with gravity across it as well, which bends it: by
centimetres instead of a third of a millimetre, and beyond what SIERE keeps.
"""

from dataclasses import replace

from pliant.bench.chen.energies import SIERE, Figure, exact, kept, oscillation_claims, simulate, table, why
from pliant.bench.table import Claim, Table
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.scenes.chen_structures import honeycomb


def run(*, quick: bool = False) -> Table:
    note = f"{thesis_mesh('honeycomb').note}; bent across: {why(honeycomb())}"
    figure = Figure("chen/fig6_11", "Honeycomb", honeycomb(across=0.0), (100, 20), note=note)
    runs = simulate(figure, quick)
    claims = oscillation_claims(runs, figure.terms)
    more = {} if quick else {"SIERE s = 20": SIERE(s=20)}
    for run in simulate(replace(figure, scene=honeycomb(), methods=more), quick):
        run.name += ", bent across"
        runs.append(run)
    bent = kept(runs[2], figure.terms)
    for name, scene in (("", figure.scene), (", bent across", honeycomb())):
        runs.append(replace(exact(scene, figure.steps[quick]), name=f"exact, small motions{name}"))
    claims.append(Claim("SIERE keeps the oscillation, bent across", ">= 0.5", f"{bent:.2f}", bent >= 0.5))
    return table(figure, runs, claims)
