"""contact/speed: cloth of many triangles on a sphere that moves, with self contact and friction: CPU time of a step.

Beside it soft ducks that fall into a bowl (penalties), and a pile of all kinds of bodies (barriers).

Of the solver's time it says what filling matrices, factoring, solving and forces (with all contact queries) take. An
earlier report had 499 s for 100 steps of 1,152 triangles on a moving sphere; its scene is not kept, so that the ratio
to it compares similar scenes, not the same one.
"""

from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np

from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import Rayleigh
from pliant.cloth.body import Cloth
from pliant.contact.obstacles import Sphere
from pliant.integrators import BDF1
from pliant.maps.motions import Keyframes
from pliant.mesh import sheet
from pliant.scene import Scene
from pliant.scenes.contact import ducks
from pliant.scenes.world_pile import mixed_pile
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact

BEFORE = 4.99  # s a step, 1,152 triangles
SIDE, RADIUS = 0.5, 0.1  # m
NOTES = [
    "CPU: of a step, the mean over all steps but the first two; fill, factor, solve, force: the parts of the solver in "
    "wall time, as parts of their sum. analyses: symbolic ones in the whole run; a matrix whose pairs in contact are "
    "not those of the last one needs another (a twentieth of the time at 1,156 triangles). reported: 4.99 s a step for "
    "1,152 triangles on a moving sphere, in a scene that is not kept: similar, but not this one.",
]


def run(*, quick: bool = False) -> Table:
    sizes = [(8, 6), (17, 6)] if quick else [(17, 100), (34, 40), (50, 20), (111, 5)]
    rows = [_row("cloth", moving_sphere(cells, steps)) for cells, steps in sizes]
    first, last = rows[0], rows[-1]
    slope = float(np.log(last["CPU [s]"] / first["CPU [s]"]) / np.log(last["triangles"] / first["triangles"]))
    small = next(r for r in rows if r["triangles"] > 1000)
    gain = BEFORE / small["CPU [s]"]
    anew = max(r["analyses"] / max(r["steps"] * r["iterations / step"], 1.0) for r in rows if quick or r["steps"] > 20)
    claims = [
        Claim(
            f"{small['triangles']:,} triangles: times faster than reported for a similar scene",
            ">= 10",
            f"{gain:.1f}",
            gain >= 10.0,
        ),
        Claim("slope of the time of a step over triangles", "<= 1.2", f"{slope:.2f}", slope <= 1.2),
        Claim("iterations with a new symbolic analysis, part of all", "< 0.25", f"{anew:.2f}", anew < 0.25),
        Claim("analyses in a run", "1", f"{max(r['analyses'] for r in rows)}", max(r["analyses"] for r in rows) == 1),
    ]
    few = 3 if quick else 20  # the first ducks meet in the fourth step, the last bodies of the pile in the twelfth
    rows.append(_row("ducks", replace(ducks(4 if quick else 20, integrator=BDF1()), duration=few * 1e-2)))
    rows.append(_row("pile", mixed_pile(6, duration=few * 1e-2)))
    plot = Plot("triangles", "CPU [s]", log="xy")
    return Table(
        "contact/speed", "Cloth on a moving sphere with self contact, ducks, a pile", rows, claims, NOTES, plot=plot
    )


def moving_sphere(cells: int, steps: int) -> Scene:
    """A square of cloth of 4 cells^2 triangles, just above a sphere that rises and moves sideways."""
    mesh = sheet((SIDE, SIDE), (cells, cells))
    mesh = mesh.transformed(translate=-0.5 * (mesh.bounds[0] + mesh.bounds[1]))
    way = Keyframes((0.0, 1.0), ((0.0, 0.0, 0.0), (0.3, 0.0, 0.1)))
    sphere = Sphere((0.0, 0.0, -RADIUS - 2e-3), RADIUS, motion=way)
    return Scene(
        [Cloth(mesh, damping=Rayleigh(alpha=1.0))],
        contact=BarrierContact(mu=0.3),
        obstacles=[sphere],
        integrator=BDF1(),
        h=5e-3,
        duration=steps * 5e-3,
    )


def _row(what: str, scene: Scene) -> dict[str, Any]:
    used, iterations, contacts, analyses = [], [], 0, 0
    parts = dict.fromkeys(("fill", "factor", "solve", "force"), 0.0)
    begun = process_time()
    for step in simulate(scene):
        now = process_time()
        used.append(now - begun)
        begun = now
        iterations.append(step.report.iterations)
        contacts, analyses = step.report.contacts or 0, analyses + step.report.counts.analyses
        for name in parts:
            parts[name] += step.report.seconds.get(name, 0.0)
    total = max(sum(parts.values()), 1e-300)
    triangles = sum(len(mesh.surface()) for mesh in step.system.contact.setting.meshes)
    return {
        "scene": what,
        "triangles": triangles,
        "steps": len(used),
        "iterations / step": round(float(np.mean(iterations)), 1),
        "contacts at the end": contacts,
        "analyses": analyses,
        "CPU [s]": float(np.mean(used[2:])),
        **{name: round(value / total, 3) for name, value in parts.items()},
    }
