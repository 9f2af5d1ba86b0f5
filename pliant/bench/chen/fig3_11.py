"""chen/fig3_11: the rampant of ARAP with moduli from 2 to 100 MPa, its feet shaken. [Chen2019, Figure 3.11]"""

from pliant.bench.chen.shaken import two_shakes
from pliant.bench.table import Table
from pliant.materials import ARAP
from pliant.mesh import Mesh
from pliant.scenes.chen_fitted import banded


def rampant(mesh: Mesh) -> ARAP:
    return ARAP(E=banded(2e6, 1e8, mesh))


def run(*, quick: bool = False) -> Table:
    remark = "the source shows its moduli in a picture only; ours are soft in two bands of the height"
    return two_shakes("chen/fig3_11", "Heterogeneous rampant, SI", "rampant", rampant, 8 if quick else 100, remark)
