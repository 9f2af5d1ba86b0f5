"""world/cost: what a coupled step costs against the sum of its parts stepped alone.

CPU time inside the integrator's steps, per step. The parts alone are the same bodies without each other: they have
neither contacts to find nor to solve for, so that the ratio holds all that coupling adds. It is told twice: while the
parts fly apart (what the machinery costs) and while they press and rub (what contact costs). A second ratio has the bed
under boxes on rails, that move as the links of the arm did, in the place of the bed alone: contact as work of one part.
"""

from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np

from pliant.articulated import Articulated, Link, at, cuboid
from pliant.articulated.joints import Free3D, Revolute
from pliant.bench.table import Claim, Table
from pliant.bench.world.cost_split import split, told
from pliant.bodies import Solid
from pliant.contact.obstacles import Box
from pliant.integrators import BDF1, LinearlyImplicit
from pliant.linear.threads import one_thread
from pliant.maps.motions import Track
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import box
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.state import State, Step
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact

CLAIM = 1.25
BAR = (0.07, 0.05, 0.02)  # sides of a link [m]
METHODS: dict[str, tuple[Any, Any]] = {
    "BDF1, penalty": (BDF1(), PenaltyContact(mu=0.3, thickness=1e-3)),
    "velocity step, penalty": (LinearlyImplicit(), PenaltyContact(mu=0.3, thickness=1e-3)),
    "velocity step, rows": (LinearlyImplicit(), RowContact(mu=0.0, thickness=1e-3)),
    "velocity step, rows with friction": (LinearlyImplicit(), RowContact(mu=0.3, thickness=1e-3)),
}


class ClockedSteps:
    """An integrator and what its steps took: CPU seconds and iterations, after the first two."""

    def __init__(self, integrator: Any) -> None:
        self.integrator, self.order = integrator, integrator.order
        self.spent: list[float] = []
        self.iterations: list[int] = []

    def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step:
        start = process_time()
        step = self.integrator.step(system, state, h, memory)
        self.spent.append(process_time() - start)
        self.iterations.append(sum(r.iterations for r in step.reports))
        return step


def bed(cells: int) -> Solid:
    """A soft bed of 40 x 40 x 8 cm, held from below."""
    mesh = box((0.4, 0.4, 0.08), (cells, cells, max(cells // 4, 1))).transformed(translate=(-0.2, -0.2, -0.08))
    held = Pin(np.flatnonzero(mesh.X[:, 2] < -0.08 + 1e-9))
    return Solid(mesh, StableNeoHookean(2e4, 0.3), density=300.0, pins=held, name="bed")


def arm(height: float) -> Articulated:
    """A free chain of four flat bars that lies over the bed, falling and sliding."""
    bar = cuboid(BAR, 800.0, at(0.04, 0.0, 0.0))
    links = [Link(Free3D(), bar, frame=at(-0.16, 0.0, 0.01 + height), name="0")]
    for k in range(1, 4):
        links.append(
            Link(Revolute(np.array([0.0, 1.0, 0.0])), bar, parent=k - 1, frame=at(0.08, 0.0, 0.0), name=str(k))
        )
    return Articulated(links, v=[0.3, 0.0, -0.2, *np.zeros(6)], name="arm")


def on_rails(scene: Scene, steps: int) -> list[Box]:
    """Boxes that move as the links of the arm do in a scene."""
    system = scene.system()
    states = [scene.initial(system), *(s.state for s in simulate(replace(scene, duration=steps * float(scene.h))))]
    tree, own = system.parts[1], system.slices[1]
    frames = np.array([tree.kinematics(s.q[own], s.v[own]).frames for s in states])
    times = np.array([s.t for s in states])
    return [Box(size=BAR, motion=Track(times, frames[:, k]), name=f"box {k}") for k in range(frames.shape[1])]


def run(*, quick: bool = False) -> Table:
    cells, steps = (6, 6) if quick else (16, 32)
    rows = []
    for name, (integrator, contact) in METHODS.items():
        scenes = [Scene([b], integrator=integrator, h=2e-3) for b in (bed(cells), arm(1.2e-3))]
        heights = {"apart": 0.05, "pressing": 1.2e-3}
        for height in heights.values():
            scenes.append(Scene([bed(cells), arm(height)], contact=contact, integrator=integrator, h=2e-3))
        boxes = on_rails(scenes[-1], steps)
        scenes.append(Scene([bed(cells)], contact=contact, obstacles=boxes, integrator=integrator, h=2e-3))
        *alone, apart, pressing, railed = _spent(scenes, steps)
        total = sum(a["ms"] for a in alone)
        for what, both in zip(heights, (apart, pressing), strict=True):
            rows.append(
                {
                    "method": name,
                    "parts": what,
                    "unknowns": both["unknowns"],
                    "contacts": both["contacts"],
                    "bed alone [ms]": alone[0]["ms"],
                    "arm alone [ms]": alone[1]["ms"],
                    "coupled [ms]": both["ms"],
                    "ratio": both["ms"] / total,
                    "bed under boxes [ms]": railed["ms"],
                    "ratio to that": both["ms"] / (railed["ms"] + alone[1]["ms"]) if both is pressing else None,
                    "iterations alone": alone[0]["iterations"],
                    "iterations": both["iterations"],
                    "converged": both["converged"],
                }
            )
    claims = [_bounded(f"{r['method']}, {r['parts']}: coupled / sum of parts", r["ratio"]) for r in rows]
    claims += [
        _bounded(f"{r['method']}, pressing: coupled / (bed under boxes that move so + arm)", r["ratio to that"])
        for r in rows
        if r["parts"] == "pressing"
    ]
    good = all(r["converged"] for r in rows)
    met = all((r["contacts"] > 0) == (r["parts"] == "pressing") for r in rows)
    claims += [
        Claim("every step converged", "yes", str(good), good),
        Claim("contacts where and only where parts press", "yes", str(met), met),
    ]
    notes = [
        "the cheapest third of the steps after the first two, CPU time of one thread; the scenes of a method take "
        "their steps in turn, so that all of them see the same machine",
        "What is beyond the claim. Pressing: BDF1 needs more iterations, and in each of them the forces, the matrices "
        "and the Schur complement of contacts that the bed alone does not have; rows need the inverse of the matrix on "
        "every contact and direction of slip, and friction a programme besides. The bed under boxes that move as the "
        "links do needs all this too: coupling itself adds a quarter at most.",
        f"a step of world/marionette takes {told(split(6 if quick else 60))}",
    ]
    return Table("world/cost", "A coupled step against its parts", rows, claims, notes)


def _bounded(what: str, ratio: float) -> Claim:
    return Claim(what, f"<= {CLAIM}", f"{ratio:.2f}", ratio <= CLAIM)


@one_thread()
def _spent(scenes: list[Scene], steps: int) -> list[dict[str, Any]]:
    """CPU time [ms] of the cheapest third of the steps, on average; iterations; contacts at the end. For each scene."""
    clocks, runs = [], []
    for scene in scenes:
        clocked, short = ClockedSteps(scene.integrator), replace(scene, duration=steps * float(scene.h))
        object.__setattr__(short, "integrator", clocked)  # scenes take integrators of their own list only
        clocks.append(clocked)
        runs.append(simulate(short))
    return [
        _told(clocked, done, steps)
        for clocked, done in zip(clocks, zip(*zip(*runs, strict=True), strict=True), strict=True)
    ]


def _told(clocked: ClockedSteps, done: tuple[Any, ...], steps: int) -> dict[str, Any]:
    spent = np.sort(clocked.spent[2:])[: max(1, (steps - 2) // 3)]
    return {
        "ms": 1e3 * float(spent.mean()),
        "iterations": float(np.mean(clocked.iterations[2:])),
        "contacts": done[-1].report.contacts or 0,
        "unknowns": len(done[-1].system.free),
        "converged": all(s.report.converged for s in done),
    }
