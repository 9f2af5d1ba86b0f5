"""world/cost: what a coupled step costs against the sum of its parts stepped alone.

CPU time inside the integrator's steps, per step. The parts alone are the same bodies without each other: they have
neither contacts to find nor to solve for, so that the ratio holds all that coupling adds. It is told twice: while the
parts fly apart (what the machinery costs) and while they press and rub (what contact costs). A step is then split:

    coupled = parts alone + contact (detection, forces, matrices, rows; iterations more than the bed alone) + coupling

and a second ratio is that to parts and contact. A third one has the bed under boxes on rails, that move as the links of
the arm did, in the place of the bed alone: contact as work of one part.
"""

from dataclasses import replace
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from pliant.arrays import Array
from pliant.articulated import Articulated, Link, at, cuboid
from pliant.articulated.joints import Free3D, Revolute
from pliant.bench.table import Claim, Table
from pliant.bench.world.contact_clock import ContactClock
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
from pliant.solvers import Newton
from pliant.state import State, Step
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact

CLAIM = 1.25
BAR = (0.07, 0.05, 0.02)  # sides of a link [m]
METHODS: dict[str, tuple[Any, Any]] = {
    "BDF1, penalty": (BDF1(Newton(chords=0)), PenaltyContact(mu=0.3, thickness=1e-3)),
    "BDF1, factors used again": (BDF1(), PenaltyContact(mu=0.3, thickness=1e-3)),
    "velocity step, penalty": (LinearlyImplicit(), PenaltyContact(mu=0.3, thickness=1e-3)),
    "velocity step, rows": (LinearlyImplicit(), RowContact(mu=0.0, thickness=1e-3)),
    "velocity step, rows with friction": (LinearlyImplicit(), RowContact(mu=0.3, thickness=1e-3)),
}


class ClockedSteps:
    """An integrator and its steps: CPU seconds, those in contact, factorizations and iterations."""

    def __init__(self, integrator: Any, contact: ContactClock) -> None:
        self.integrator, self.order, self._contact = integrator, integrator.order, contact
        self.taken: list[tuple[float, float, int, int]] = []

    def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step:
        start, touching = process_time(), self._contact.spent
        step = self.integrator.step(system, state, h, memory)
        factored = sum(r.counts.factorizations for r in step.reports)
        spent = process_time() - start, self._contact.spent - touching
        self.taken.append((*spent, factored, sum(r.iterations for r in step.reports)))
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
    rows = [row for name in METHODS for row in _rows(name, cells, steps)]
    claims = [_bounded(f"{r['method']}, {r['parts']}: coupled / sum of parts", r["ratio"]) for r in rows]
    claims += [
        _bounded(f"{r['method']}, {r['parts']}: coupled / (parts + contact)", r["ratio to parts and contact"])
        for r in rows
    ]
    claims += [
        _bounded(f"{r['method']}, pressing: coupled / (bed under boxes that move so + arm)", r["ratio to boxes"])
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
        "medians over the steps after the first two, ratios step by step; CPU time of one thread; the scenes of a "
        "method take their steps in turn, so that all of them see the same machine. Iterations are means",
        "contact: CPU time in the functions that coupled systems call for contact alone, and what factorizations more "
        "or less than the bed has alone would have cost it; coupling: what is neither that nor the parts alone",
        "factors used again: BDF1 as it comes, which hardly factors anything for a bed alone or parts that are apart "
        "(`Newton.chords`), so that contact is dear beside it; the other BDF1 factors in every iteration",
        f"a step of world/marionette takes {told(split(6 if quick else 60))}",
    ]
    return Table("world/cost", "A coupled step against its parts", rows, claims, notes)


def _rows(name: str, cells: int, steps: int) -> list[dict[str, Any]]:
    """Apart and pressing, by one method."""
    integrator, contact = METHODS[name]
    heights = {"apart": 0.05, "pressing": 1.2e-3}
    scenes = [Scene([b], integrator=integrator, h=2e-3) for b in (bed(cells), arm(1.2e-3))]
    for height in heights.values():
        scenes.append(Scene([bed(cells), arm(height)], contact=contact, integrator=integrator, h=2e-3))
    boxes = on_rails(scenes[-1], steps)
    scenes.append(Scene([bed(cells)], contact=contact, obstacles=boxes, integrator=integrator, h=2e-3))
    (soft, jointed, *coupled, railed), last = _taken(scenes, steps)
    parts = soft[:, 0] + jointed[:, 0]
    rows = []
    for what, both, end in zip(heights, coupled, last[2:4], strict=True):
        extra = np.where(soft[:, 2] > 0, parts * (both[:, 2] / np.maximum(soft[:, 2], 1) - 1.0), 0.0)
        touching = both[:, 1] + extra
        rows.append(
            {
                "method": name,
                "parts": what,
                "unknowns": len(end.system.free),
                "contacts": end.report.contacts or 0,
                "bed alone [ms]": _middle(soft[:, 0]),
                "arm alone [ms]": _middle(jointed[:, 0]),
                "coupled [ms]": _middle(both[:, 0]),
                "ratio": float(np.median(both[:, 0] / parts)),
                "contact [ms]": _middle(touching),
                "of it iterations [ms]": 1e3 * float(extra.mean()),
                "coupling [ms]": _middle(both[:, 0] - parts - touching),
                "ratio to parts and contact": float(np.median(both[:, 0] / (parts + touching))),
                "bed under boxes [ms]": _middle(railed[:, 0]),
                "ratio to boxes": float(np.median(both[:, 0] / (railed[:, 0] + jointed[:, 0])))
                if what == "pressing"
                else None,
                "iterations alone": float(soft[:, 3].mean()),
                "iterations": float(both[:, 3].mean()),
                "factorizations": float(both[:, 2].mean()),
                "converged": end.converged,
            }
        )
    return rows


def _middle(seconds: Array) -> float:
    """The median [ms]."""
    return 1e3 * float(np.median(seconds))


def _bounded(what: str, ratio: float) -> Claim:
    return Claim(what, f"<= {CLAIM}", f"{ratio:.2f}", ratio <= CLAIM)


class End(NamedTuple):
    """The last step of a scene, and whether all of them converged."""

    system: Any
    report: Any
    converged: bool


@one_thread()
def _taken(scenes: list[Scene], steps: int) -> tuple[list[Array], list[End]]:
    """What `ClockedSteps` knows of all steps but the first two (steps - 2, 4), and the ends; for each scene."""
    contact = ContactClock()
    clocks, runs = [], []
    for scene in scenes:
        clocked = ClockedSteps(scene.integrator, contact)
        short = replace(scene, duration=steps * float(scene.h))
        object.__setattr__(short, "integrator", clocked)  # scenes take integrators of their own list only
        clocks.append(clocked)
        runs.append(simulate(short))
    with contact.running():
        each = list(zip(*zip(*runs, strict=True), strict=True))
    ends = [End(done[-1].system, done[-1].report, all(s.report.converged for s in done)) for done in each]
    return [np.array(clocked.taken[2:], dtype=float) for clocked in clocks], ends
