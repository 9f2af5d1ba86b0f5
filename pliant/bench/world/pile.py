"""world/pile: seeded piles of mixed bodies under barriers; nothing may intersect in any step, every step converges.

After every step two routines that know nothing of the barrier look at the points of all bodies: do edges meet triangles
(exact, touching counts), are vertices inside foreign tetrahedra.
"""

from typing import Any

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.contact.intersect import intersections
from pliant.contact.pairs import PairDetector
from pliant.mesh.topology import edges
from pliant.scenes.world_pile import mixed_pile
from pliant.simulate import StepFailed, simulate


def run(*, quick: bool = False) -> Table:
    seeds, count, duration = (3, 6, 0.2) if quick else (30, 20, 0.5)
    return table([_run(seed, count, duration) for seed in range(seeds)], count)


def table(rows: list[dict[str, Any]], count: int) -> Table:
    """What the runs of piles of ``count`` bodies say together."""
    crossed, failed = sum(r["intersections"] for r in rows), sum(r["failed"] for r in rows)
    steps = sum(r["steps"] for r in rows)
    claims = [
        Claim(f"no intersection in {steps} steps of {len(rows)} piles", "0", str(crossed), crossed == 0),
        Claim("every step converged", "0 failures", str(failed), failed == 0),
    ]
    return Table("world/pile", f"Piles of {count} mixed bodies under barrier contact, h = 10 ms", rows, claims)


def _run(seed: int, count: int, duration: float) -> dict[str, Any]:
    scene = mixed_pile(count, seed=seed, duration=duration)
    system = scene.system()
    setting, bowl = system.contact.setting, scene.obstacles[0]
    faces = [m.surface() + o for m, o in zip(setting.meshes, setting.offsets, strict=False)]
    F = np.concatenate(faces)
    E = edges(F)
    inside = PairDetector(setting.meshes, setting.offsets, group=setting.group, self_contact=False)
    crossed = steps = iterations = failed = most = 0
    nearest = np.inf
    try:
        for step in simulate(scene):
            x = step.system.touchable.lift(step.state.q).reshape(-1, 3)
            hits = intersections(x, E, F, touching=True)
            a, b = (setting.group[setting.body[k]] for k in (E[hits[:, 0], 0], F[hits[:, 1], 0]))
            crossed += int(((a < 0) | (a != b)).sum())  # links of one chain meet in their joints
            crossed += len(inside.hits(x).vertex) + int((bowl.distance(x)[0] <= 0.0).sum())
            nearest = min(nearest, step.system.min_distance(step.state.q, step.state.t))
            steps, iterations = steps + 1, iterations + step.report.iterations
            most = max(most, step.report.contacts or 0)
    except StepFailed:
        failed = 1
    return {
        "seed": seed,
        "bodies": len(scene.bodies),
        "steps": steps,
        "iterations": iterations,
        "most contacts": most,
        "nearest [m]": float(nearest),
        "intersections": crossed,
        "failed": failed,
    }
