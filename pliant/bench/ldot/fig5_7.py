"""ldot/fig5_7: nonlinear iterations per time step over the BAR script, as a plot. [Weidner2022, Fig. 5.7]

30 steps spread over the script, solved by every solver from the same state (see `pliant.bench.samples`); HYBRID-L0
is there for the number of its switches, with ours and with the published choices. About 15 minutes on one core.
"""

from typing import Any

from pliant.bench.ldot.contest import THREE, bar_case, chosen, iteration_figure, iteration_rows
from pliant.bench.parts import Plays, played
from pliant.bench.samples import Contest, contest
from pliant.bench.table import Claim, Table

SOLVERS = THREE | chosen("HYBRID-L0", "HYBRID-L0 published", "HYBRID-L1 published")
COMPRESSED = 1.0  # s: until then BAR is compressed


def contests(quick: bool) -> Plays[Contest]:
    return {"BAR": lambda share: contest("BAR", bar_case(quick), SOLVERS, share=share)}


def run(*, quick: bool = False) -> Table:
    result = played(contests(quick))["BAR"].among(SOLVERS)  # the shares of fig5_4, which has more solvers, serve too
    peaks = {name: _peak(curve) for name, curve in result.iterations.items()}
    first = all(t <= COMPRESSED + 0.1 for t, _ in peaks.values())  # buckling ends a step or two after the compression
    shown = ", ".join(f"{name} {count} at {t:.2f} s" for name, (t, count) in peaks.items())
    claims = [
        Claim("LD-2 iterations highest in the initial compression", "yes", shown, first),
        *switched(result),
        *switched(result, " published"),
    ]
    return Table("ldot/fig5_7", "Iterations per step", iteration_rows(result), claims, result_notes(result))


def switched(result: Contest, whose: str = "") -> list[Claim]:
    """LD-2 on the switches to Newton's method, of our solvers or of the published ones."""
    frozen, hybrid = result.runner(f"HYBRID-L0{whose}"), result.runner(f"HYBRID-L1{whose}")
    few, many = hybrid.counts.switches, frozen.counts.switches
    said = f", as{whose}" if whose else ""
    against = f"{many} against {few} of {hybrid.solves}"
    return [
        Claim(f"LD-2 HYBRID-L0 switches more often than HYBRID-L1{said}", "yes", against, many > few),
        Claim(
            f"most steps of HYBRID-L1 end in the quasi-Newton phase{said}",
            "yes",
            f"{few} of {hybrid.solves} switch",
            few < 0.5 * hybrid.solves,
        ),
    ]


def figure(table: Table) -> Any:
    """Iterations over time, a curve for each solver."""
    return iteration_figure(table)


def result_notes(result: Contest) -> list[str]:
    """What the iterations cost."""
    rows = result.rows("NEWTON-D")
    kept = ("CPU s/step", "iterations", "factorizations", "fills", "solves", "switches", "failed", "NEWTON-D / this")
    return [f"{row['solver']}: " + ", ".join(f"{name} {row[name]}" for name in kept) for row in rows]


def _peak(curve: list[tuple[float, int]]) -> tuple[float, int]:
    """When most iterations were needed, and how many."""
    return max(curve, key=lambda point: point[1])
