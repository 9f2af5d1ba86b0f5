"""qlb/fig4c: DUCKS, soft ducks falling into a bowl, with and without the transient blocks. [QLB2021, Fig. 4c]

QLB is the paper's: one factor for a whole solve, made at the start of the step. Where ducks meet within a step it does
not know their contacts, so the rows at the guess and ours (the default of the framework) stand beside it.
"""

from typing import Any

from pliant.bench.contact.duel import OURS, Duel, duel
from pliant.bench.parts import Plays, played
from pliant.bench.samples import SAMPLES
from pliant.bench.table import Claim, Table
from pliant.scenes.contact import ducks
from pliant.solvers import ND, QLB, QLF, Newton
from pliant.solvers.qlb import AS_PUBLISHED

GUESS: dict[str, Any] = AS_PUBLISHED | {"at": "guess"}


SOLVERS: dict[str, Any] = {
    "ND": ND(),
    "ND-exact": Newton(chords=0),
    "QLF": QLF(max_iterations=200),
    "QLB": QLB(**AS_PUBLISHED),
    "QLB at the guess": QLB(**GUESS),
    "QLB at the guess, H_P + H_T": QLB(**GUESS, coupled=True),
    OURS: QLB(),
    f"{OURS}, H_P + H_T": QLB(coupled=True),
}


def contests(quick: bool) -> Plays[Duel]:
    count, steps, samples = (12, 30, 3) if quick else (100, 200, SAMPLES)
    case = f"DUCKS {count}"
    return {case: lambda share: duel(case, ducks(count), SOLVERS, steps=steps, samples=samples, share=share)}


def run(*, quick: bool = False) -> Table:
    (result,) = played(contests(quick)).values()
    claims = []
    for name in ("QLB", OURS):
        r = result.runner(name)
        nd, exact, qlf = (result.ratio(slow, name) for slow in ("ND", "ND-exact", "QLF"))
        claims += [
            Claim(f"QLB-8 {name} converges on every step", "yes", f"{r.failures}/{r.solves} failed", not r.failures),
            Claim(f"QLB-8 {name} faster than ND", "2.9x", result.faster("ND", name), nd > 1.0),
            Claim(f"QLB-8 {name} faster than ND-exact", "-", result.faster("ND-exact", name), exact > 1.0),
            Claim(f"QLB-8 {name} faster than QLF", "5.8x", result.faster("QLF", name), qlf > 1.0),
            Claim(f"{name}: no analysis after the first with H_P", "0", str(r.counts.analyses), not r.counts.analyses),
        ]
    for name in ("QLB at the guess", OURS):
        split = result.ratio(f"{name}, H_P + H_T", name)
        claims.append(
            Claim(f"QLB-8 {name}: H_P not slower than H_P + H_T", "1.11x faster", f"{split:.2f}x", split >= 1.0)
        )
    share = max(result.share("QLB"), result.share(OURS))
    claims.append(Claim("detection at most 15 % of a step", "0.15", f"{share:.3f}", share <= 0.15))
    notes = [result.note(), "QLF gives up after 200 iterations of a solve, which is a failure"]
    return Table("qlb/fig4c", f"{result.case}: bodies in contact", result.rows(), claims, notes)
