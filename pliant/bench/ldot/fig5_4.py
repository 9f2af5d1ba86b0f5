"""ldot/fig5_4: all solvers on the default BAR (E = 2e4, nu = 0.49, quasistatic). [Weidner2022, Fig. 5.4]

Every solver solves the same 30 steps of the script (see `pliant.bench.samples`). `ldot/folded` has the script that
compresses by 40 %, where the bar folds. About 15 minutes on one core.
"""

from pliant.bench.ldot.contest import CONTESTANTS, RULE, bar_case, wall_clock_figure
from pliant.bench.parts import Plays, played
from pliant.bench.race import all_converged
from pliant.bench.samples import Contest, contest, upright
from pliant.bench.table import Claim, Table

figure = wall_clock_figure


def contests(quick: bool) -> Plays[Contest]:
    return {"BAR": lambda share: contest("BAR", bar_case(quick), CONTESTANTS, share=share)}


def run(*, quick: bool = False) -> Table:
    result = played(contests(quick))["BAR"]
    notes = [explained(result), frozen(result), RULE]
    return Table("ldot/fig5_4", "Early factors on BAR", result.rows("NEWTON-D"), claims(result), notes)


def claims(result: Contest) -> list[Claim]:
    """LD-1 for our solvers and the published ones, and what a user would compare: the exact Newton."""
    twice = ("2.12x (pass: >= 2)", 2.0)
    judged = (
        ("HYBRID-L1 against NEWTON-D", "HYBRID-L1", "NEWTON-D", "3.3x", 3.3),
        ("HYBRID-L1 against NEWTON-L0", "HYBRID-L1", "NEWTON-L0", *twice),
        ("HYBRID-L1 against the published NEWTON-L0", "HYBRID-L1", "NEWTON-L0 published", *twice),
        ("HYBRID-L1 against NEWTON-D, as published", "HYBRID-L1 published", "NEWTON-D", "3.3x", 3.3),
        ("HYBRID-L1 against NEWTON-L0, as published", "HYBRID-L1 published", "NEWTON-L0 published", *twice),
    )
    out = [
        Claim(f"LD-1 {what}", paper, result.faster(slow, fast), result.ratio(slow, fast) >= least)
        for what, fast, slow, paper, least in judged
    ]
    iterative, l1 = result.ratio("NEWTON-I", "NEWTON-D"), result.ratio("NEWTON-L1", "NEWTON-L0")
    out += [
        Claim("LD-1 NEWTON-I like NEWTON-D", "about equal", f"{iterative:.2f} of its time", 0.5 < iterative < 2.0),
        Claim("LD-1 NEWTON-L1 like NEWTON-L0", "about equal", f"{l1:.2f} of its time", 0.67 < l1 < 1.5),
    ]
    for name, slow in (("HYBRID-LP", "HYBRID-L1"), ("HYBRID-LP", "NEWTON-D exact"), ("QLB", "NEWTON-D exact")):
        holds, shown = result.ratio(slow, name) >= 1.0, result.faster(slow, name)
        out.append(Claim(f"{'LD-7 ' if 'L1' in slow else ''}{name} not slower than {slow}", "ours", shown, holds))
    far, distance = max(result.apart.items(), key=lambda item: item[1], default=("all", 0.0))
    return [
        *out,
        Claim("same root as NEWTON-D", "1e-6 of the size", f"{distance:.0e} ({far})", distance <= 1e-6),
        all_converged(result.runners),
        *upright([result]),
    ]


def frozen(result: Contest) -> str:
    """Why HYBRID-L1 gains over NEWTON-L0 what it does with projected tangents and not with exact ones."""
    inner = [result.runner(name).counts.inner / result.steps for name in ("NEWTON-L0 published", "NEWTON-L0")]
    return (
        f"NEWTON-L0 makes {inner[0]:.0f} PCG iterations per step as published and {inner[1]:.0f} with the exact tangent"
        " and new factors where they pay: what HYBRID-L1 saves of them is then worth about its second factorization."
    )


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
