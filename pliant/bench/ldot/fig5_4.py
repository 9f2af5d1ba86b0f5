"""ldot/fig5_4: all solvers on the default BAR (E = 2e4, nu = 0.49, quasistatic). [Weidner2022, Fig. 5.4]

Every solver solves the same ten steps of the script (see `pliant.bench.samples`). About 20 minutes on one
core. LD-2, how often the hybrids switch, needs more steps: see ldot/fig5_7.
"""

from pliant.bench.ldot.contest import CONTESTANTS, RULE, bar_case, wall_clock_figure
from pliant.bench.samples import Contest, contest
from pliant.bench.table import Claim, Table

figure = wall_clock_figure


def run(*, quick: bool = False) -> Table:
    result = contest("BAR", bar_case(quick), CONTESTANTS)
    direct, frozen, early = (result.ratio(n, "HYBRID-L1") for n in ("NEWTON-D", "NEWTON-L0", "HYBRID-LP"))
    iterative, l1 = result.ratio("NEWTON-I", "NEWTON-D"), result.ratio("NEWTON-L1", "NEWTON-L0")
    printed = result.ratio("NEWTON-D", "HYBRID-L1 published")
    both = result.ratio("NEWTON-L0 published", "HYBRID-L1 published")
    far, distance = max(result.apart.items(), key=lambda item: item[1], default=("all", 0.0))
    claims = [
        Claim("LD-1 HYBRID-L1 against NEWTON-D", "3.3x (pass: > 1)", f"{direct:.2f}x", direct > 1.0),
        Claim("LD-1 HYBRID-L1 against NEWTON-L0", "2.12x (pass: > 1)", f"{frozen:.2f}x", frozen > 1.0),
        Claim("LD-1 HYBRID-L1 against NEWTON-D, as published", "3.3x (pass: > 1)", f"{printed:.2f}x", printed > 1.0),
        Claim("LD-1 HYBRID-L1 against NEWTON-L0, as published", "2.12x (pass: > 1)", f"{both:.2f}x", both > 1.0),
        Claim("LD-1 NEWTON-I like NEWTON-D", "about equal", f"{iterative:.2f} of its time", 0.5 < iterative < 2.0),
        Claim("LD-1 NEWTON-L1 like NEWTON-L0", "about equal", f"{l1:.2f} of its time", 0.67 < l1 < 1.5),
        Claim("LD-7 HYBRID-LP not slower than HYBRID-L1", "ours", f"{early:.2f} of its time", early <= 1.0),
        Claim(
            "same root as NEWTON-D",
            "1e-6 of the size",
            f"{distance:.0e} ({far})",
            distance <= 1e-6,
        ),
    ]
    return Table("ldot/fig5_4", "Early factors on BAR", result.rows("NEWTON-D"), claims, [explained(result), RULE])


def explained(result: Contest) -> str:
    """Why HYBRID-L1 gains what it gains, in counts and in the times of one factorization and one solve."""
    newton, hybrid = result.runner("NEWTON-D"), result.runner("HYBRID-L1")
    factor = newton.phases["factor"] / max(newton.counts.factorizations, 1)
    solve = hybrid.phases["solve"] / max(hybrid.counts.solves, 1)
    per = lambda count: f"{count / result.steps:.1f}"  # noqa: E731
    return (
        f"One factorization takes as long as {factor / solve:.0f} solves. Per step NEWTON-D makes "
        f"{per(newton.counts.factorizations)} factorizations; HYBRID-L1 makes {per(hybrid.counts.factorizations)} "
        f"(two of them for L and Ldot), {per(hybrid.counts.fills)} fills and {per(hybrid.counts.solves)} solves in "
        f"{per(hybrid.iterations)} iterations."
    )
