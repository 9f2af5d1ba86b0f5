"""ldot/fig5_14: nonlinear iterations per step of falling DUCKS, as a plot. [Weidner2022, Fig. 5.14]

SDIRK2 solves twice per step; both are summed. The solvers as published, and HYBRID-L1 whose Adot spans the whole step,
so that it sees contacts that close within it; a dozen ducks, as iterations hardly depend on their number.
"""

from typing import Any

from pliant.bench.ldot.contest import LIMIT, THESIS, iteration_figure, iteration_note, iteration_rows
from pliant.bench.race import all_converged
from pliant.bench.samples import contest
from pliant.bench.table import Claim, Table
from pliant.integrators import SDIRK2
from pliant.scenes.contact import ducks
from pliant.solvers import ND, HybridL1

SOLVERS = {
    "NEWTON-D": ND(**LIMIT),
    "HYBRID-L1": HybridL1(**THESIS),
    "HYBRID-L1, Adot over the step": HybridL1(**THESIS | {"epsilon": 1.0}),
}


def run(*, quick: bool = False) -> Table:
    count, samples = (4, 4) if quick else (12, 30)
    build = lambda solver: ducks(count, damping=2e-3, integrator=SDIRK2(solver))  # noqa: E731
    result = contest("DUCKS", build, SOLVERS, samples)
    switches = {name: result.runner(name).counts.switches for name in SOLVERS if name != "NEWTON-D"}
    published, whole = switches.values()
    inner = {name: result.runner(name).counts.inner for name in switches}
    solves = result.runner("HYBRID-L1").solves
    claims = [
        Claim("most solves of HYBRID-L1 end in the quasi-Newton phase", "yes", f"{solves - published} of {solves}",
              solves - published > 0.5 * solves),
        Claim("Adot over the whole step spares switches", "ours", f"{whole} against {published}", whole < published),
        Claim("and PCG iterations", "ours", " against ".join(str(n) for n in reversed(inner.values())),
              inner["HYBRID-L1, Adot over the step"] < inner["HYBRID-L1"]),
        all_converged(result.runners),
    ]  # fmt: skip
    notes = [f"{count} ducks, {result.vertices} vertices", *(iteration_note(result, name) for name in SOLVERS)]
    return Table("ldot/fig5_14", "Iterations per step, DUCKS", iteration_rows(result), claims, notes)


def figure(table: Table) -> Any:
    """Iterations over time, a curve for each solver."""
    return iteration_figure(table)
