"""chen/fig6_13: Tower in the wind, the oscillation that SIERE keeps and SI loses. [Chen2019, Figure 6.13]"""

from pliant.bench.chen.energies import Figure, oscillation_claims, simulate, table
from pliant.bench.table import Table
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.scenes.chen_structures import tower


def run(*, quick: bool = False) -> Table:
    figure = Figure("chen/fig6_13", "Tower in the wind", tower(), (100, 20), note=thesis_mesh("eiffel").note)
    runs = simulate(figure, quick)
    return table(figure, runs, oscillation_claims(runs, figure.terms))
