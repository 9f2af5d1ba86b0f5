"""chen/fig6_12: Moebius ball, the oscillation that SIERE keeps and SI loses. [Chen2019, Figure 6.12]"""

from pliant.bench.chen.energies import Figure, two_loads
from pliant.bench.table import Table
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.scenes.chen_structures import moebius_ball


def run(*, quick: bool = False) -> Table:
    figure = Figure("chen/fig6_12", "Moebius ball", moebius_ball(), (100, 20), note=thesis_mesh("moebius").note)
    return two_loads(figure, quick)
