"""chen/table3_2: running time on the coarse mesh, with EigenFit, on the fine mesh. [Chen2019, Table 3.2]"""

from typing import Any

import numpy as np

from pliant.bench.chen.coarse import simulate, systems
from pliant.bench.table import Claim, Table
from pliant.integrators import ImplicitMidpoint, LinearlyImplicit
from pliant.materials import ARAP, Linear
from pliant.scenes.chen_coarse import notes, pair
from pliant.state import Counts

PAPER = {
    ("arm", "ARAP"): (219, 444, 839),
    ("armadillo", "linear"): (224, 300, 1387),
    ("armadillo", "ARAP"): (198, 546, 2399),
    ("bar", "linear"): (335, 386, 1683),
}


FRAMES = 60  # of the coarse mesh; a third on the fine one, whose steps all cost the same


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    claims = []
    for (name, kind), paper in PAPER.items():
        if quick and (name, kind) != ("arm", "ARAP"):
            continue
        ms, counts = measured(name, kind == "linear", FRAMES // 5 if quick else FRAMES)
        over, thesis = ms["EigenFit"] / ms["coarse"], paper[1] / paper[0]
        rows.append({
            "mesh": name, "material": kind,
            **{f"{n} [ms/step]": round(ms[n], 1) for n in ("coarse", "EigenFit", "fine")},
            "EigenFit/coarse": round(over, 2), "thesis": round(thesis, 2),
            "EigenFit/fine": round(ms["EigenFit"] / ms["fine"], 2), "thesis, fine": round(paper[1] / paper[2], 2),
            "right-hand sides/step": round(counts.solves / FRAMES if not quick else 5 * counts.solves / FRAMES, 1),
            "factorizations": counts.factorizations,
        })  # fmt: skip
        text = f"{ms['coarse']:.1f}, {ms['EigenFit']:.1f}, {ms['fine']:.1f} ms"
        claims.append(Claim(f"{name} {kind}: coarse < EigenFit < fine", "{}, {}, {} s".format(*paper), text,
                            ms["coarse"] < ms["EigenFit"] < ms["fine"]))  # fmt: skip
        claims.append(Claim(f"{name} {kind}: EigenFit/coarse", f"{thesis:.2f}", f"{over:.2f}", over <= thesis))
    used = dict.fromkeys(str(r["mesh"]) for r in rows)
    remarks = [
        "linear materials keep the modes of the rest state; the others are followed from step to step",
        "mean CPU time of a step, the better of two interleaved runs; the fine mesh is run once, for a third as long",
    ]
    return Table("chen/table3_2", "Cost of EigenFit", rows, claims, [*notes(*used), *remarks])


def measured(name: str, linear: bool, frames: int) -> tuple[dict[str, float], Counts]:
    """Milliseconds per step, the first two left out (analyses), by method; and the work of EigenFit's steps."""
    material: Any = Linear(E=1e5, nu=0.45) if linear else ARAP(E=1e6)
    body = pair(name, material, shaken=not linear)
    built = systems(body, 10, linear, ("coarse", "EigenFit"))
    integrator: Any = ImplicitMidpoint() if linear else LinearlyImplicit()
    turns = 0.05 if linear else 0.0
    ms: dict[str, float] = {}
    for _ in range(2):
        runs = simulate(body, {n: built[n] for n in ("coarse", "EigenFit")}, integrator, frames, turns=turns)
        for n, r in runs.items():
            ms[n] = min(ms.get(n, np.inf), 1e3 * float(np.mean(r.seconds[2:])))
    fine = simulate(body, {"fine": built["fine"]}, integrator, max(frames // 3, 4), turns=turns)["fine"]
    ms["fine"] = 1e3 * float(np.mean(fine.seconds[2:]))
    return ms, sum(runs["EigenFit"].counts, Counts())
