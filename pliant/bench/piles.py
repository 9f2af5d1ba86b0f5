"""Piles under barriers, watched step by step by routines that know nothing of the barrier.

Do edges meet triangles (exact, touching counts), are vertices inside foreign tetrahedra, is one behind the wall of the
bowl?
"""

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.attempt import StepFailed
from pliant.bench.table import Claim
from pliant.bench.workers import WORKERS, spread
from pliant.contact.intersect import intersections
from pliant.contact.pairs import PairDetector
from pliant.mesh.topology import edges
from pliant.scene import Scene
from pliant.scenes.world_pile import mixed_pile
from pliant.simulate import simulate
from pliant.systems.coupled import Coupled


def mixed_piles(seeds: int, bodies: int, duration: float, *, alone: bool = False) -> list[dict[str, Any]]:
    """A row for every seed, by all workers unless ``alone``, with the CPU time [s] that it took."""
    work = partial(_mixed_pile, bodies=bodies, duration=duration)
    return list(spread(work, range(seeds), workers=1 if alone else WORKERS))


def _mixed_pile(seed: int, *, bodies: int, duration: float) -> dict[str, Any]:
    start = process_time()
    row = watched(mixed_pile(bodies, seed=seed, duration=duration), seed, touchable)
    return {**row, "CPU [s]": process_time() - start}


def touchable(system: Coupled, q: Array) -> Array:
    """The points (n, 3) that can touch."""
    x: Array = system.touchable.lift(q)
    return x.reshape(-1, 3)


def watched(scene: Scene, seed: int, points: Callable[[Any, Array], Array]) -> dict[str, Any]:
    """One row: the run of a pile in a bowl; ``points(system, q)`` (n, 3) are those of its contact."""
    setting, bowl = scene.system().contact.setting, scene.obstacles[0]
    F = np.concatenate([m.surface() + o for m, o in zip(setting.meshes, setting.offsets, strict=False)])
    E = edges(F)
    inside = PairDetector(setting.meshes, setting.offsets, group=setting.group, self_contact=False)
    crossed = steps = iterations = failed = most = 0
    nearest = np.inf
    try:
        for step in simulate(scene):
            x = points(step.system, step.state.q)
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


def claims(rows: list[dict[str, Any]]) -> list[Claim]:
    """What the runs say together."""
    crossed, failed = sum(r["intersections"] for r in rows), sum(r["failed"] for r in rows)
    steps = sum(r["steps"] for r in rows)
    return [
        Claim(f"no intersection in {steps} steps of {len(rows)} piles", "0", str(crossed), crossed == 0),
        Claim("every step converged", "0 failures", str(failed), failed == 0),
    ]
