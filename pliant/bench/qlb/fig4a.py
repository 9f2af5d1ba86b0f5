"""qlb/fig4a: how many secant pairs QLB should keep, on BAR, and its other options. [QLB2021, Fig. 4a]

Every variant solves the same 30 steps of the script (see `pliant.bench.samples`); a kept factor, which lives from
the steps before it, is compared on runs of its own over the first second. About 10 minutes on one core.
"""

from typing import Any

from pliant.bench.race import Runner, all_converged, race, ratio
from pliant.bench.samples import contest
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF2
from pliant.linear import Cholesky
from pliant.mesh import bar as bar_mesh
from pliant.scene import Scene
from pliant.scenes.qlb import bar
from pliant.solvers import QLB
from pliant.solvers.qlb import AS_PUBLISHED

FIRST = 20  # steps: the compression


def published(**options: Any) -> QLB:
    """The paper's QLB, but for the options given."""
    return QLB(**(AS_PUBLISHED | options))


def run(*, quick: bool = False) -> Table:
    small: dict[str, Any] = {"mesh": bar_mesh(size=(0.3, 0.1, 0.1), cells=(18, 6, 6))} if quick else {}

    def build(solver: Any) -> Scene:
        return bar(integrator=BDF2(solver), **small)

    stored = {f"m={m}": published(m=m) for m in (2, 5, 10, 20)}
    others = {
        "m=10 scaled": published(scaled=True),
        "m=10 at the guess": published(at="guess"),
        "m=10 refreshed": published(refresh=20),
        "m=10 single precision": published(linear=Cholesky("single")),
        "m=10 all three": QLB(),
    }
    result = contest("BAR", build, stored | others)
    best = min(stored, key=result.seconds)
    kept = race([Runner("m=10", build(published())), Runner("m=10 kept", build(published(reuse="steps")))], FIRST)
    worth, over = ratio(kept, "m=10", "m=10 kept"), result.seconds("m=10") / result.seconds(best)
    claims = [
        Claim("QLB-5 m=10 the best of 2, 5, 10, 20 (within 10 %)", "yes", f"{over:.2f} of {best}", over <= 1.1),
        Claim("a factor kept across steps pays", "future work", f"{worth:.2f}x over {FIRST} steps", worth > 1.0),
        all_converged([*result.runners, *kept], "variant"),
    ]
    made = ", ".join(f"{r.name} {r.counts.factorizations} factorizations, {r.seconds:.1f} CPU s" for r in kept)
    notes = [f"The first {FIRST} steps, each on its own path: {made}."]
    return Table("qlb/fig4a", "Secant pairs in QLB", result.rows("m=10"), claims, notes)


def figure(table: Table) -> Any:
    from pliant.plots import sheet, wall_clock

    drawn, ((axes,),) = sheet()
    wall_clock(axes, table.rows, seconds="CPU s/step")
    return drawn
