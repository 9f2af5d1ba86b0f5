"""ldot/fig5_13: BUNNY and DUCKS under the Ldot solvers. [Weidner2022, Fig. 5.13]

HYBRID-LP, one factor at the predictor instead of the two of L1, stands beside the thesis's solvers, and so do the exact
Newton and QLB, which a user would take. HYBRID-L1 sees contacts that close within a step (`Ldot.epsilon`); the
published one, with the derivative at its start, does not. About 15 minutes on one core.
"""

from functools import partial
from typing import Any

from pliant.bench.contact.duel import Duel, duel
from pliant.bench.ldot.contest import RULE, chosen
from pliant.bench.parts import Plays, Share, played
from pliant.bench.race import all_converged
from pliant.bench.samples import SAMPLES
from pliant.bench.table import Claim, Table
from pliant.mesh import long_eared
from pliant.scene import Scene
from pliant.scenes.contact import bunny, ducks

SUPERLU = 7.0  # times as slow as our factorization, of 30,000 unknowns (ldot/dchol)
SEVEN = ("NEWTON-D", "NEWTON-L0", "HYBRID-L1", "HYBRID-LP", "HYBRID-L1 published", "NEWTON-D exact", "QLB")
LANDING = "BUNNY, first 0.3 s"


def contests(quick: bool) -> Plays[Duel]:
    small: dict[str, Any] = {"mesh": long_eared(cells=8)} if quick else {}
    hare = bunny(E=5e4, damping=2e-2, h=3e-3, **small)
    plays = {"BUNNY": partial(_play, "BUNNY", hare, 60 if quick else 1000, 4 if quick else SAMPLES)}
    if not quick:
        plays[LANDING] = partial(_play, LANDING, hare, 100, SAMPLES)
    steps, samples = (20, 2) if quick else (200, SAMPLES)
    for count in (8,) if quick else (50, 100):
        case = f"DUCKS {count}"
        plays[case] = partial(_play, case, ducks(count, damping=2e-3), steps, samples)
    return plays


def _play(case: str, scene: Scene, steps: int, samples: int, share: Share) -> Duel:
    return duel(case, scene, chosen(*SEVEN), steps=steps, samples=samples, share=share)


def run(*, quick: bool = False) -> Table:
    done = played(contests(quick))
    duels, hare, landing = list(done.values()), done["BUNNY"], done.get(LANDING)
    flocks = [d for case, d in done.items() if case.startswith("DUCKS")]
    claims = [_faster(hare, slow, paper) for slow, paper in (("NEWTON-D", 2.35), ("NEWTON-L0", 1.43))]
    if landing is not None:
        gains = {d.case: d.ratio("NEWTON-D", "HYBRID-L1") for d in (landing, hare)}
        shown = ", ".join(f"{case} {gain:.2f}x" for case, gain in gains.items())
        better = gains[LANDING] > gains["BUNNY"]
        claims.append(
            Claim("cause: it lies still in most steps; HYBRID-L1 gains more while it lands", "-", shown, better)
        )
    claims += [_faster(flock, "NEWTON-D", 1.29) for flock in flocks]
    dearer = {flock.case: break_even(flock, 1.29) for flock in flocks}
    claims.append(
        Claim(
            "cause: our factorizations are cheap; with dearer ones it is 1.29x",
            f"SuperLU's are {SUPERLU:g} times as dear",
            ", ".join(f"{case} {times:.1f} times as dear" for case, times in dearer.items()),
            max(dearer.values()) <= SUPERLU,
        )
    )
    for d in duels:
        for slow in ("HYBRID-L1", "NEWTON-D"):
            holds, shown = d.ratio(slow, "HYBRID-LP") >= 1.0, d.faster(slow, "HYBRID-LP")
            claims.append(Claim(f"LD-7 {d.case}: HYBRID-LP not slower than {slow}", "ours", shown, holds))
    claims.append(all_converged(r for d in duels for r in d.runners))
    rows = [row for d in duels for row in d.rows()]
    notes = [d.note() for d in duels]
    notes += [
        RULE,
        "BUNNY lies still in most of its 3 s: two or three factorizations per stage are enough for Newton; the two of"
        " L and Ldot save nothing.",
    ]
    return Table("ldot/fig5_13", "BUNNY and DUCKS under the Ldot solvers", rows, claims, notes)


def break_even(result: Duel, gain: float) -> float:
    """How many times as long factorizations would have to take for HYBRID-L1 to gain that much on NEWTON-D."""
    newton, hybrid = (result.runner(name) for name in ("NEWTON-D", "HYBRID-L1"))
    factoring = [r.seconds * r.phases["factor"] / sum(r.phases.values()) for r in (newton, hybrid)]
    saved = factoring[0] - gain * factoring[1]
    return 1.0 + (gain * hybrid.seconds - newton.seconds) / saved if saved > 0.0 else float("inf")


def _faster(result: Duel, slow: str, paper: float) -> Claim:
    holds = result.ratio(slow, "HYBRID-L1") >= paper
    shown = result.faster(slow, "HYBRID-L1")
    return Claim(f"LD-5 {result.case}: HYBRID-L1 against {slow}", f"{paper}x", shown, holds)
