"""contact/arch: a round arch of rigid stones on a floor stands if friction is enough, and falls if it is not.

The least friction comes from limit analysis of the same stones (`pliant.bench.contact.statics`), which knows nothing
of contact models. Every other stone is a little wider and deeper, so that the corners of one lie within the face of
the next, and joints are as large as the smaller face. In the middle of their depth all have vertices: where a corner
has slid past the edge of the next face, that edge then meets the other stone. Contacts that stick may slip, more slowly
than the speed that the contact states.
"""

from math import cos, pi, sin
from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.body import Rigid
from pliant.bench.contact.statics import GROUND, Bearing, Carried, least_friction
from pliant.bench.table import Claim, Table
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1
from pliant.mesh import Mesh, box
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

RADIUS, THICK, DEPTH, MARGIN = 0.2, 0.06, 0.08, 4e-3  # m
STONES, DENSITY, G = 7, 2000.0, 9.81
GAP, CREEP = 1e-4, 1e-5  # m, m/s
NOTES = [
    "needed: the least mu with which forces exist that balance the arch. crown: how far the highest stone has come "
    "down in the end; creep: how fast the faces of a joint slip along each other in the second half of the time, that "
    "of the fastest joint. What fell did so at 'time'.",
]


def run(*, quick: bool = False) -> Table:
    least = needed()
    duration = 0.5 if quick else 10.0
    kinds = ("penalty",) if quick else ("penalty", "barrier")
    rows = [_row(kind, part, least, duration if part > 1.0 else 1.0) for kind in kinds for part in (1.25, 0.8)]
    stand, fall = ([r for r in rows if (r["mu / needed"] > 1.0) == above] for above in (True, False))
    slowest = max(r["creep [mm/s]"] for r in stand)
    claims = [
        Claim(
            f"with 1.25 times the friction needed it stands for {duration:g} s",
            "yes",
            ", ".join(r["stands"] for r in stand),
            all(r["stands"] == "yes" for r in stand),
        ),
        Claim("and creeps more slowly than stated [mm/s]", f"{1e3 * CREEP:g}", f"{slowest:.2g}", slowest < 1e3 * CREEP),
        Claim(
            "with 0.8 times that it falls",
            "yes",
            ", ".join("no" if r["stands"] == "yes" else "yes" for r in fall),
            all(r["stands"] == "no" for r in fall),
        ),
    ]
    return Table("contact/arch", f"An arch of {STONES} stones against limit analysis", rows, claims, NOTES)


def arch(contact: Any, duration: float) -> Scene:
    """Half a circle of stones on the floor."""
    bodies = [Rigid(_stone(k), density=DENSITY, name=f"stone {k}") for k in range(STONES)]
    return Scene(
        bodies, contact=contact, obstacles=[Plane()], integrator=BDF1(), h=1e-2, duration=duration, on_failure="substep"
    )


def needed() -> float:
    """The least friction of the arch."""
    blocks = []
    for k in range(STONES):
        mesh = _stone(k)
        volume = mesh.measures()
        middle = volume @ mesh.X[mesh.T].mean(axis=1) / volume.sum()
        blocks.append(Carried(G * DENSITY * float(volume.sum()), (float(middle[0]), float(middle[2]))))
    joints = []
    for k in range(STONES + 1):
        angle = pi - k * pi / STONES
        a, b = (k, k - 1) if 0 < k < STONES else (min(k, STONES - 1), GROUND)
        side = 1.0 if k < STONES else -1.0  # the last one stands on the floor
        normal = (side * sin(angle), -side * cos(angle))
        for r in (RADIUS - 0.5 * THICK, RADIUS + 0.5 * THICK):
            joints.append(Bearing(a, b, (r * cos(angle), r * sin(angle)), normal))
    return least_friction(blocks, joints)


def _unit() -> Mesh:
    """The stone that all are made of: along the arch, its depth, its thickness."""
    return box((1.0, 1.0, 1.0), (1, 2, 1))


def _stone(k: int) -> Mesh:
    """Stone k from the left, with half a gap on both sides; every second one has a margin all around."""
    margin = MARGIN if k % 2 else 0.0
    mesh = _unit()
    s, u, w = mesh.X.T
    angle = pi - (k + s) * pi / STONES
    r = RADIUS + (w - 0.5) * (THICK + 2.0 * margin)
    inward = np.where(s < 0.5, 0.5, -0.5) * GAP  # the way of a face, along the arch
    x = r * np.cos(angle) + inward * np.sin(angle)
    z = r * np.sin(angle) - inward * np.cos(angle)
    return Mesh(np.column_stack([x, (u - 0.5) * (DEPTH + 2.0 * margin), z]), mesh.T)


def _slid(x: Array) -> Array:
    """How far the faces of every joint (STONES + 1,) [m] have slid along each other, for points (n, 3) of stones."""
    right = _unit().X[:, 0] > 0.5
    stones = x.reshape(STONES, -1, 3)
    floor = np.zeros((1, 3))
    before = np.concatenate([floor, stones[:, right].mean(axis=1)])
    after = np.concatenate([stones[:, ~right].mean(axis=1), floor])
    angle = pi - np.arange(STONES + 1) * pi / STONES
    return np.einsum("kd,kd->k", after - before, np.column_stack([np.cos(angle), 0.0 * angle, np.sin(angle)]))


def _row(kind: str, part: float, least: float, duration: float) -> dict[str, Any]:
    mu = part * least
    choice = PenaltyContact(mu=mu, creep=CREEP) if kind == "penalty" else BarrierContact(mu=mu, creep=CREEP)
    begun, first, half, x = process_time(), None, None, np.zeros((1, 3))
    for step in simulate(arch(choice, duration)):
        x = step.system.positions(step.state.q).reshape(-1, 3)
        first = x[:, 2].max() if first is None else first
        half = _slid(x) if half is None and step.state.t >= 0.5 * duration else half
        if x[:, 2].max() < 0.9 * first:
            break
    sunk = float((first or 0.0) - x[:, 2].max())
    stands = half is not None and sunk < 0.02 * (first or 0.0)
    slip = np.abs(_slid(x) - half).max() / (0.5 * duration) if half is not None and stands else float("nan")
    return {
        "contact": kind,
        "needed": least,
        "mu / needed": part,
        "time [s]": round(step.state.t, 3),
        "stands": "yes" if stands else "no",
        "crown [mm]": 1e3 * sunk,
        "creep [mm/s]": 1e3 * float(slip),
        "CPU [s]": round(process_time() - begun, 1),
    }
