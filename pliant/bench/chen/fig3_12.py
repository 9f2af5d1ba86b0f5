"""chen/fig3_12: the neo-Hookean fert with moduli from 100 kPa to 1 GPa, its base shaken. [Chen2019, Figure 3.12]"""

from pliant.bench.chen.shaken import two_shakes
from pliant.bench.table import Table
from pliant.materials import NeoHookean
from pliant.mesh import Mesh
from pliant.scenes.chen_fitted import banded


def fert(mesh: Mesh) -> NeoHookean:
    return NeoHookean(E=banded(1e5, 1e9, mesh), nu=0.45)


def run(*, quick: bool = False) -> Table:
    remark = "the source shows its moduli in a picture only; ours are soft in two bands of the height"
    return two_shakes("chen/fig3_12", "Heterogeneous fert, SI", "fert", fert, 8 if quick else 100, remark)
