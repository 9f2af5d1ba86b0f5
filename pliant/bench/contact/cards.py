"""contact/cards: two cards lean against each other, and a house of seven stands, as long as friction holds their feet.

By symmetry nothing rubs where two cards meet at the top. A card of height H and thickness t that leans by theta stands
on its inner edge, carries its weight W there and is pushed out by W (tan(theta) - t/H) / 2: the two stand if mu is at
least that part of W. For the house limit analysis tells the least friction (`pliant.bench.contact.statics`). Sticking
contacts may creep, more slowly than the speed that the contact states.

Edge on edge, at a distance d, is no stable place: what is off by u is pushed on by N u/d, and friction that creeps
gives way to that, u ~ exp(creep t / (2 mu d)). With 0.1 mm/s barriers (d = 0.1 mm) let the cards fall after 3 s.
"""

from math import radians, tan
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.body import Rigid
from pliant.bench.contact.statics import GROUND, Bearing, Carried, least_friction
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
LEAN, CREEP = radians(20.0), 1e-5  # m/s
GAP = 2e-4  # m
DENSITY, G = 1000.0, 9.81
SIDES = (("left", -1.0), ("right", 1.0))
UP = (0.0, 1.0)
PITCH = 0.085  # [m] of the two pairs that carry the house
PIECE = 0.1  # s
NOTES = [
    "needed: (tan(theta) - t/H) / 2 for two cards, limit analysis for the house. feet: how much farther apart they are "
    "in the end than after a tenth of the time, when the cards have landed; creep: the speed of a foot, the median "
    f"over pieces of {PIECE:g} s. Penalties have no springs between edges: where cards meet edge on edge, vertices go "
    "over from one face to another now and then, and the cards settle anew.",
]


def run(*, quick: bool = False) -> Table:
    duration = 1.0 if quick else 10.0
    kinds, parts = ("penalty", "barrier"), (1.4, 0.7)
    frames = {"two cards": needed()} if quick else {"two cards": needed(), "house": house_needs()}
    rows = [
        _row(name, least, kind, part, duration if part > 1.0 else 1.0)
        for name, least in frames.items()
        for kind in kinds
        for part in parts
    ]
    stand = [r for r in rows if r["mu / needed"] > 1.0]
    fall = [r for r in rows if r["mu / needed"] < 1.0]
    slowest = max(r["creep [mm/s]"] for r in stand)
    farthest, allowed = max(0.5 * r["feet [mm]"] for r in stand), 0.9e3 * CREEP * duration
    return Table(
        "contact/cards",
        "Leaning cards against Coulomb's law",
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
                "a foot has gone no farther than that [mm]", f"{allowed:.2g}", f"{farthest:.2g}", farthest <= allowed
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
    return _scene([Rigid(_card(side), density=DENSITY, name=name) for name, side in SIDES], contact, duration)


def house(contact: Any, duration: float) -> Scene:
    """Two pairs of leaning cards, a flat one across them, and a third pair on that."""
    return _scene([Rigid(mesh, density=DENSITY, name=name) for name, mesh in _house().items()], contact, duration)


def _scene(bodies: list[Rigid], contact: Any, duration: float) -> Scene:
    return Scene(
        bodies, contact=contact, obstacles=[Plane()], integrator=BDF1(), h=1e-2, duration=duration, on_failure="substep"
    )


def _card(side: float) -> Mesh:
    """A card whose upper edge is half a gap from the middle plane and whose foot is a gap above the floor."""
    mesh = box((THICK, WIDTH, HEIGHT), (1, 2, 3)).transformed(translate=(-0.5 * THICK, -0.5 * WIDTH, 0.0))
    leaning = mesh.transformed(rotate=rotation(np.array([0.0, -side * LEAN, 0.0])))
    low, high = leaning.bounds
    inner = high[0] if side < 0.0 else low[0]
    return leaning.transformed(translate=(side * 0.5 * GAP - inner, 0.0, GAP - low[2]))


def _house() -> dict[str, Mesh]:
    """The cards by name; the flat one is a little wider, so that it is not edge on edge with what stands on it."""
    top = float(_card(1.0).bounds[1][2]) + GAP
    wide = WIDTH + 8e-3
    flat = box((HEIGHT, wide, THICK), (3, 2, 1)).transformed(translate=(-0.5 * HEIGHT, -0.5 * wide, top))
    places = {"west": (-0.5 * PITCH, 0.0), "east": (0.5 * PITCH, 0.0), "upper": (0.0, top + THICK)}
    pairs = {
        f"{pair} {name}": _card(side).transformed(translate=(x, 0.0, z))
        for pair, (x, z) in places.items()
        for name, side in SIDES
    }
    return {"flat": flat, **pairs}


def needed() -> float:
    """The friction that holds the feet: the center of mass is half a thickness behind the line from foot to top."""
    return 0.5 * (tan(LEAN) - THICK / HEIGHT)


def house_needs() -> float:
    """The least friction of the house, gaps left out."""
    meshes = _house()
    blocks = [_block(mesh) for mesh in meshes.values()]
    number = {name: k for k, name in enumerate(meshes)}
    joints = []
    for pair in ("west", "east", "upper"):
        left, right = (number[f"{pair} {name}"] for name, _ in SIDES)
        below = number["flat"] if pair == "upper" else GROUND
        for name, side in SIDES:
            X, card = meshes[f"{pair} {name}"].X, number[f"{pair} {name}"]
            joints.append(Bearing(card, below, _point(X, np.argmin(X[:, 2])), UP))
            if pair != "upper":
                joints.append(Bearing(number["flat"], card, _point(X, np.argmax(X[:, 2])), UP))
            if side < 0.0:
                joints.append(Bearing(left, right, _point(X, np.argmax(X[:, 0])), (-1.0, 0.0)))
    return least_friction(blocks, joints)


def _block(mesh: Mesh) -> Carried:
    volume = mesh.measures()
    middle = volume @ mesh.X[mesh.T].mean(axis=1) / volume.sum()
    return Carried(G * DENSITY * float(volume.sum()), (float(middle[0]), float(middle[2])))


def _point(X: Array, k: int | np.integer[Any]) -> tuple[float, float]:
    return float(X[k, 0]), float(X[k, 2])


def _row(frame: str, least: float, kind: str, part: float, duration: float) -> dict[str, Any]:
    mu = part * least
    choice = PenaltyContact(mu=mu, creep=CREEP) if kind == "penalty" else BarrierContact(mu=mu, creep=CREEP)
    scene = cards(choice, duration) if frame == "two cards" else house(choice, duration)
    apart: list[float] = []  # after every piece of the time, once the cards have landed
    top = high = 0.0
    for step in simulate(scene):
        x = step.system.positions(step.state.q).reshape(-1, 3)
        feet = x[:, 2] < 0.5 * THICK + GAP
        top = float(x[:, 2].max())
        high = max(high, top)
        if step.state.t >= 0.1 * duration + PIECE * len(apart) - 1e-9:
            apart.append(float(np.ptp(x[feet, 0])) if feet.any() else 0.0)
        if top < 0.6 * high:
            break
    stands = top > 0.95 * high
    speed = 0.5 * float(np.median(np.abs(np.diff(apart)))) / PIECE if stands else float("nan")
    return {
        "what": frame,
        "contact": kind,
        "mu": mu,
        "mu / needed": part,
        "time [s]": round(step.state.t, 3),
        "stands": "yes" if stands else "no",
        "feet [mm]": 1e3 * abs(apart[-1] - apart[0]) if stands else float("nan"),
        "creep [mm/s]": 1e3 * speed,
    }
