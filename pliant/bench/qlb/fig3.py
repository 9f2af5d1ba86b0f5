"""qlb/fig3: ND, QLF and QLB over BAR and ARMA with everything varied that the paper varies. [QLB2021, Fig. 3 a-h]

ND-exact (projection on demand) is added as the honest opponent: with projection always on, Newton is only linearly
convergent. QLB is the paper's; ours factors at the guess, in single precision, and anew after 20 iterations. Every
solver solves the same 30 steps of each script (see `pliant.bench.samples`; PLIANT_BENCH_STEPS=all runs the whole
scripts). "BAR, 40 %" has the script under whose compression the bar folds. About two hours on one core.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from pliant.bench.parts import Plays, Share, played
from pliant.bench.samples import Build, Contest, contest, upright
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF1, BDF2, Quasistatic
from pliant.mesh import bar as bar_mesh
from pliant.mesh import figure as figure_mesh
from pliant.scene import Scene
from pliant.scenes.qlb import arma, armadillo, bar
from pliant.solvers import ND, QLB, QLF, Newton
from pliant.solvers.qlb import AS_PUBLISHED

OURS = "QLB (ours)"
SOLVERS: dict[str, Any] = {
    "ND": ND(),
    "ND-exact": Newton(chords=0),
    "QLF": QLF(),
    "QLB": QLB(**AS_PUBLISHED),
    OURS: QLB(),
}
PAPER = ("ND", "QLF", "QLB")
STIFF, DAMPED, STVK, FOLDED = "BAR E=1e5", "ARMA damping=1e-6", "ARMA StVK", "BAR, 40 %"
PANELS: dict[str, tuple[str, ...]] = {
    "a Young's modulus": ("BAR E=6e3", "BAR", "BAR E=5e4", STIFF),
    "b Poisson's ratio": ("BAR nu=0.42", "BAR"),
    "c heterogeneity": ("BAR", "BAR hetero"),
    "d anisotropy": ("BAR", "BAR aniso"),
    "e integrator": ("BAR quasistatic", "BAR BDF1", "BAR"),
    "f damping": ("ARMA", DAMPED),
    "g material": ("ARMA", STVK),
    "h time step": ("ARMA h=5e-3", "ARMA", "ARMA h=2e-2"),
}


def cases(quick: bool) -> dict[str, Build]:
    """Every case as a function of the solver. BAR is E = 2e4, nu = 0.49, BDF2; ARMA is SNH, no damping, h = 1e-2."""
    block: dict[str, Any] = {"mesh": bar_mesh(size=(0.3, 0.1, 0.1), cells=(18, 6, 6))} if quick else {}
    body: dict[str, Any] = {"mesh": figure_mesh(cells=14) if quick else armadillo()}
    return {
        "BAR E=6e3": _case(bar, E=6e3, **block),
        "BAR": _case(bar, **block),
        "BAR E=5e4": _case(bar, E=5e4, **block),
        STIFF: _case(bar, E=1e5, **block),
        "BAR nu=0.42": _case(bar, nu=0.42, **block),
        "BAR hetero": _case(bar, E=(6e4, 2e4), **block),
        "BAR aniso": _case(bar, fibre=3e4, **block),
        "BAR BDF1": _case(bar, BDF1, **block),
        FOLDED: _case(bar, compression=0.4, **block),
        "BAR quasistatic": _case(bar, Quasistatic, damping=0.0, **block),
        "ARMA": _case(arma, **body),
        DAMPED: _case(arma, damping=1e-6, **body),
        STVK: _case(arma, material="stvk", **body),
        "ARMA h=5e-3": _case(arma, h=5e-3, **body),
        "ARMA h=2e-2": _case(arma, h=2e-2, **body),
    }


def _case(build: Callable[..., Scene], integrator: Any = BDF2, **options: Any) -> Build:
    return lambda solver: build(integrator=integrator(solver), **options)


def contests(quick: bool) -> Plays[Contest]:
    return {case: partial(_play, case, build) for case, build in cases(quick).items()}


def _play(case: str, build: Build, share: Share) -> Contest:
    return contest(case, build, SOLVERS, share=share)


def run(*, quick: bool = False) -> Table:
    done = played(contests(quick))
    rows = [row for result in done.values() for row in result.rows("ND")]
    notes = [
        "CPU seconds of one thread per time step; counts per time step; every solver solves the same sampled steps.",
        "The paper's machine: i7-7700, CHOLMOD with MKL.",
        "apart: largest distance from ND's root, in sizes of the scene, in steps that both solved.",
        "ND-exact has the exact elastic Hessian; the part of Green damping that is not symmetric is dropped by all.",
    ]
    return Table("qlb/fig3", "QLB against Newton and a frozen factor", rows, claims(done), notes)


def claims(done: dict[str, Contest]) -> list[Claim]:
    """QLB-1 to QLB-4 and QLB-6, each where its cases were run."""
    judged = (
        (stiff, (STIFF,)),
        (growth, ("BAR E=6e3", STIFF)),
        (poisson, ("BAR", "BAR nu=0.42")),
        (inhomogeneous, ("BAR", "BAR hetero", "BAR aniso")),
        (integrators, ("BAR", "BAR BDF1", "BAR quasistatic")),
        (armadillos, ("ARMA", DAMPED, STVK, "ARMA h=5e-3", "ARMA h=2e-2")),
    )
    out = [claim for judge, needed in judged if set(needed) <= set(done) for claim in judge(done)]
    gain = {c: r.ratio("QLB", OURS) for c, r in done.items()}
    out.append(Claim("our QLB not slower than the paper's", "ours", _shown(gain), min(gain.values()) >= 1.0))
    far = {n: max((c.apart.get(n, 0.0) for c in done.values()), default=0.0) for n in SOLVERS if n != "ND"}
    out.append(Claim("same root as ND", "1e-6 of the size", _shown(far, ".0e"), max(far.values()) <= 1e-6))
    unfolded = [c for case, c in done.items() if case != FOLDED]
    failed = {n: sum(c.runner(n).failures for c in unfolded) for n in SOLVERS}
    never = failed["ND"] + failed["QLB"] + failed[OURS] == 0
    out.append(Claim("ND and QLB never fail", "yes", _shown(failed, "d"), never))
    return out + upright(unfolded)


def stiff(done: dict[str, Contest]) -> list[Claim]:
    at = done[STIFF]
    return [
        _faster("QLB-1 BAR E=1e5", "7.9x (pass: >= 3x)", at, "ND", "QLB", 3.0),
        _faster("QLB-1 BAR E=1e5", "not in the paper", at, "ND-exact", "QLB", 1.0),
        _faster("QLB-1 BAR E=1e5", "faster", at, "QLF", "QLB", 1.0),
        _faster("BAR E=1e5", "7.9x", at, "ND", OURS, 7.9),
        _faster("BAR E=1e5", "not in the paper", at, "ND-exact", OURS, 1.0),
    ]


def growth(done: dict[str, Contest]) -> list[Claim]:
    grown = _relative(done, STIFF, "BAR E=6e3")
    holds = grown["QLB"] < min(grown["ND"], grown["QLF"])
    return [Claim("QLB-1 time from E=6e3 to 1e5 grows least for QLB", "yes", _shown(grown), holds)]


def poisson(done: dict[str, Contest]) -> list[Claim]:
    quicker = _relative(done, "BAR nu=0.42", "BAR")
    fastest = [_fastest(done[c]) for c in ("BAR", "BAR nu=0.42")]
    return [
        Claim("QLB-2 nu=0.42 faster than 0.49 for all three", "yes", _shown(quicker), max(quicker.values()) < 1.0),
        Claim("QLB-2 QLB fastest for both", "yes", ", ".join(fastest), set(fastest) == {"QLB"}),
    ]


def inhomogeneous(done: dict[str, Contest], aniso: str = "BAR aniso") -> list[Claim]:
    by = _relative(done, aniso, "BAR")
    out = [slowed(done, "BAR hetero"), slowed(done, aniso)]
    least = min(by, key=lambda n: by[n])
    return [*out, Claim(f"QLB-3 {aniso.removeprefix('BAR ')} slows QLB least", "yes", _shown(by), least == "QLB")]


def slowed(done: dict[str, Contest], case: str) -> Claim:
    """That a case costs all three more than the default bar."""
    by = _relative(done, case, "BAR")
    return Claim(f"QLB-3 {case.removeprefix('BAR ')} slows all three", "yes", _shown(by), min(by.values()) > 1.0)


def first_order(done: dict[str, Contest], case: str = "BAR BDF1") -> Claim:
    by = _relative(done, case, "BAR")
    return Claim(
        f"QLB-4 {case.removeprefix('BAR ')} like BDF2",
        "about equal",
        _shown(by),
        all(0.67 < r < 1.5 for r in by.values()),
    )


def integrators(done: dict[str, Contest]) -> list[Claim]:
    first, still = _relative(done, "BAR BDF1", "BAR"), _relative(done, "BAR quasistatic", "BAR")
    slowest = all(still[n] > max(1.0, first[n]) for n in PAPER)
    return [
        first_order(done),
        Claim("QLB-4 quasistatic slowest for all three", "yes", _shown(still), slowest),
        Claim("QLB-4 quasistatic slows QLB least", "yes", _shown(still), min(still, key=lambda n: still[n]) == "QLB"),
    ]


def armadillos(done: dict[str, Contest]) -> list[Claim]:
    at = done["ARMA"]
    won = {c: _fastest(done[c]) for c in done if c.startswith("ARMA")}
    first = sum(n == "QLB" for n in won.values())
    return [
        _faster("QLB-6 ARMA", "3.1x (pass: >= 1.5x)", at, "ND", "QLB", 1.5),
        _faster("QLB-6 ARMA", "3.9x (pass: >= 1.5x)", at, "QLF", "QLB", 1.5),
        _faster("ARMA", "3.1x", at, "ND", OURS, 3.1),
        _faster("ARMA", "not in the paper", at, "ND-exact", OURS, 1.0),
        Claim("QLB-6 fastest in all variants of ARMA", "yes", f"{first} of {len(won)}", first == len(won)),
        longest(done),
    ]


def longest(done: dict[str, Contest], cases: tuple[str, ...] = ("ARMA h=5e-3", "ARMA", "ARMA h=2e-2")) -> Claim:
    """That QLB gains least on ND in the last of the cases, the one with the longest step."""
    gain = {c: done[c].ratio("ND", "QLB") for c in cases}
    return Claim("QLB-6 gain smallest at h=2e-2", "yes", _shown(gain), min(gain, key=lambda c: gain[c]) == cases[-1])


def figure(table: Table) -> Any:
    """The eight panels of the paper's Fig. 3, CPU time per step instead of that of the whole run."""
    from pliant.plots import sheet, wall_clock

    sheet_figure, grid = sheet(4, 2, (11.0, 11.0))
    for axes, (title, names) in zip(grid.ravel(), PANELS.items(), strict=True):
        rows = [row for name in names for row in table.rows if row["case"] == name]
        if rows:
            wall_clock(axes, rows, seconds="CPU s/step")
        axes.set_title(title, fontsize="medium")
    return sheet_figure


def _faster(what: str, paper: str, at: Contest, slow: str, fast: str, least: float) -> Claim:
    """That one solver is ``least`` times faster than another."""
    return Claim(f"{what}: {fast} against {slow}", paper, at.faster(slow, fast), at.ratio(slow, fast) >= least)


def _relative(done: dict[str, Contest], case: str, to: str) -> dict[str, float]:
    """How much more time the paper's solvers need for one case than for another."""
    return {n: done[case].seconds(n) / done[to].seconds(n) for n in PAPER}


def _fastest(result: Contest) -> str:
    return min(PAPER, key=result.seconds)


def _shown(numbers: dict[str, Any], form: str = ".2f") -> str:
    return ", ".join(f"{name} {number:{form}}" for name, number in numbers.items())
