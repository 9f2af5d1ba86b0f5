"""chen/fig4_13: a bunny bounces, energy by method. [Chen2019, Figure 4.13]"""

from pliant.bench.chen.contest import compete, damping_claim, rows
from pliant.bench.chen.play import energy_plot
from pliant.bench.table import Table
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.scenes.chen_solids import bouncing_bunny


def run(*, quick: bool = False) -> Table:
    runs = compete(bouncing_bunny(), 0.05 if quick else 0.5)
    return Table("chen/fig4_13", "Bunny on a floor, 100 kPa", rows(runs), [damping_claim(runs)],
                 [thesis_mesh("bunny", 0.25).note], [energy_plot("fig4_13", "Bunny", list(runs.values()))])  # fmt: skip
