"""conjac/barcut: a stretched bar is cut twice while it moves. [ConJac2020, Fig. 7; Weidner2022, sec. 4.5]

The sources give 5 to 15 cm for their bars. Of 15 cm the two thirds that the first cut leaves hang down from their clamp
and fold there: elements turn inside out with the full mesh and implicit Euler, too. Of 10 cm they do not.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.bench.conjac.play import ShownStep, equilibrium, march
from pliant.bench.race import no_inversion
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.integrators import BDF1
from pliant.maps.pins import Pin
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.scenes.conjac import barcut
from pliant.state import State

AFTER = 1.0  # the second cut [s]


def piece(moment: ShownStep, x: float) -> IntArray:
    """The elements of the piece that has the rest position x in it."""
    mesh = moment.scene.bodies[0].mesh
    label = mesh.components()[1]
    center = mesh.X[mesh.T].mean(axis=1)[:, 0]
    return np.flatnonzero(label == label[int(np.argmin(abs(center - x)))])


def books(system: Any, state: State) -> tuple[Array, Array]:
    """Mass [kg], linear momentum [kg m/s] and energy [J], and the size of what is summed in each."""
    p = (system.mass(state.q) @ state.v).reshape(-1, 3)
    energies = np.array(list(system.energies(state.q, state.v, state.t).values()))
    total = float(system.nodal_mass.sum()) / 3.0
    sizes = [total, *np.full(3, max(abs(p).sum(), 1e-300)), abs(energies).sum()]
    return np.array([total, *p.sum(axis=0), energies.sum()]), np.array(sizes)


def right_piece_alone(moment: ShownStep, length: float) -> tuple[IntArray, Any]:
    """Vertices of the right piece and its equilibrium, computed on a mesh of that piece only."""
    body = moment.scene.bodies[0]
    elements = piece(moment, 0.95 * length)
    vertices = np.unique(body.mesh.T[elements])
    part = body.mesh.submesh(elements)
    pins = [Pin(np.searchsorted(vertices, np.intersect1d(p.vertices, vertices)), p.motion) for p in body.pins]
    alone = Scene([Solid(part, body.material, pins=[p for p in pins if len(p.vertices)])])
    system = alone.system()
    return vertices, equilibrium(system, State(system.X.ravel(), np.zeros(system.X.size), moment.state.t))


def folded(until: float) -> list[dict[str, Any]]:
    """The smallest det F after the first cut of coarse bars of two lengths, by ConJac and by implicit Euler."""
    rows = []
    for length in (0.1, 0.15):
        for name, method, h in (("ConJac", None, 1e-3), ("full mesh, BDF1", BDF1(), 2e-3)):
            scene = replace(barcut(method, length=length, mesh=bar((0.15, 0.03, 0.03), (24, 5, 5))), h=h)
            least = min((m.det, m.state.t) for m in march(scene, round(until / h)))
            rows.append({"bar": f"{name}, {length} m", "t": least[1], "h ms": 1e3 * h, "min det F": least[0]})
    return rows


def folding(rows: list[dict[str, Any]]) -> Claim:
    least = {row["bar"]: row["min det F"] for row in rows}
    shown = ", ".join(f"{name} {det:.2f}" for name, det in least.items())
    holds = all((det > 0.0) == name.endswith(" 0.1 m") for name, det in least.items())
    return Claim("cause: a bar of 0.15 m folds at its clamp, by either method", "-", shown, holds)


def run(*, quick: bool = False) -> Table:
    scene = barcut(mesh=bar((0.15, 0.03, 0.03), (24, 5, 5)) if quick else None)
    length = float(np.ptp(scene.bodies[0].mesh.X[:, 0]))
    rows: list[dict[str, Any]] = []
    falls, analyses, before = [], [], None
    dets = {"before the cuts": 1.0, "after the first": 1.0, "after the second": 1.0}
    jump = 0.0
    for k, moment in enumerate(march(scene, scene.steps + 200)):  # 1 s more, for the right piece to settle
        part = list(dets)[moment.scene.bodies[0].mesh.components()[0] - 1]
        dets[part] = min(dets[part], moment.det)
        analyses.append(sum(r.counts.analyses for r in moment.step.reports))
        if moment.start is not None and before is not None:
            kept, sizes = books(before.system, before.state)
            jump = max(jump, float((abs(books(moment.system, moment.start)[0] - kept) / sizes).max()))
        before = moment
        if moment.state.t > AFTER + float(scene.h):
            vertices = np.unique(moment.scene.bodies[0].mesh.T[piece(moment, 0.5 * length)])
            m = moment.system.nodal_mass.reshape(-1, 3)[vertices]
            falls.append((m * moment.state.v.reshape(-1, 3)[vertices]).sum(axis=0) / m[:, 0].sum())
        if k % 20 == 0 or moment.start is not None:
            count = moment.scene.bodies[0].mesh.components()[0]
            nodes = len(moment.step.memory[0].nodes)
            rows.append(
                {
                    "t": moment.state.t,
                    "pieces": count,
                    "nodes": nodes,
                    "energy J": moment.energy,
                    "min det F": moment.det,
                }
            )
    assert before is not None
    vertices, static = right_piece_alone(before, length)
    reached = before.state.q.reshape(-1, 3)[vertices]
    error = abs(reached - static.reshape(-1, 3)).max() / abs(static.reshape(-1, 3) - before.system.X[vertices]).max()
    a = np.diff(np.array(falls), axis=0) / scene.h
    g = float(abs(a - [0.0, 0.0, -9.81]).max()) / 9.81
    cuts = int(np.count_nonzero(analyses))
    claims = [
        Claim(
            "CJ-8 analyses: one per topology, nothing else precomputed",
            "3",
            str(sum(analyses)),
            cuts == sum(analyses) == 3,
        ),
        Claim("CJ-8 mass, momentum and energy kept across the cuts", "-", f"{jump:.1e}", jump < 1e-12),
        Claim("CJ-8 middle piece falls with g (center of mass)", "1e-6", f"{g:.1e}", g <= 1e-6),
        Claim(
            "CJ-8 right piece, no dynamic node, at its static shape", "1e-8 of the sag", f"{error:.1e}", error <= 1e-8
        ),
        no_inversion(dets),
    ]
    coarse = [] if quick else folded(0.75)
    claims += [folding(coarse)] if coarse else []
    rows += coarse
    return Table("conjac/barcut", f"BARCUT, {len(before.system.X)} vertices at the end", rows, claims)
