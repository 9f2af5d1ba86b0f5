"""ldot/fig5_13: BUNNY and DUCKS under the Ldot solvers. [Weidner2022, Fig. 5.13]

HYBRID-LP, one factor at the predictor instead of the two of L1, stands beside the thesis's solvers.
"""

from typing import Any

from pliant.bench.contact.duel import Duel, duel
from pliant.bench.ldot.contest import CONTESTANTS
from pliant.bench.table import Claim, Table
from pliant.mesh import long_eared
from pliant.scenes.contact import bunny, ducks

FOUR = ("NEWTON-D", "NEWTON-L0", "HYBRID-L1", "HYBRID-LP")


def run(*, quick: bool = False) -> Table:
    small: dict[str, Any] = {"mesh": long_eared(cells=8)} if quick else {}
    solvers = {name: CONTESTANTS[name] for name in FOUR}
    hare = bunny(E=5e4, damping=2e-2, h=3e-3, **small)
    duels = [duel("BUNNY", hare, solvers, steps=60 if quick else 1000, samples=4 if quick else 10)]
    claims = [
        _faster(duels[0], slow, paper, "BUNNY") for slow, paper in (("NEWTON-D", "2.35x"), ("NEWTON-L0", "1.43x"))
    ]
    steps, samples = (20, 2) if quick else (200, 10)
    for count in (8,) if quick else (50, 100):
        duels.append(duel(f"DUCKS {count}", ducks(count, damping=2e-3), solvers, steps=steps, samples=samples))
        claims.append(_faster(duels[-1], "NEWTON-D", "1.29x", f"DUCKS {count}"))
    for d in duels:
        for slow in ("HYBRID-L1", "NEWTON-D"):
            ratio = d.ratio(slow, "HYBRID-LP")
            claims.append(
                Claim(f"LD-7 {d.case}: HYBRID-LP not slower than {slow}", "ours", f"{ratio:.2f}x", ratio >= 1)
            )
    failed = sum(r.failures for d in duels for r in d.runners)
    claims.append(Claim("every step of every solver converged", "yes", f"{failed} failures", failed == 0))
    rows = [row for d in duels for row in d.rows()]
    notes = [d.note() for d in duels]
    notes.append(
        "an extrapolated factor saves little here: BUNNY's Newton needs two or three factorizations per stage, and "
        "those of many small bodies cost less than the force evaluations of the quasi-Newton phase"
    )
    return Table("ldot/fig5_13", "BUNNY and DUCKS under the Ldot solvers", rows, claims, notes)


def _faster(result: Duel, slow: str, paper: str, case: str) -> Claim:
    ratio = result.ratio(slow, "HYBRID-L1")
    return Claim(f"LD-5 {case}: HYBRID-L1 faster than {slow}", paper, f"{ratio:.2f}x", ratio > 1.0)
