"""contact/grip: two pads squeeze a block of 0.18 kg and carry its weight by friction, or let it slip.

The pads are driven towards each other by scripts until they press with the wanted force, and then stay. By Coulomb they
hold as long as 2 mu N >= m g. Sticking contacts may creep, more slowly than the speed that the contact states.
"""

from typing import Any

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.integrators import BDF1
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, box
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

G, MASS, SIDE, E = 9.81, 0.18, 0.06, 1e6
CLOSING, CREEP = 0.03, 1e-3  # s, m/s
SLIPPING = 0.06  # s: then the block has not left the pads
NOTES = [
    "N: what a pad presses with on average after closing, rubs: friction upwards, both from the forces that acted; "
    "needed: m g / (2 N). speed: of the block's middle at the end. Pads that are dented push what slips out of them "
    "downwards, so that it falls faster than g - 2 mu N / m. Friction of barriers has the load of the step before.",
]


def run(*, quick: bool = False) -> Table:
    duration = 0.15 if quick else 0.6
    cases = [(0.9, 30.0), (0.9, 140.0)] if quick else [(0.9, 30.0), (0.9, 60.0), (0.9, 140.0), (0.05, 60.0)]
    rows = [_row(kind, mu, force, duration) for kind in ("penalty", "barrier") for mu, force in cases]
    rows += [_row(kind, 0.01, 60.0, SLIPPING) for kind in ("penalty", "barrier")]
    held = [r for r in rows if r["mu"] > 1.3 * r["needed"]]
    lost = [r for r in rows if r["mu"] < 0.8 * r["needed"]]
    fastest = max(r["speed [mm/s]"] for r in held)
    slid = [r["rubs / (2 mu N)"] for r in lost]
    claims = [
        Claim(
            "both are there: grips that hold, and that slip", ">= 1", f"{len(held)}, {len(lost)}", bool(held and lost)
        ),
        Claim(
            "what holds creeps below the stated speed [mm/s]",
            f"{1e3 * CREEP:g}",
            f"{fastest:.2g}",
            fastest < 1e3 * CREEP,
        ),
        Claim(
            "what slips faster than that is rubbed with mu N (parts of it)",
            "0.95 to 1.05",
            ", ".join(f"{part:.3f}" for part in slid),
            all(0.95 < r["rubs / (2 mu N)"] < 1.05 and r["speed [mm/s]"] > 1e5 * CREEP for r in lost),
        ),
    ]
    return Table("contact/grip", "Two pads and a block of 0.18 kg", rows, claims, NOTES)


def pads(contact: Any, force: float, *, duration: float) -> Scene:
    """Pads of 2 cm on both sides of a cube of 6 cm; their backs move in until they press with ``force`` [N]."""
    block = box((SIDE, SIDE, SIDE), (3, 3, 3)).transformed(translate=(-0.5 * SIDE, -0.5 * SIDE, 0.0))
    gap, thick, width = 2e-4, 0.02, 0.04
    shape = box((thick, width, width), (1, 3, 3))
    # both pads and the block are springs in a row: the way of each back for this force
    way = gap + force / E * (thick / width**2 + 0.5 * SIDE / SIDE**2)
    bodies: list[Any] = [Solid(block, StableNeoHookean(E, 0.3), density=MASS / SIDE**3, name="block")]
    for name, side in (("left", -1.0), ("right", 1.0)):
        x = -0.5 * SIDE - gap - thick if side < 0.0 else 0.5 * SIDE + gap
        mesh = shape.transformed(translate=(x, -0.5 * width, 0.5 * (SIDE - width)))
        back = np.flatnonzero(np.abs(mesh.X[:, 0] - (x if side < 0.0 else x + thick)) < 1e-9)
        motion = Keyframes((0.0, CLOSING), ((0.0, 0.0, 0.0), (-side * way, 0.0, 0.0)))
        bodies.append(Solid(mesh, StableNeoHookean(E, 0.3), density=1000.0, pins=Pin(back, motion), name=name))
    return Scene(bodies, contact=contact, integrator=BDF1(), h=5e-3, duration=duration)


def _row(kind: str, mu: float, force: float, duration: float) -> dict[str, Any]:
    coefficients = {"left, block": mu, "right, block": mu}
    make = PenaltyContact if kind == "penalty" else BarrierContact
    scene = pads(make(mu=coefficients, creep=CREEP), force, duration=duration)
    n = len(_mesh(scene).X)
    pressed, rubbed, speed, zero = [], [], 0.0, np.zeros(3)
    for step in simulate(scene):
        pairs = step.acted.pairs
        speed = -1e3 * float(step.state.v.reshape(-1, 3)[:n, 2].mean())
        if step.state.t > CLOSING:
            pressed.append(0.5 * (pairs.get(("left", "block"), zero)[0] - pairs.get(("right", "block"), zero)[0]))
            rubbed.append(float(step.acted.friction[:n, 2].sum()))
    N = float(np.mean(pressed))
    return {
        "contact": kind,
        "mu": mu,
        "N [N]": N,
        "needed": MASS * G / (2.0 * N),
        "speed [mm/s]": abs(speed),
        "rubs / (2 mu N)": float(np.mean(rubbed)) / (2.0 * mu * N),
    }


def _mesh(scene: Scene) -> Mesh:
    body = scene.bodies[0]
    assert isinstance(body, Solid)
    return body.mesh
