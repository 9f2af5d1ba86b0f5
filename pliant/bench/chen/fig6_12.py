"""chen/fig6_12: Moebius ball, the oscillation that SIERE keeps and SI loses. [Chen2019, Figure 6.12]"""

from dataclasses import replace

from pliant.bench.chen.energies import Figure, kept, oscillation_claims, simulate, table
from pliant.bench.table import Claim, Table
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.scenes.chen_structures import moebius_ball


def run(*, quick: bool = False) -> Table:
    scene = moebius_ball()
    note = (
        f"{thesis_mesh('moebius').note}; the load is ours, the source has none. The sheet bends and stretches with the"
        " square of the amplitude, and SI damps stretching: exact modes or more of them change nothing, less load does"
    )
    figure = Figure("chen/fig6_12", "Moebius ball", scene, (100, 20), note=note)
    runs = simulate(figure, quick)
    claims = oscillation_claims(runs, figure.terms)
    gentle = replace(scene, gravity=tuple(0.1 * g for g in scene.gravity))
    for r in simulate(replace(figure, scene=gentle), quick):
        r.name += ", load / 10"
        runs.append(r)
    few = kept(runs[2], figure.terms)
    claims.append(Claim("SIERE keeps the oscillation under a tenth of the load", ">= 0.5", f"{few:.2f}", few >= 0.5))
    return table(figure, runs, claims)
