"""ldot/fig5_13: BUNNY and DUCKS under the Ldot solvers. [Weidner2022, Fig. 5.13]"""

from typing import Any

from pliant.bench.contact.duel import duel
from pliant.bench.ldot.contest import CONTESTANTS
from pliant.bench.table import Claim, Table
from pliant.integrators import SDIRK2
from pliant.mesh import long_eared
from pliant.scenes.contact import bunny, ducks

THREE = ("NEWTON-D", "NEWTON-L0", "HYBRID-L1")


def run(*, quick: bool = False) -> Table:
    small: dict[str, Any] = {"mesh": long_eared(cells=8)} if quick else {}
    hare = {n: bunny(E=5e4, damping=2e-2, h=3e-3, integrator=SDIRK2(CONTESTANTS[n]), **small) for n in THREE}
    first = duel(hare, 40 if quick else 1000)
    rows, claims, notes = first.rows("BUNNY"), [], list(first.notes)
    for slow, paper in (("NEWTON-D", 2.35), ("NEWTON-L0", 1.43)):
        ratio = first.runner(slow).seconds / first.runner("HYBRID-L1").seconds
        claims.append(Claim(f"LD-5 BUNNY: HYBRID-L1 faster than {slow}", f"{paper}x", f"{ratio:.2f}x", ratio > 1.0))
    for count in (8,) if quick else (50, 100):
        flock = {n: ducks(count, damping=2e-3, integrator=SDIRK2(CONTESTANTS[n])) for n in THREE}
        result = duel(flock, 20 if quick else 200)
        rows += result.rows(f"DUCKS {count}")
        ratio = result.runner("NEWTON-D").seconds / result.runner("HYBRID-L1").seconds
        claims.append(
            Claim(f"LD-5 DUCKS {count}: HYBRID-L1 faster than NEWTON-D", "1.29x", f"{ratio:.2f}x", ratio > 1.0)
        )
    failed = sum(int(str(r["failed"]).split("/")[0]) for r in rows)
    claims.append(Claim("every step of every solver converged", "yes", f"{failed} failures", failed == 0))
    return Table("ldot/fig5_13", "BUNNY and DUCKS under the Ldot solvers", rows, claims, notes)
