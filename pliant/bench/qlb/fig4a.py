"""qlb/fig4a: how many secant pairs QLB should keep, on BAR, and its other options. [QLB2021, Fig. 4a]"""

import os
from typing import Any

from pliant.bench.race import Runner, race
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF2
from pliant.mesh import bar as bar_mesh
from pliant.scenes.qlb import bar
from pliant.solvers import QLB


def run(*, quick: bool = False) -> Table:
    small: dict[str, Any] = {"mesh": bar_mesh(size=(0.3, 0.1, 0.1), cells=(18, 6, 6))} if quick else {}
    solvers = {f"m={m}": QLB(m=m) for m in (2, 5, 10, 20)}
    solvers |= {"m=10 scaled": QLB(scaled=True), "m=10 at the guess": QLB(at="guess"), "m=10 kept": QLB(reuse="steps")}
    runners = [Runner(name, bar(integrator=BDF2(solver), **small)) for name, solver in solvers.items()]
    steps = min(runners[0].scene.steps, int(os.environ.get("PLIANT_BENCH_STEPS", "1000000")))
    race(runners, steps)
    best = min(r.seconds for r in runners[:4])
    ten = next(r.seconds for r in runners if r.name == "m=10")
    failures = sum(r.failures for r in runners)
    claims = [
        Claim("QLB-5 m = 10 is the best (within 10 %)", "yes", f"{ten / best:.2f} of the best", ten <= 1.1 * best),
        Claim("every step of every variant converged", "yes", f"{failures} failures", failures == 0),
    ]
    return Table("qlb/fig4a", "Secant pairs in QLB", [r.row("BAR E=2e4") for r in runners], claims)
