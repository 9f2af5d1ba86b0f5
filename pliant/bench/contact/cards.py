"""contact/cards: two cards lean against each other and stand as long as the floor's friction holds their feet.

By symmetry nothing rubs where they meet at the top. A card of height H and thickness t that leans by theta stands on
its inner edge, carries its weight W there and is pushed out by W (tan(theta) - t/H) / 2: the two stand if mu is at
least that part of W. Sticking contacts may creep, more slowly than the speed that the contact states.
"""

from math import cos, degrees, radians, tan
from typing import Any

import numpy as np

from pliant.articulated.body import Rigid
from pliant.bench.table import Claim, Table
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1
from pliant.maps.motions import rotation
from pliant.mesh import Mesh, box
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

HEIGHT, WIDTH, THICK = 0.1, 0.06, 4e-3  # m
LEAN, CREEP = radians(20.0), 1e-4  # m/s
GAP = 2e-4  # m
NOTES = [
    "needed: (tan(theta) - t/H) / 2. feet: how much farther apart they are in the end than after a tenth of the time, "
    "when the cards have landed; creep: half of that, a foot, over the time.",
]


def run(*, quick: bool = False) -> Table:
    duration = 1.0 if quick else 10.0
    cases = [(kind, part) for kind in ("penalty", "barrier") for part in (1.4, 0.7)]
    rows = [_row(kind, part, duration if part > 1.0 else 1.0) for kind, part in cases]
    stand = [r for r in rows if r["mu / needed"] > 1.0]
    fall = [r for r in rows if r["mu / needed"] < 1.0]
    slowest = max(r["creep [mm/s]"] for r in stand)
    return Table(
        "contact/cards",
        "Two leaning cards against Coulomb's law",
        rows,
        [
            Claim(
                f"with 1.4 times the friction needed they stand for {duration:g} s",
                "yes",
                ", ".join(r["stands"] for r in stand),
                all(r["stands"] == "yes" for r in stand),
            ),
            Claim(
                "and creep more slowly than stated [mm/s]", f"{1e3 * CREEP:g}", f"{slowest:.2g}", slowest < 1e3 * CREEP
            ),
            Claim(
                "with 0.7 times that they fall within 1 s",
                "yes",
                ", ".join("no" if r["stands"] == "yes" else "yes" for r in fall),
                all(r["stands"] == "no" for r in fall),
            ),
        ],
        NOTES,
    )


def cards(contact: Any, duration: float) -> Scene:
    """Two rigid cards that lean against each other above the plane x = 0."""
    bodies = [Rigid(_card(side), density=1000.0, name=name) for name, side in (("left", -1.0), ("right", 1.0))]
    return Scene(bodies, contact=contact, obstacles=[Plane()], integrator=BDF1(), h=5e-3, duration=duration)


def _card(side: float) -> Mesh:
    """A card whose upper edge is half a gap from the middle plane and whose foot is a gap above the floor."""
    mesh = box((THICK, WIDTH, HEIGHT), (1, 2, 3)).transformed(translate=(-0.5 * THICK, -0.5 * WIDTH, 0.0))
    leaning = mesh.transformed(rotate=rotation(np.array([0.0, -side * LEAN, 0.0])))
    low, high = leaning.bounds
    inner = high[0] if side < 0.0 else low[0]
    return leaning.transformed(translate=(side * 0.5 * GAP - inner, 0.0, GAP - low[2]))


def needed() -> float:
    """The friction that holds the feet: the centre of mass is half a thickness behind the line from foot to top."""
    return 0.5 * (tan(LEAN) - THICK / HEIGHT)


def _row(kind: str, part: float, duration: float) -> dict[str, Any]:
    mu = part * needed()
    choice = PenaltyContact(mu=mu, creep=CREEP) if kind == "penalty" else BarrierContact(mu=mu, creep=CREEP)
    scene = cards(choice, duration)
    settled, apart, top = None, 0.0, 0.0
    for step in simulate(scene):
        x = step.system.positions(step.state.q).reshape(-1, 3)
        feet = x[:, 2] < 0.5 * THICK + GAP
        apart, top = float(np.ptp(x[feet, 0])) if feet.any() else 0.0, float(x[:, 2].max())
        settled = apart if settled is None and step.state.t >= 0.1 * duration else settled
        if top < 0.5 * HEIGHT:
            break
    moved = abs(apart - (settled or 0.0))
    stands = top > 0.9 * HEIGHT * cos(LEAN)
    return {
        "contact": kind,
        "lean [deg]": round(degrees(LEAN), 1),
        "mu": mu,
        "mu / needed": part,
        "time [s]": round(step.state.t, 3),
        "stands": "yes" if stands else "no",
        "feet [mm]": 1e3 * moved if stands else float("nan"),
        "creep [mm/s]": 0.5e3 * moved / (0.9 * duration) if stands else float("nan"),
    }
