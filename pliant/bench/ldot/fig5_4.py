"""ldot/fig5_4: all eight solvers on the default BAR (E = 2e4, nu = 0.49, quasistatic). [Weidner2022, Fig. 5.4]"""

from pliant.bench.ldot.contest import CONTESTANTS, bar_case, contest
from pliant.bench.race import ratio
from pliant.bench.table import Claim, Table


def run(*, quick: bool = False) -> Table:
    runners, rows = contest("BAR", bar_case(quick), CONTESTANTS)
    by = {r.name: r for r in runners}
    direct, frozen = ratio(runners, "NEWTON-D", "HYBRID-L1"), ratio(runners, "NEWTON-L0", "HYBRID-L1")
    early = ratio(runners, "HYBRID-L1", "HYBRID-LP")
    like = ratio(runners, "NEWTON-D", "NEWTON-I")
    switches = {n: by[n].counts.switches for n in ("HYBRID-L0", "HYBRID-L1", "HYBRID-LP")}
    more = switches["HYBRID-L0"] > switches["HYBRID-L1"]
    claims = [
        Claim("LD-1 HYBRID-L1 against NEWTON-D", "3.3x (pass: > 1)", f"{direct:.2f}x", direct > 1.0),
        Claim("LD-1 HYBRID-L1 against NEWTON-L0", "2.12x (pass: > 1)", f"{frozen:.2f}x", frozen > 1.0),
        Claim("LD-1 NEWTON-I like NEWTON-D", "about equal", f"{like:.2f}x", 0.5 < like < 2.0),
        Claim("LD-2 HYBRID-L0 switches more often than L1", "yes", str(switches), more),
        Claim("LD-7 HYBRID-LP not slower than HYBRID-L1", "ours", f"{early:.2f}x", early >= 1.0),
    ]
    return Table("ldot/fig5_4", "Early factors on BAR", rows, claims)
