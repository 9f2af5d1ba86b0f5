"""contact/barrier: random piles of tumbling bodies; nothing may intersect, in any step, and every step converges."""

import numpy as np

from pliant.bench.piles import claims, watched
from pliant.bench.table import Table
from pliant.bodies import Solid
from pliant.contact.obstacles import Bowl
from pliant.integrators import BDF1
from pliant.maps.motions import rotation
from pliant.materials import StableNeoHookean
from pliant.mesh import ball, bar, box
from pliant.scene import Scene
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
        centered = mesh.transformed(translate=-0.5 * (mesh.bounds[0] + mesh.bounds[1]))
        place = pitch * np.array([k % 2 - 0.5, (k // 2) % 2 - 0.5, k // 4]) + 0.005 * rng.normal(size=3)
        placed = centered.transformed(rotate=rotation(rng.normal(size=3)), translate=place)
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


def run(*, quick: bool = False) -> Table:
    seeds, duration = (2, 0.25) if quick else (30, 0.5)
    points = lambda system, q: q.reshape(-1, 3)
    rows = [watched(pile(seed, duration=duration), seed, points) for seed in range(seeds)]
    return Table("contact/barrier", "Piles under barrier contact, h = 10 ms", rows, claims(rows))
