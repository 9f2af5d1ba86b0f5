"""ldot/fig5_9: ARMADILLO with damping, other materials, integrators and step sizes. [Weidner2022, Fig. 5.9]

Every solver solves the same 30 steps of the run (see `pliant.bench.samples`); Baraff's step, which has no iterations,
is raced over ten steps with a new factor in each, with one factor for two, and with L and Ldot for two. About an hour
on one core.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.bench.ldot.contest import THREE, chosen, figure_case, wall_clock_figure
from pliant.bench.parts import Plays, Share, played
from pliant.bench.race import Runner, race, ratio
from pliant.bench.samples import Contest, contest, upright
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF1, LinearlyImplicit
from pliant.linear import PCG, Cholesky, Factor
from pliant.linear.dchol import dchol_difference

CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "damping=1e-6": {"damping": 1e-6},
    "StVK": {"material": "stvk"},
    "Corotational": {"material": "corotational"},
    "BDF1": {"integrator": BDF1},
    "h=5e-3": {"h": 5e-3},
    "h=2e-2": {"h": 2e-2},
}
SOLVED = 1e-6  # of PCG in Baraff's step, where no later iteration makes good what it leaves
figure = wall_clock_figure


def contests(quick: bool) -> Plays[Contest]:
    return {case: partial(_play, case, quick) for case in CASES}


def _play(case: str, quick: bool, share: Share) -> Contest:
    return contest(case, figure_case(quick, **CASES[case]), THREE | chosen("NEWTON-D exact", "QLB"), share=share)


def run(*, quick: bool = False) -> Table:
    done = played(contests(quick))
    rows = [row for result in done.values() for row in result.rows("NEWTON-D")]
    notes = [
        "Baraff's step solves one linear system and has no quasi-Newton phase: HYBRID-L1 is L and Ldot in one step, and"
        " in the next PCG with L + h Ldot; the thesis gives no number.",
        "A step of this motion takes Newton's method 3 to 5 iterations whatever is varied, so that times differ by what"
        " an iteration costs, to which damping and polar decompositions add; BDF1 takes more of them than BDF2, not"
        " fewer.",
    ]
    judged = [*claims(done), baraff(quick), *upright(done.values())]
    return Table("ldot/fig5_9", "Early factors on variations of ARMADILLO", rows, judged, notes)


def claims(done: dict[str, Contest]) -> list[Claim]:
    """LD-4, one statement after the other; numbers are times relative to the default."""
    times = {case: {n: r.seconds(n) / done["default"].seconds(n) for n in THREE} for case, r in done.items()}
    gain = {case: result.ratio("NEWTON-D", "HYBRID-L1") for case, result in done.items()}
    damped, stvk, corot, bdf1 = (times[c] for c in ("damping=1e-6", "StVK", "Corotational", "BDF1"))
    shown = ", ".join(f"{c} {gain[c]:.2f}x" for c in ("h=5e-3", "default", "h=2e-2"))
    most = min(bdf1, key=lambda n: bdf1[n])
    simple = max(corot["NEWTON-D"], corot["NEWTON-L0"])
    return [
        Claim("LD-4 damping speeds all up", "yes", _named(damped), max(damped.values()) < 1.0),
        Claim("LD-4 StVK slows all", "yes", _named(stvk), min(stvk.values()) > 1.0),
        Claim("LD-4 Corotational speeds NEWTON-D and L0 up", "dramatically", _named(corot), simple < 1.0),
        Claim("LD-4 Corotational slows HYBRID-L1 a little", "yes", _named(corot), corot["HYBRID-L1"] > 1.0),
        Claim("LD-4 BDF1 faster than BDF2 for all", "yes", _named(bdf1), max(bdf1.values()) < 1.0),
        Claim("LD-4 BDF1 gains most with HYBRID-L1", "yes", _named(bdf1), most == "HYBRID-L1"),
        Claim("LD-4 HYBRID-L1 keeps its advantage at h=5e-3", "yes", shown, gain["h=5e-3"] > 1.0),
        Claim("LD-4 and loses it at h=2e-2", "yes", shown, gain["h=2e-2"] < gain["default"]),
    ]


@dataclass(frozen=True)
class EveryOther:
    """A factor for two steps: the second is solved by PCG, preconditioned with the factor of the first."""

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> "Used":
        analysis, last = memory or (None, None)
        if last is not None:
            return Used(PCG(preconditioner=last, tolerance=SOLVED).factor(A), (analysis, None))
        factor = Cholesky().factor(A, analysis)
        return Used(factor, (factor.memory, factor))


@dataclass(frozen=True)
class Extrapolated:
    """L and Ldot for two steps: the second is solved by PCG with L + h Ldot; Adot is the change since the last step."""

    def factor(self, A: sp.csr_matrix, memory: Any = None) -> "Used":
        analysis, before, ahead = memory or (None, None, None)
        if ahead is not None:
            return Used(PCG(preconditioner=ahead, tolerance=SOLVED).factor(A), (analysis, A, None))
        if before is None:
            factor = Cholesky().factor(A, analysis)
            return Used(factor, (factor.memory, A, None))
        change = A.copy()
        change.indptr, change.indices, change.data = A.indptr, A.indices, A.data - before.data
        rate = dchol_difference(A, change, analysis)
        return Used(rate.extrapolated(0.0), (rate.memory, A, rate.extrapolated(1.0)))


@dataclass(frozen=True, eq=False)
class Used:
    """A factor; its memory is the analysis of the pattern and the factor that the next step may use once more."""

    last: Factor
    memory: Any

    @property
    def analysed(self) -> bool:
        return self.last.analysed

    @property
    def inner(self) -> int:
        return self.last.inner

    def solve(self, b: Array) -> Array:
        return self.last.solve(b)


def baraff(quick: bool, steps: int = 10) -> Claim:
    """LD-4 on the linearly implicit step: factors used for two steps, early or extrapolated, do not pay."""
    choices = {"NEWTON-D": Cholesky(), "NEWTON-L0": EveryOther(), "HYBRID-L1": Extrapolated()}
    build = figure_case(quick, integrator=lambda linear: LinearlyImplicit(linear=linear))
    runners = race([Runner(name, build(linear)) for name, linear in choices.items()], steps)
    time = {name: ratio(runners, name, "NEWTON-D") for name in choices if name != "NEWTON-D"}
    inner = ", ".join(f"{r.name} {r.counts.inner / steps:.1f}" for r in runners[1:])
    return Claim(
        "LD-4 Baraff: NEWTON-D best, even if factors serve two steps",
        "yes",
        f"of its time {_named(time)}; PCG iterations per step {inner}",
        min(time.values()) > 1.0,
    )


def _named(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name} {x:.2f}" for name, x in numbers.items())
