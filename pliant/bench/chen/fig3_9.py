"""chen/fig3_9: the ARAP skater, its feet shaken for 30 frames. [Chen2019, Figure 3.9]"""

from pliant.bench.chen.shaken import two_shakes
from pliant.bench.table import Table
from pliant.materials import ARAP


def run(*, quick: bool = False) -> Table:
    remark = "homogeneous, 1 MPa; the source does not say how far its feet are shaken"
    return two_shakes("chen/fig3_9", "ARAP skater, SI", "skater", ARAP(E=1e6), 8 if quick else 200, remark)
