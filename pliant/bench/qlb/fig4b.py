"""qlb/fig4b: BUNNY, a soft figure tumbling on a floor with friction and self contact. [QLB2021, Fig. 4b]

With friction a step may have several roots, so solvers are compared by residuals and counts, not by positions. Every
solver solves the same sampled steps: of the first half second, which holds the fall, the landing and the tumbling, and
of the whole three, most of which the figure lies still.
QLB is the paper's, ours is the default of the framework.
"""

from functools import partial
from typing import Any

from pliant.bench.contact.duel import OURS, Duel, duel
from pliant.bench.parts import Plays, Share, played
from pliant.bench.samples import SAMPLES
from pliant.bench.table import Claim, Table
from pliant.mesh import long_eared
from pliant.scene import Scene
from pliant.scenes.contact import bunny
from pliant.solvers import ND, QLB, QLF, Newton
from pliant.solvers.qlb import AS_PUBLISHED

SOLVERS: dict[str, Any] = {
    "ND": ND(),
    "ND-exact": Newton(chords=0),
    "QLF": QLF(max_iterations=200),
    "QLB": QLB(**AS_PUBLISHED),
    "QLB at the guess": QLB(**AS_PUBLISHED | {"at": "guess"}),
    OURS: QLB(),
}


def contests(quick: bool) -> Plays[Duel]:
    windows = {"landing": (60, 4)} if quick else {"landing": (100, SAMPLES), "whole": (600, SAMPLES)}
    scene = bunny(mesh=long_eared(cells=8)) if quick else bunny()
    return {part: partial(_play, f"BUNNY, {part}", scene, *window) for part, window in windows.items()}


def _play(case: str, scene: Scene, steps: int, samples: int, share: Share) -> Duel:
    return duel(case, scene, SOLVERS, steps=steps, samples=samples, share=share)


def run(*, quick: bool = False) -> Table:
    duels = played(contests(quick))
    claims = [claim for part, result in duels.items() for claim in judged(part, result)]
    qlf = duels["landing"].runner("QLF")
    claims.append(
        Claim("QLB-7 QLF fails, landing", "fails", f"{qlf.failures} of {qlf.solves} solves", qlf.failures > 0)
    )
    rows = [row for result in duels.values() for row in result.rows()]
    notes = [result.note() for result in duels.values()]
    return Table("qlb/fig4b", "BUNNY: contact with friction", rows, claims, notes)


def judged(part: str, result: Duel) -> list[Claim]:
    """QLB-7 on one part of the fall, for the published QLB and ours."""
    claims = []
    for name in ("QLB", OURS):
        r, nd, exact = result.runner(name), result.ratio("ND", name), result.ratio("ND-exact", name)
        made = r.counts.analyses
        claims += [
            Claim(f"QLB-7 {name} converges, {part}", "every step", f"{r.failures}/{r.solves} failed", r.failures == 0),
            Claim(f"QLB-7 {name} at least 2x faster than ND, {part}", "4.5x", result.faster("ND", name), nd >= 2.0),
            Claim(
                f"QLB-7 {name} faster than ND-exact, {part}",
                "not in the paper",
                result.faster("ND-exact", name),
                exact >= 1.0,
            ),
            Claim(f"{name}: analyses after the first with H_P, {part}", "0", str(made), made == 0),
        ]
    return claims
