"""ldot/fig5_5: BAR with other stiffness, Poisson's ratio, heterogeneity, anisotropy. [Weidner2022, Fig. 5.5]

Every solver solves the same 30 steps of the script (see `pliant.bench.samples`). About an hour on one core.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from pliant.bench.ldot.contest import RULE, SIX, THREE, bar_case, wall_clock_figure
from pliant.bench.parts import Plays, Share, played
from pliant.bench.samples import Contest, contest, upright
from pliant.bench.table import Claim, Table

CASES: dict[str, dict[str, Any]] = {
    "E=6e3": {"E": 6e3},
    "E=2e4": {},
    "E=5e4": {"E": 5e4},
    "E=1e5": {"E": 1e5},
    "nu=0.42": {"nu": 0.42},
    "hetero": {"E": (8e3, 2e4)},
    "aniso": {"fibre": 4e4},
}
PUBLISHED = ("NEWTON-D", "HYBRID-L1 published")
STIFFNESS = ("E=6e3", "E=2e4", "E=5e4", "E=1e5")
figure = wall_clock_figure


def contests(quick: bool) -> Plays[Contest]:
    return {case: partial(_play, case, quick) for case in CASES}


def _play(case: str, quick: bool, share: Share) -> Contest:
    return contest(case, bar_case(quick, **CASES[case]), SIX, share=share)


def run(*, quick: bool = False) -> Table:
    done = played(contests(quick))
    rows = [row for result in done.values() for row in result.rows("NEWTON-D")]
    claims = [*stiffness(done), *variations(done), *as_published(done), *upright(done.values())]
    return Table("ldot/fig5_5", "Early factors on variations of BAR", rows, claims, [RULE])


def stiffness(done: dict[str, Contest]) -> list[Claim]:
    """LD-3 over the four Young's moduli."""
    gains = [done[c].ratio("NEWTON-D", "HYBRID-L1") for c in STIFFNESS]
    newton = [done[c].seconds("NEWTON-D") for c in STIFFNESS[1:]]
    steady = max(newton) / min(newton)
    return [
        _softest(done, THREE, "for all"),
        Claim("LD-3 HYBRID-L1 loses advantage as E grows", "yes", _listed(gains), gains[-1] < gains[0]),
        Claim("LD-3 NEWTON-D keeps its speed from E=2e4 on", "yes", f"within {steady:.2f}x", steady < 1.25),
    ]


def variations(done: dict[str, Contest]) -> list[Claim]:
    """LD-3 on Poisson's ratio, and what the thesis says of its other two panels."""
    ratio = {n: done["nu=0.42"].runner(n).iterations / done["E=2e4"].runner(n).iterations for n in THREE}
    out = [Claim("LD-3 nu=0.42 needs fewer iterations", "yes", _named(ratio), max(ratio.values()) < 1.0)]
    return out + [_slower(done, case, THREE, "slows all") for case in ("hetero", "aniso")]


def as_published(done: dict[str, Contest]) -> list[Claim]:
    """Where ours differ, the cause is their exact tangent: what softness and fibres cost are iterations with projected
    blocks, which they do not need.
    """
    return [
        _softest(done, PUBLISHED, "as published"),
        *(_slower(done, case, PUBLISHED, "slows, as published") for case in ("hetero", "aniso")),
    ]


def _softest(done: dict[str, Contest], solvers: Iterable[str], whose: str) -> Claim:
    spent = {n: [done[c].seconds(n) for c in STIFFNESS] for n in solvers}
    shown = "; ".join(f"{n} " + ", ".join(f"{t:.2f}" for t in times) for n, times in spent.items())
    holds = all(times[0] == max(times) for times in spent.values())
    return Claim(f"LD-3 softest BAR slowest {whose}", "yes", f"{shown} s/step", holds)


def _slower(done: dict[str, Contest], case: str, solvers: Iterable[str], whom: str) -> Claim:
    slower = {n: done[case].seconds(n) / done["E=2e4"].seconds(n) for n in solvers}
    return Claim(f"{case} {whom}", "yes", _named(slower), min(slower.values()) > 1.0)


def _listed(numbers: list[float]) -> str:
    return ", ".join(f"{x:.2f}x" for x in numbers)


def _named(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name} {x:.2f}" for name, x in numbers.items())
