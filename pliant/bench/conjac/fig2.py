"""conjac/fig2: CPU time of one step by phase, for VANILLA and 0 to 10 dynamic nodes on DRAGON. [ConJac2020, Fig. 2]"""

from collections.abc import Sequence
from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.conjac.play import Stopwatch, cpu_clocks
from pliant.bench.table import Claim, Table
from pliant.integrators import ConJac, LinearlyImplicit
from pliant.mesh import serpent
from pliant.scene import Scene
from pliant.scenes.conjac import DRAGON, dragon, dragon_nodes

COUNTS = (0, 2, 4, 6, 8, 10)


def contestants(scene: Scene) -> dict[str, tuple[Any, Stopwatch]]:
    """VANILLA and ConJac with each number of nodes, each with a stopwatch on its linear algebra."""
    watches = [Stopwatch() for _ in range(len(COUNTS) + 1)]
    out: dict[str, tuple[Any, Stopwatch]] = {"VANILLA": (LinearlyImplicit(beta=0.5, linear=watches[0]), watches[0])}
    for k, watch in zip(COUNTS, watches[1:], strict=True):
        out[f"{k} nodes"] = (ConJac(dragon_nodes(scene, k), gamma=0.2, linear=watch), watch)
    return out


def split(integrator: Any, watch: Stopwatch, system: Any, state: Any, memory: Any) -> tuple[dict[str, float], Any]:
    """CPU milliseconds of one step by phase, and the memory for the next."""
    watch.factoring = watch.solving = 0.0
    start = process_time()
    step = integrator.step(system, state, 5e-3, memory)
    total = process_time() - start
    seconds = step.reports[0].seconds
    fill = seconds["fill"] + seconds.get("force", 0.0)  # VANILLA evaluates forces while it fills
    parts = {"fill": fill, "factor": watch.factoring, "solve": watch.solving}
    parts["other"] = total - sum(parts.values())
    return {name: 1e3 * value for name, value in parts.items()}, step.memory


def run(*, quick: bool = False) -> Table:
    scene = dragon(mesh=serpent(length=DRAGON, cells=45) if quick else None)
    system = scene.system()
    state = scene.initial(system)
    chosen = contestants(scene)
    best: dict[str, dict[str, float]] = {}
    memories: dict[str, Any] = dict.fromkeys(chosen)
    with cpu_clocks():
        for turn in range(4 if quick else 48):  # taking turns, so that a busy machine slows all alike
            for name, (integrator, watch) in chosen.items():
                parts, memories[name] = split(integrator, watch, system, state, memories[name])
                if turn > 0:  # the first has the analysis in it
                    best[name] = {k: min(v, best[name][k]) if name in best else v for k, v in parts.items()}
    for parts in best.values():
        parts["total"] = sum(parts.values())
    rows: list[dict[str, Any]] = []
    for name, parts in best.items():
        extra = 100.0 * (parts["total"] / best["VANILLA"]["total"] - 1.0)
        rows.append(
            {"method": name} | {f"{k} ms": round(v, 2) for k, v in parts.items()} | {"extra %": round(extra, 1)}
        )
    notes = [
        "CPU time, minima of every phase over all turns, total: their sum",
        "without nodes there is one right-hand side, which is solved by matrix-vector products",
        "columns of J are zero but for the path of their node: forward substitution skips the rest",
    ]
    return Table("conjac/fig2", f"Step cost on {len(system.X)} vertices", rows, claims(best), notes)


def claims(best: dict[str, dict[str, float]]) -> list[Claim]:
    vanilla = best["VANILLA"]
    cost = np.array([best[f"{k} nodes"]["total"] for k in COUNTS]) / vanilla["total"]
    r2, later = linearity(COUNTS, cost), linearity(COUNTS[1:], cost[1:])
    solve = linearity(COUNTS, np.array([best[f"{k} nodes"]["solve"] for k in COUNTS]))
    at = dict(zip(COUNTS, 100.0 * (cost - 1.0), strict=True))
    drift = max(
        abs(best[f"{k} nodes"][phase] / best["0 nodes"][phase] - 1.0) for k in COUNTS for phase in ("fill", "factor")
    )
    return [
        Claim("CJ-1 extra cost of 4 dynamic nodes", "+20 %", f"{at[4]:+.0f} %", bool(at[4] <= 20.0)),
        Claim("CJ-1 extra cost of 10 dynamic nodes", "+40 %", f"{at[10]:+.0f} %", bool(at[10] <= 40.0)),
        Claim("CJ-1 no dynamic nodes", "<= +15 %", f"{at[0]:+.0f} %", bool(at[0] <= 15.0)),
        Claim("CJ-1 linear in the number of nodes", "R^2 > 0.98", f"R^2 = {r2:.3f}", r2 > 0.98),
        Claim("CJ-1 linear from 2 nodes on", "R^2 > 0.98", f"R^2 = {later:.3f}", later > 0.98),
        Claim("CJ-1 solve linear in the number of nodes", "linearly", f"R^2 = {solve:.3f}", solve > 0.98),
        Claim("CJ-1 fill and factor do not grow", "within 10 %", f"{100 * drift:.0f} %", drift <= 0.10),
    ]


def linearity(counts: Sequence[int], cost: Array) -> float:
    """R^2 of a straight line through the costs."""
    fit = np.polyval(np.polyfit(counts, cost, 1), counts)
    return 1.0 - float(((cost - fit) ** 2).sum() / ((cost - cost.mean()) ** 2).sum())
