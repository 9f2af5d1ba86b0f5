"""chen/fig6_13: Tower in the wind, the oscillation that SIERE keeps and SI loses. [Chen2019, Figure 6.13]"""

from pliant.bench.chen.energies import Figure, two_loads
from pliant.bench.table import Table
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.scenes.chen_structures import tower


def run(*, quick: bool = False) -> Table:
    figure = Figure("chen/fig6_13", "Tower in the wind", tower(), (100, 20), note=thesis_mesh("eiffel").note)
    return two_loads(figure, quick)
