"""The same motions on CPU and GPU: positions, energies, and the bytes of two runs on the GPU."""

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.bench.gpu.bars import hanging_bar, told
from pliant.bench.table import Claim, Table
from pliant.bodies import Membrane, Solid
from pliant.contact.obstacles import Plane
from pliant.cuda.device import arrays, name
from pliant.integrators import BDF1, BDF2, TRBDF2, Verlet
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, sheet
from pliant.mesh.shapes import long_eared
from pliant.scene import Scene
from pliant.scenes.qlb import arma, armadillo
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance
from pliant.systems.penalty_contact import PenaltyContact

TIGHT = Newton(tolerance=Tolerance(1e-9, 1e-12))  # so that what differs is not where Newton stopped


def scenes(steps: int) -> dict[str, Scene]:
    """Solids with scripts, contact and friction; a membrane; implicit and explicit steps."""
    cloth = sheet(size=(0.3, 0.3), cells=(20, 20))
    held = Pin(cloth.where(lambda X: X[:, 0] < X[:, 0].min() + 1e-9))
    ears = long_eared(cells=12)
    ball = Solid(ears, StableNeoHookean(5e4, 0.4), velocity=(0.3, 0.0, -1.0))
    floor = Plane((0.0, 0.0, float(ears.X[:, 2].min()) - 0.02))
    long = lambda h: {"h": h, "duration": steps * h}
    swing = replace(hanging_bar((22, 7, 7)), **long(5e-3))
    return {
        "BAR, BDF2": replace(swing, integrator=BDF2(TIGHT)),
        "BAR, TR-BDF2": replace(swing, integrator=TRBDF2(TIGHT)),
        "BAR, Verlet": replace(swing, integrator=Verlet(substeps=50)),
        "ARMA, BDF2": replace(arma(E=1e6, nu=0.4, mesh=armadillo(16), integrator=BDF2(TIGHT)), **long(5e-3)),
        "BUNNY, BDF1, contact": Scene(
            [ball], contact=PenaltyContact(mu=0.3), obstacles=[floor], integrator=BDF1(TIGHT), **long(2e-3)
        ),
        "two blocks, BDF1, contact": Scene(
            list(blocks()), contact=PenaltyContact(mu=0.3), obstacles=[Plane()], integrator=BDF1(TIGHT), **long(1e-3)
        ),
        "membrane, BDF2": Scene(
            [Membrane(cloth, StableNeoHookean(1e5, 0.3), thickness=1e-3, density=1000.0, pins=held)],
            integrator=BDF2(TIGHT),
            **long(2e-3),
        ),
    }


def blocks() -> tuple[Solid, Solid]:
    """A block on the floor, and one that lands on it and slides."""
    low, high = bar(size=(0.3, 0.2, 0.1), cells=(9, 6, 3)), bar(size=(0.15, 0.1, 0.1), cells=(5, 4, 4))
    low = replace(low, X=low.X - low.X.min(axis=0))
    high = replace(high, X=high.X - high.X.min(axis=0) + (0.03, 0.045, 0.101))
    material = StableNeoHookean(2e5, 0.4)
    return Solid(low, material, name="low"), Solid(high, material, name="high", velocity=(0.5, 0.0, -0.5))


def compared(case: str, scene: Scene) -> dict[str, Any]:
    """The largest differences over a run, relative to the size and to the energies in the ledger."""
    there = replace(scene, device="cuda")
    apart = energies = 0.0
    same, contacts, verdicts = True, 0, set()
    size = float(np.linalg.norm(np.ptp(scene.system().positions(scene.system().rest), axis=0)))
    moved = 0.0
    first = None
    for ours, theirs, again in zip(simulate(scene), simulate(there), simulate(there), strict=True):
        first = ours.state.q if first is None else first
        moved = max(moved, float(np.abs(ours.state.q - first).max()) / size)
        apart = max(apart, float(np.abs(ours.state.q - theirs.state.q).max()) / size)
        energies = max(energies, abs(ours.ledger.total - theirs.ledger.total) / ours.ledger.scale)
        same &= np.array_equal(theirs.state.q, again.state.q) and np.array_equal(theirs.state.v, again.state.v)
        contacts = max(contacts, ours.report.contacts or 0)
        verdicts |= {ours.report.verdict, theirs.report.verdict}
    return {
        "case": case,
        "tets": sum(len(cells) for cells in scene.system().cells()),
        "steps": scene.steps,
        "moved": moved,
        "contacts": contacts,
        "apart": apart,
        "energies": energies,
        "same_bytes": bool(same),
        "verdicts": ", ".join(sorted(verdicts)),
    }


def run(*, quick: bool = False) -> Table:
    arrays()
    rows = [told(compared(case, scene)) for case, scene in scenes(10 if quick else 100).items()]
    apart, energies = max(row["apart"] for row in rows), max(row["energies"] for row in rows)
    good = all("failed" not in row["verdicts"] for row in rows) and min(row["moved"] for row in rows) > 1e-3
    claims = [
        Claim("largest difference of positions, by size", "<= 1e-6", f"{apart:.1e}", good and apart <= 1e-6),
        Claim("largest difference of total energies, by scale", "<= 1e-8", f"{energies:.1e}",
              good and energies <= 1e-8),
        Claim(
            "two runs on the GPU", "same bytes", f"{sum(r['same_bytes'] for r in rows)} of {len(rows)}",
            all(r["same_bytes"] for r in rows),
        ),
    ]  # fmt: skip
    notes = [
        f"Device: {name()}. Newton to 1e-9, so that what differs is the arithmetic.",
        "`moved` is the largest displacement, by size: a run that stands still would agree, too.",
    ]
    return Table("gpu/agreement", "The same motions on CPU and GPU", rows, claims, notes)
