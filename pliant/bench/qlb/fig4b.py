"""qlb/fig4b: BUNNY, a soft figure tumbling on a floor with friction and self contact. [QLB2021, Fig. 4b]

With friction a step may have several roots, so solvers are compared by residuals and counts, not by positions. The
first half second holds the fall, the landing and the tumbling; every solver solves the same sampled steps of it.
QLB is the paper's, ours is the default of the framework.
"""

from typing import Any

from pliant.bench.contact.duel import OURS, duel
from pliant.bench.table import Claim, Table
from pliant.mesh import long_eared
from pliant.scenes.contact import bunny
from pliant.solvers import QLB, QLF, Newton
from pliant.solvers.qlb import AS_PUBLISHED


def run(*, quick: bool = False) -> Table:
    options: dict[str, Any] = {"mesh": long_eared(cells=8)} if quick else {}
    solvers: dict[str, Any] = {
        "ND": Newton(),
        "ND-exact": Newton(project="on_demand"),
        "QLF": QLF(max_iterations=200),
        "QLB": QLB(**AS_PUBLISHED),
        "QLB at the guess": QLB(**AS_PUBLISHED | {"at": "guess"}),
        OURS: QLB(),
    }
    result = duel("BUNNY", bunny(**options), solvers, steps=60 if quick else 600, samples=4 if quick else 12)
    qlf = result.runner("QLF")
    claims = []
    for name in ("QLB", OURS):
        r, nd, exact = result.runner(name), result.ratio("ND", name), result.ratio("ND-exact", name)
        claims += [
            Claim(f"QLB-7 {name} converges on every step", "yes", f"{r.failures}/{r.solves} failed", r.failures == 0),
            Claim(f"QLB-7 {name} faster than ND (paper 4.5x; at least 2x)", "4.5x", f"{nd:.2f}x", nd >= 2.0),
            Claim(f"QLB-7 {name} faster than ND-exact", "not in the paper", f"{exact:.2f}x", exact >= 1.0),
            Claim(f"{name}: no analysis after the first with H_P", "0", str(r.counts.analyses), r.counts.analyses == 0),
        ]
    claims.append(Claim("QLB-7 QLF fails", "fails", f"{qlf.failures} of {qlf.solves} solves", qlf.failures > 0))
    return Table("qlb/fig4b", "BUNNY: contact with friction", result.rows(), claims, [result.note()])
