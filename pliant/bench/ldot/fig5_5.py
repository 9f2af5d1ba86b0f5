"""ldot/fig5_5: BAR with other stiffness, Poisson's ratio, heterogeneity, anisotropy. [Weidner2022, Fig. 5.5]"""

from typing import Any

from pliant.bench.ldot.contest import THREE, bar_case, contest
from pliant.bench.race import Runner, ratio
from pliant.bench.table import Claim, Table

CASES: dict[str, dict[str, Any]] = {
    "E=6e3": {"E": 6e3},
    "E=2e4": {},
    "E=5e4": {"E": 5e4},
    "E=1e5": {"E": 1e5},
    "nu=0.42": {"nu": 0.42},
    "hetero": {"E": (8e3, 2e4)},
    "aniso": {"fibre": 4e4},
}


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    won: dict[str, list[Runner]] = {}
    for case, options in CASES.items():
        won[case], more = contest(case, bar_case(quick, **options), THREE)
        rows += more
    seconds = {case: {r.name: r.seconds for r in runners} for case, runners in won.items()}
    iterations = {case: {r.name: r.iterations for r in runners} for case, runners in won.items()}
    softest = all(seconds["E=6e3"][n] >= max(seconds[c][n] for c in ("E=2e4", "E=5e4", "E=1e5")) for n in THREE)
    gains = [ratio(won[c], "NEWTON-D", "HYBRID-L1") for c in ("E=6e3", "E=2e4", "E=5e4", "E=1e5")]
    fewer = all(iterations["nu=0.42"][n] <= iterations["E=2e4"][n] for n in THREE)
    shown = ", ".join(f"{g:.2f}" for g in gains)
    claims = [
        Claim("LD-3 softest BAR slowest for all", "yes", str(softest), softest),
        Claim("LD-3 HYBRID-L1 loses advantage as E grows", "yes", shown, gains[0] > gains[-1]),
        Claim("LD-3 nu=.42 needs fewer iterations", "yes", str(fewer), fewer),
    ]
    return Table("ldot/fig5_5", "Early factors on variations of BAR", rows, claims)
