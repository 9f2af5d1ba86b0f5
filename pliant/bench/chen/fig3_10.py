"""chen/fig3_10: an arm with moduli from 20 kPa to 100 MPa, shaken at its shoulder. [Chen2019, Figure 3.10]"""

from pliant.bench.chen.shaken import two_shakes
from pliant.bench.table import Table
from pliant.scenes.chen_fitted import mixed


def run(*, quick: bool = False) -> Table:
    remark = (
        "the source shows its moduli in a picture only; ours are three soft joints between stiff parts, which stiffen "
        "as they bend"
    )
    return two_shakes("chen/fig3_10", "Heterogeneous arm, SI", "arm", mixed, 15 if quick else 100, remark)
