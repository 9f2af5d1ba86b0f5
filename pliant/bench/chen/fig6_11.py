"""chen/fig6_11: Honeycomb, the oscillation that SIERE keeps and SI loses. [Chen2019, Figure 6.11]"""

from pliant.bench.chen.energies import Figure, two_loads
from pliant.bench.table import Table
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.scenes.chen_structures import honeycomb


def run(*, quick: bool = False) -> Table:
    figure = Figure("chen/fig6_11", "Honeycomb", honeycomb(), (100, 20), note=thesis_mesh("honeycomb").note)
    return two_loads(figure, quick)
