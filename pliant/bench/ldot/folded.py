"""ldot/folded: the BAR of fig5_4 compressed by 40 % instead of 25 %, where it folds. [Weidner2022, Fig. 5.4]

Elements turn inside out, a crease stays to the end, and the few steps in which the bar snaps decide every ratio: that
is why the other figures compress it less. About 15 minutes on one core.
"""

from pliant.bench.ldot.contest import RULE, bar_case, chosen, wall_clock_figure
from pliant.bench.samples import contest
from pliant.bench.table import Claim, Table

SOLVERS = ("NEWTON-D", "NEWTON-L0 published", "HYBRID-L1 published", "HYBRID-LP", "NEWTON-D exact", "QLB")
figure = wall_clock_figure


def run(*, quick: bool = False) -> Table:
    result = contest("BAR, 40 %", bar_case(quick, compression=0.4), chosen(*SOLVERS), 10)
    folds = result.least is not None and result.least < 0.0
    times = result.runner("NEWTON-D").times
    share = sum(sorted(times)[-2:]) / sum(times)
    claims = [
        Claim("the bar folds", "not said", f"min det F {result.least}", folds),
        Claim("two of ten steps take half of NEWTON-D's time", "ours", f"{100 * share:.0f} %", share > 0.5),
    ]
    return Table("ldot/folded", "Early factors on a BAR that folds", result.rows("NEWTON-D"), claims, [RULE])
