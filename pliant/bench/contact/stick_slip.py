"""contact/stick_slip: a block on a floor is pulled by a spring whose other end moves at a constant speed V.

It sticks until the spring pulls with mu m g, at t0 = mu m g / (k V), and then goes by

    x = V (s - sin(w s) / w),    x' = V (1 - cos(w s)),    s = t - t0,  w = sqrt(k / m)

stopping for a moment after every period. Contacts that stick creep, more slowly than the speed that the contact states.
"""

from dataclasses import dataclass
from math import pi, sqrt
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.contact.obstacles import Plane
from pliant.deformable import Placed
from pliant.integrators import BDF2
from pliant.materials import StableNeoHookean
from pliant.mesh import box
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

SIDE, DENSITY, G = 0.06, 1000.0, 9.81
MASS = DENSITY * SIDE**3
K, SPEED, MU, CREEP = 20.0, 0.1, 0.3, 1e-4  # N/m, m/s, 1, m/s
RATE = sqrt(K / MASS)  # rad/s
LANDING = 0.1  # s, before the spring is pulled
STICKS = MU * MASS * G / (K * SPEED)  # s
PERIODS = 1.5
NOTES = [
    "x apart: largest difference between the displacement and the closed form after slip began, relative to that of a "
    "period. creep: the fastest that its sole moves in the first nine tenths of the time it sticks. peak: of the "
    "speed, which is 2 V in the closed form; BDF2 damps oscillations, less so with smaller h.",
]


def run(*, quick: bool = False) -> Table:
    steps = (5e-3,) if quick else (5e-3, 2.5e-3)
    rows = [_row(kind, h) for kind in ("penalty", "barrier") for h in steps]
    finest = [r for r in rows if r["h [ms]"] == 1e3 * steps[-1]]
    creep, apart = max(r["creep [mm/s]"] for r in rows), max(r["x apart"] for r in finest)
    late = max(abs(r["slips at [s]"] / STICKS - 1.0) for r in finest)
    claims = [
        Claim("sticks: below the stated creep [mm/s]", f"{1e3 * CREEP:g}", f"{creep:.2g}", creep < 1e3 * CREEP),
        Claim("slips at mu m g / (k V) within", "2 %", f"{100.0 * late:.2g} %", late < 0.02),
        Claim(
            "then moves by the closed form (relative to the displacement of a period)",
            "0.02",
            f"{apart:.2g}",
            apart < 0.02,
        ),
    ]
    return Table("contact/stick_slip", "A block pulled by a spring at constant speed", rows, claims, NOTES)


@dataclass(frozen=True)
class Pull:
    """A spring from the block, all of its mass alike, to a point that moves at `SPEED` along x after `LANDING`."""

    body: int | str = 0

    def force(self, placed: Placed) -> "Pulling":
        return Pulling(placed.nodal_mass / placed.nodal_mass.sum(), placed.X[:, 0])


class Pulling:
    """f_i = w_i k (V t - sum_j w_j (x_j - X_j)) along x."""

    name = "spring"

    def __init__(self, w: Array, X: Array) -> None:
        self._w, self._X, along = w, X, np.zeros(3 * len(w))
        along[0::3] = w
        self._stiffness = sp.csr_matrix(-K * np.outer(along, along))
        self._zero = sp.csr_matrix(self._stiffness.shape)

    def force(self, x: Array, v: Array, t: float) -> Array:
        f = np.zeros_like(x)
        f[0::3] = self._w * K * (SPEED * max(t - LANDING, 0.0) - self._w @ (x[0::3] - self._X))
        return f

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._stiffness

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._zero


def pulled(contact: Any, h: float) -> Scene:
    """The block on the floor, and its spring."""
    mesh = box((SIDE, SIDE, SIDE), (2, 2, 2)).transformed(translate=(0.0, 0.0, 1e-4))
    body = Solid(mesh, StableNeoHookean(1e6, 0.3), density=DENSITY, name="block")
    duration = round((LANDING + STICKS + PERIODS * 2.0 * pi / RATE) / h) * h
    return Scene(
        [body], contact=contact, obstacles=[Plane()], forces=[Pull()], integrator=BDF2(), h=h, duration=duration
    )


def _row(kind: str, h: float) -> dict[str, Any]:
    choice = PenaltyContact(mu=MU, creep=CREEP) if kind == "penalty" else BarrierContact(mu=MU, creep=CREEP)
    scene = pulled(choice, h)
    sole = np.abs(scene.bodies[0].mesh.X[:, 2] - 1e-4) < 1e-9  # type: ignore[union-attr]
    track = []
    for step in simulate(scene):
        x, v = step.state.q.reshape(-1, 3)[:, 0], step.state.v.reshape(-1, 3)[:, 0]
        weight = step.system.nodal_mass.reshape(-1, 3)[:, 0]
        way, speed = (float(weight @ values / weight.sum()) for values in (x, v))
        track.append((step.state.t - LANDING, way, speed, float(v[sole].mean())))
    t, x, u, foot = np.array(track).T
    begun = int(np.argmax(t >= 0.0))
    x = x - x[begun]
    s = np.maximum(t - STICKS, 0.0)
    closed = SPEED * (s - np.sin(RATE * s) / RATE)
    sticking, slips = (t > 0.0) & (t < 0.9 * STICKS), (t > 0.0) & (np.abs(u) > 10.0 * CREEP)
    first = int(np.argmax(slips))  # x'(s) = V (w s)^2 / 2 soon after slip begins, at the speed seen here
    return {
        "contact": kind,
        "h [ms]": 1e3 * h,
        "creep [mm/s]": 1e3 * float(np.abs(foot[sticking]).max()),
        "closed form [s]": STICKS,
        "slips at [s]": float(t[first] - sqrt(2.0 * u[first] / SPEED) / RATE),
        "peak / V": float(u.max() / SPEED),
        "x apart": float(np.abs(x - closed)[t > 0.0].max() / (SPEED * 2.0 * pi / RATE)),
    }
