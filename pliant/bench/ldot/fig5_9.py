"""ldot/fig5_9: ARMADILLO with damping, other materials, integrators and step sizes. [Weidner2022, Fig. 5.9]"""

from typing import Any

from pliant.bench.ldot.contest import THREE, contest, figure_case
from pliant.bench.race import Runner
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF1

CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "damping=1e-6": {"damping": 1e-6},
    "StVK": {"material": "stvk"},
    "Corotational": {"material": "corotational"},
    "BDF1": {"integrator": BDF1},
    "h=5e-3": {"h": 5e-3},
    "h=2e-2": {"h": 2e-2},
}


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    won: dict[str, list[Runner]] = {}
    for case, options in CASES.items():
        won[case], more = contest(case, figure_case(quick, **options), THREE)
        rows += more
    seconds = {case: {r.name: r.seconds for r in runners} for case, runners in won.items()}
    gain = {case: t["NEWTON-D"] / t["HYBRID-L1"] for case, t in seconds.items()}

    def all_of(case: str, faster: bool) -> bool:
        return all((seconds[case][n] < seconds["default"][n]) == faster for n in THREE)

    damped, stvk, bdf1 = all_of("damping=1e-6", True), all_of("StVK", False), all_of("BDF1", True)
    corot = all(seconds["Corotational"][n] < seconds["default"][n] for n in THREE[:2])
    shown = f"h=5e-3 {gain['h=5e-3']:.2f}, 1e-2 {gain['default']:.2f}, 2e-2 {gain['h=2e-2']:.2f}"
    claims = [
        Claim("LD-4 damping speeds all up", "yes", str(damped), damped),
        Claim("LD-4 StVK slows all", "yes", str(stvk), stvk),
        Claim("LD-4 Corotational speeds NEWTON-D and L0 up", "yes", str(corot), corot),
        Claim("LD-4 BDF1 faster than BDF2 for all", "yes", str(bdf1), bdf1),
        Claim("LD-4 large h loses the advantage", "yes", shown, gain["h=2e-2"] < gain["default"]),
    ]
    notes = [
        "Baraff's linearly implicit step has no iterations to save and is left out: frozen factors change its result."
    ]
    return Table("ldot/fig5_9", "Early factors on variations of ARMADILLO", rows, claims, notes)
