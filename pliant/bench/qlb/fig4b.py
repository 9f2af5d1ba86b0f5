"""qlb/fig4b: BUNNY, a soft figure tumbling on a floor with friction and self contact. [QLB2021, Fig. 4b]

With friction a step may have several roots, so solvers are compared by residuals and counts, not by positions.
"""

from typing import Any

from pliant.bench.contact.duel import duel
from pliant.bench.table import Claim, Table
from pliant.integrators import SDIRK2
from pliant.mesh import long_eared
from pliant.scenes.contact import bunny
from pliant.solvers import QLB, QLF, Newton


def run(*, quick: bool = False) -> Table:
    options: dict[str, Any] = {"mesh": long_eared(cells=8)} if quick else {}
    solvers: dict[str, Any] = {
        "ND": Newton(),
        "QLF": QLF(at="guess"),
        "QLB": QLB(at="guess"),
        "QLB at the start": QLB(),
    }
    result = duel({name: bunny(integrator=SDIRK2(s), **options) for name, s in solvers.items()}, 40 if quick else 600)
    qlb, nd = result.runner("QLB"), result.runner("ND")
    speedup = nd.seconds / qlb.seconds
    claims = [
        Claim("QLB-7 QLB converges on every step", "yes", f"{qlb.failures}/{qlb.solves} failed", qlb.failures == 0),
        Claim("QLB-7 QLB faster than ND (paper 4.5x; at least 2x)", "4.5x", f"{speedup:.2f}x", speedup >= 2.0),
        Claim(
            "QLB-7 QLF fails", "fails", f"{result.runner('QLF').failures} failures", result.runner("QLF").failures > 0
        ),
        Claim("one symbolic analysis with H_P", "1", str(qlb.counts.analyses), qlb.counts.analyses <= 1),
    ]
    return Table("qlb/fig4b", "BUNNY: contact with friction", result.rows("BUNNY"), claims, result.notes)
