"""chen/table4_1: substeps of the exponential under large compression and stretch. [Chen2019, Table 4.1]"""

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.integrators import ERE
from pliant.scenes.chen_solids import compressed_cylinder
from pliant.state import State

PAPER = {  # k/m: strain -> tau; negative strains are compression
    1e3: {-0.02: 2, -0.5: 3, 0.02: 2, 0.5: 2, 1.0: 2},
    1e4: {-0.02: 5, -0.5: 7, 0.02: 4, 0.5: 4, 1.0: 5},
    1e5: {-0.02: 12, -0.5: 23, 0.02: 12, 0.5: 12, 1.0: 13},
    1e6: {-0.02: 48, -0.5: 123, 0.02: 47, 0.5: 51, 1.0: 58},
}
H = 1 / 30


def substeps(ratio: float, strain: float) -> tuple[int, int]:
    """Substeps and products of one ERE step from the stretched state, sides contracted to keep the volume."""
    system = compressed_cylinder(ratio).system()
    stretch = 1.0 + strain
    x = system.X * np.array([stretch**-0.5, stretch**-0.5, stretch])
    step = ERE(project="never").step(system, State(system.prescribe(x.ravel(), 0.0), np.zeros(x.size)), H)
    return step.reports[0].iterations, step.reports[0].counts.inner


def run(*, quick: bool = False) -> Table:
    rows, found = [], {}
    for ratio in (1e3, 1e4) if quick else PAPER:
        for strain, paper in PAPER[ratio].items():
            tau, products = substeps(ratio, strain)
            found[ratio, strain] = tau
            rows.append(
                {"k/m": f"{ratio:.0e}", "strain": strain, "thesis tau": paper, "tau": tau, "products": products}
            )
    stiff = max(r for r, _ in found)
    squeezed = found[stiff, -0.5] / found[stiff, -0.02]
    stretched = found[stiff, 1.0] / found[stiff, 0.02]
    growth = found[stiff, 0.02] / found[stiff / 10, 0.02]
    low = 1.5 if quick else 2.5  # soft bodies need few substeps in any case
    claims = [
        Claim("50 % compression over 2 %", "< 3", f"{squeezed:.2f}", squeezed < 3.0),
        Claim("100 % stretch over 2 %", "< 2", f"{stretched:.2f}", stretched < 2.0),
        Claim("growth per decade of k/m at the stiff end", "2.5 - 5 (3.9)", f"{growth:.2f}", low <= growth <= 5.0),
    ]
    tets = len(compressed_cylinder(1.0).bodies[0].mesh.T)
    return Table(
        "chen/table4_1",
        "Substeps of the exponential in ERE",
        rows,
        claims,
        [f"cylinder of {tets} tets (2,383 in the source), its size chosen so that tau at 2 % is the source's"],
    )
