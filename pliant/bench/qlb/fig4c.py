"""qlb/fig4c: DUCKS, soft ducks falling into a bowl, with and without the transient blocks. [QLB2021, Fig. 4c]"""

from typing import Any

from pliant.bench.contact.duel import duel
from pliant.bench.table import Claim, Table
from pliant.integrators import SDIRK2
from pliant.scenes.contact import ducks
from pliant.solvers import QLB, QLF, Newton


def run(*, quick: bool = False) -> Table:
    solvers: dict[str, Any] = {
        "ND": Newton(),
        "QLF": QLF(at="guess"),
        "QLB": QLB(at="guess"),
        "QLB H_P + H_T": QLB(at="guess", coupled=True),
    }
    count = 12 if quick else 100
    result = duel({name: ducks(count, integrator=SDIRK2(s)) for name, s in solvers.items()}, 25 if quick else 200)
    qlb, full = result.runner("QLB"), result.runner("QLB H_P + H_T")
    nd, qlf = (result.runner(name).seconds / qlb.seconds for name in ("ND", "QLF"))
    share = result.detection["QLB"] / qlb.seconds
    claims = [
        Claim("QLB-8 QLB converges on every step", "yes", f"{qlb.failures}/{qlb.solves} failed", qlb.failures == 0),
        Claim("QLB-8 QLB faster than ND", "2.9x", f"{nd:.2f}x", nd > 1.0),
        Claim("QLB-8 QLB faster than QLF", "5.8x", f"{qlf:.2f}x", qlf > 1.0),
        Claim(
            "QLB-8 H_P not slower than H_P + H_T",
            "1.11x faster",
            f"{full.seconds / qlb.seconds:.2f}x",
            full.seconds >= qlb.seconds,
        ),
        Claim("one symbolic analysis with H_P", "1", str(qlb.counts.analyses), qlb.counts.analyses <= 1),
        Claim("detection at most 15 % of a step", "0.15", f"{share:.3f}", share <= 0.15),
    ]
    return Table("qlb/fig4c", f"DUCKS: {count} bodies in contact", result.rows(f"DUCKS {count}"), claims, result.notes)
