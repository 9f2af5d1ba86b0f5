"""qlb/fig4c: DUCKS, soft ducks falling into a bowl, with and without the transient blocks. [QLB2021, Fig. 4c]

QLB as published keeps one factor for a whole solve; "refreshed" factors anew after every ten iterations.
"""

from typing import Any

from pliant.bench.contact.duel import duel
from pliant.bench.table import Claim, Table
from pliant.scenes.contact import ducks
from pliant.solvers import QLB, QLF, Newton


def run(*, quick: bool = False) -> Table:
    solvers: dict[str, Any] = {
        "ND": Newton(),
        "QLF": QLF(at="guess", max_iterations=200),
        "QLB": QLB(at="guess", refresh=None),
        "QLB H_P + H_T": QLB(at="guess", refresh=None, coupled=True),
        "QLB refreshed": QLB(at="guess", refresh=10),
        "QLB refreshed H_P + H_T": QLB(at="guess", refresh=10, coupled=True),
    }
    count = 12 if quick else 100
    steps, samples = (30, 3) if quick else (40, 4)
    result = duel(f"DUCKS {count}", ducks(count), solvers, steps=steps, samples=samples)
    qlb, fresh = result.runner("QLB"), result.runner("QLB refreshed")
    share = max(result.share("QLB"), result.share("QLB refreshed"))
    nd, qlf = result.ratio("ND", "QLB"), result.ratio("QLF", "QLB")
    best = result.ratio("ND", "QLB refreshed")
    split = result.ratio("QLB H_P + H_T", "QLB")
    claims = [
        Claim("QLB-8 QLB converges on every step", "yes", f"{qlb.failures}/{qlb.solves} failed", qlb.failures == 0),
        Claim("QLB refreshed converges on every step", "ours", f"{fresh.failures} failed", fresh.failures == 0),
        Claim("QLB-8 QLB faster than ND", "2.9x", f"{nd:.2f}x", nd > 1.0),
        Claim("QLB refreshed faster than ND", "ours", f"{best:.2f}x", best > 1.0),
        Claim("QLB-8 QLB faster than QLF", "5.8x", f"{qlf:.2f}x", qlf > 1.0),
        Claim("QLB-8 H_P not slower than H_P + H_T", "1.11x faster", f"{split:.2f}x", split >= 1.0),
        Claim("no symbolic analysis after the first with H_P", "0", str(qlb.counts.analyses), qlb.counts.analyses == 0),
        Claim("detection at most 15 % of a step", "0.15", f"{share:.3f}", share <= 0.15),
    ]
    notes = [result.note(), "QLF gives up after 200 iterations of a solve, which is a failure"]
    return Table("qlb/fig4c", f"DUCKS: {count} bodies in contact", result.rows(), claims, notes)
