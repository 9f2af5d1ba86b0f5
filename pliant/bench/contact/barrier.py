"""contact/barrier: random piles of tumbling bodies; nothing may intersect, in any step, and every step converges.

After every step two routines that know nothing of the barrier look at the positions: do edges meet triangles (exact,
touching counts), are vertices inside foreign tets.
"""

import numpy as np

from pliant.arrays import IntArray
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.contact.intersect import intersections
from pliant.contact.obstacles import Bowl
from pliant.contact.pairs import PairDetector
from pliant.integrators import BDF1
from pliant.maps.motions import rotation
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, ball, bar, box
from pliant.mesh.topology import edges
from pliant.scene import Scene
from pliant.simulate import StepFailed, simulate
from pliant.solvers import Newton
from pliant.systems.barrier_contact import BarrierContact

# exact tangents where they are definite: projected ones creep at the end of a solve that slides along a barrier
SOLVER = Newton(project="on_demand", max_iterations=300)


def pile(seed: int, count: int = 20, duration: float = 0.5) -> Scene:
    """``count`` boxes, balls and bars, turned at random, thrown into a bowl."""
    rng = np.random.default_rng(seed)
    shapes = [
        box(size=(0.08, 0.08, 0.08), cells=(1, 1, 1)),
        ball(radius=0.05, cells=3),
        bar(size=(0.12, 0.04, 0.04), cells=(3, 1, 1)),
    ]
    material = StableNeoHookean(1e5, 0.4)
    pitch = 0.16
    bodies = []
    for k in range(count):
        mesh = shapes[k % 3]
        centred = mesh.transformed(translate=-0.5 * (mesh.bounds[0] + mesh.bounds[1]))
        place = pitch * np.array([k % 2 - 0.5, (k // 2) % 2 - 0.5, k // 4]) + 0.005 * rng.normal(size=3)
        placed = centred.transformed(rotate=rotation(rng.normal(size=3)), translate=place)
        bodies.append(Solid(placed, material, velocity=tuple(rng.normal(size=3) * 0.5 - (0, 0, 1.0)), name=f"body {k}"))
    bowl = Bowl(center=(0.0, 0.0, 0.28), radius=0.4)
    contact = BarrierContact(dhat=1e-3, mu=0.2)
    return Scene(
        bodies,
        contact=contact,
        obstacles=[bowl],
        integrator=BDF1(SOLVER),
        h=1e-2,
        duration=duration,
        name=f"pile-{seed}",
    )


def surface(scene: Scene) -> IntArray:
    """All surface triangles in the scene's numbering."""
    meshes: list[Mesh] = [b.mesh for b in scene.bodies]
    return np.concatenate([m.surface() + o for m, o in zip(meshes, scene.offsets(), strict=False)])


def run(*, quick: bool = False) -> Table:
    seeds, duration = (2, 0.25) if quick else (30, 0.5)
    rows = [_run(seed, duration) for seed in range(seeds)]
    crossed, failed = sum(r["intersections"] for r in rows), sum(r["failed"] for r in rows)
    steps = sum(r["steps"] for r in rows)
    claims = [
        Claim(f"no intersection in {steps} steps of {seeds} piles", "0", str(crossed), crossed == 0),
        Claim("every step converged", "0 failures", str(failed), failed == 0),
    ]
    return Table("contact/barrier", "Piles under barrier contact, h = 10 ms", rows, claims)


def _run(seed: int, duration: float) -> dict[str, float]:
    scene = pile(seed, duration=duration)
    F = surface(scene)
    E = edges(F)
    bowl = scene.obstacles[0]
    inside = PairDetector([b.mesh for b in scene.bodies], scene.offsets())
    crossed = steps = iterations = failed = most = 0
    nearest = np.inf
    try:
        for step in simulate(scene):
            x = step.state.q.reshape(-1, 3)
            crossed += len(intersections(x, E, F, touching=True)) + len(inside.hits(x).vertex)
            crossed += int((bowl.distance(x)[0] <= 0.0).sum())
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
