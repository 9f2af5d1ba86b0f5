"""qlb/fig4b: BUNNY, a soft figure tumbling on a floor with friction and self contact. [QLB2021, Fig. 4b]

With friction a step may have several roots, so solvers are compared by residuals and counts, not by positions. The
first half second holds the fall, the landing and the tumbling; every solver solves the same sampled steps of it.
QLB as published keeps one factor for a whole solve; "refreshed" factors anew after every ten iterations.
"""

from typing import Any

from pliant.bench.contact.duel import duel
from pliant.bench.table import Claim, Table
from pliant.mesh import long_eared
from pliant.scenes.contact import bunny
from pliant.solvers import QLB, QLF, Newton


def run(*, quick: bool = False) -> Table:
    options: dict[str, Any] = {"mesh": long_eared(cells=8)} if quick else {}
    solvers: dict[str, Any] = {
        "ND": Newton(),
        "ND-exact": Newton(project="on_demand"),
        "QLF": QLF(at="guess", max_iterations=200),
        "QLB": QLB(at="guess", refresh=None),
        "QLB at the start": QLB(refresh=None),
        "QLB refreshed": QLB(at="guess", refresh=10),
    }
    result = duel("BUNNY", bunny(**options), solvers, steps=60 if quick else 100, samples=4)
    qlb, qlf = result.runner("QLB"), result.runner("QLF")
    speedup, exact = result.ratio("ND", "QLB"), result.ratio("ND-exact", "QLB")
    claims = [
        Claim("QLB-7 QLB converges on every step", "yes", f"{qlb.failures}/{qlb.solves} failed", qlb.failures == 0),
        Claim("QLB-7 QLB faster than ND (paper 4.5x; at least 2x)", "4.5x", f"{speedup:.2f}x", speedup >= 2.0),
        Claim("QLB-7 QLB faster than ND-exact", "not in the paper", f"{exact:.2f}x", exact >= 1.0),
        Claim("QLB-7 QLF fails", "fails", f"{qlf.failures} of {qlf.solves} solves", qlf.failures > 0),
        Claim("no symbolic analysis after the first with H_P", "0", str(qlb.counts.analyses), qlb.counts.analyses == 0),
    ]
    return Table("qlb/fig4b", "BUNNY: contact with friction", result.rows(), claims, [result.note()])
