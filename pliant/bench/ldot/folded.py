"""ldot/folded: the BAR of fig5_4 compressed by 40 % instead of 25 %, as published. [Weidner2022, Fig. 5.4]

The bar buckles, and has two equilibria then: on one path elements turn inside out and a crease stays to the end, on the
other the bar stays whole. On either, the few steps in which it snaps decide every ratio: that is why the other figures
compress it less. About 15 minutes on one core.
"""

from pliant.bench.ldot.contest import RULE, bar_case, chosen, wall_clock_figure
from pliant.bench.parts import Plays, played
from pliant.bench.samples import Contest, contest
from pliant.bench.table import Claim, Table

SOLVERS = ("NEWTON-D", "NEWTON-L0 published", "HYBRID-L1 published", "HYBRID-LP", "NEWTON-D exact", "QLB")
figure = wall_clock_figure


def contests(quick: bool) -> Plays[Contest]:
    build = bar_case(quick, compression=0.4)
    return {"BAR, 40 %": lambda share: contest("BAR, 40 %", build, chosen(*SOLVERS), 10, share)}


def run(*, quick: bool = False) -> Table:
    result = played(contests(quick))["BAR, 40 %"]
    least = float("nan") if result.least is None else result.least
    times = result.runner("NEWTON-D").times
    share = sum(sorted(times)[-2:]) / sum(times)
    claims = [
        Claim("the bar folds: elements turn inside out", "not said", f"min det F {least:.2f}", least < 0.0),
        Claim("two of ten steps take half of NEWTON-D's time", "ours", f"{100 * share:.0f} %", share > 0.5),
    ]
    return Table("ldot/folded", "Early factors on BAR, compressed by 40 %", result.rows("NEWTON-D"), claims, [RULE])
