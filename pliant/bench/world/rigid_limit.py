"""world/rigid_limit: soft cubes of growing stiffness fall on a soft bed, beside a rigid one: they must come to agree.

The cubes have the same surface and, by consistent masses, the same mass and moments of inertia; the bed and its contact
are the same for all. What is left is the cube's own compliance, which is proportional to 1/E.
"""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated import Rigid
from pliant.bench.table import Claim, Plot, Table
from pliant.bench.world.mixtures import TIGHT
from pliant.bodies import Solid
from pliant.integrators import BDF2
from pliant.maps.motions import rotation
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, box
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.penalty_contact import PenaltyContact

SIDE, SPEED, H = 0.1, 0.3, 1e-3


def falling(cube: Any, *, h: float, duration: float) -> Scene:
    """A cube above a bed that is held from below."""
    mesh = box((0.3, 0.3, 0.08), (6, 6, 2)).transformed(translate=(-0.15, -0.15, -0.08))
    held = Pin(np.flatnonzero(mesh.X[:, 2] < -0.08 + 1e-9))
    bed = Solid(mesh, StableNeoHookean(1e4, 0.3), density=300.0, pins=held, name="bed")
    contact = PenaltyContact(k=300.0, mu=0.0)
    return Scene([bed, cube], contact=contact, integrator=BDF2(TIGHT), h=h, duration=duration)


def cube_mesh(tilt: float) -> Mesh:
    cube = box((SIDE,) * 3, (2, 2, 2)).transformed(translate=(-SIDE / 2,) * 3)
    turned = cube.transformed(rotate=rotation(np.array([tilt, 0.4 * tilt, 0.0])))
    return turned.transformed(translate=(0.013, -0.017, 1e-3 - turned.X[:, 2].min()))


def trajectory(E: float | None, tilt: float, *, h: float, duration: float) -> tuple[Array, dict[str, Any]]:
    """Vertices (steps, n, 3) of the cube with modulus E (None: rigid), and what vouches for them."""
    mesh, v = cube_mesh(tilt), (0.0, 0.0, -SPEED)
    soft = lambda E: Solid(mesh, StableNeoHookean(E, 0.3), density=500.0, velocity=v, lumped=False, name="cube")
    cube: Any = Rigid(mesh, 500.0, velocity=v, name="cube") if E is None else soft(E)
    x, deepest, converged, contacts = [], 0.0, True, 0
    for step in simulate(falling(cube, h=h, duration=duration)):
        x.append(step.system.positions(step.state.q)[-len(mesh.X) :])
        deepest = max(deepest, step.report.penetration or 0.0)
        converged, contacts = converged and step.report.verdict == "converged", max(contacts, step.report.contacts or 0)
    return np.array(x), {"contacts": contacts, "deepest [mm]": 1e3 * deepest, "converged": converged}


def run(*, quick: bool = False) -> Table:
    moduli = (1e5, 1e6, 1e7) if quick else (1e5, 1e6, 1e7, 1e8)
    duration = 0.03 if quick else 0.1
    rows: list[dict[str, Any]] = []
    claims = []
    for name, tilt, h in (("flat", 0.0, H), ("tilted", 0.3, H), ("tilted", 0.3, H / 4))[: 1 if quick else 3]:
        rigid, told = trajectory(None, tilt, h=h, duration=duration)
        way = float(np.linalg.norm(rigid[-1].mean(axis=0) - rigid[0].mean(axis=0)))
        rows.append({"cube": name, "h [ms]": 1e3 * h, "E [Pa]": float("inf"), "apart / displacement": 0.0, **told})
        apart = []
        for E in moduli:
            soft, told = trajectory(E, tilt, h=h, duration=duration)
            apart.append(float(np.linalg.norm(soft - rigid, axis=2).max()) / way)
            rows.append({"cube": name, "h [ms]": 1e3 * h, "E [Pa]": E, "apart / displacement": apart[-1], **told})
        steps = -np.diff(np.log10(apart))
        shown = ", ".join(f"{s:.2f}" for s in steps)
        what = f"{name}, h = {1e3 * h:g} ms: order in 1/E from one modulus to the next"
        claims.append(Claim(what, "1", shown, bool((np.abs(steps - 1.0) < 0.25).all())))
        claims.append(
            Claim(
                f"{name}, h = {1e3 * h:g} ms: largest E against rigid",
                "1e-3 of the displacement",
                f"{apart[-1]:.1e}",
                apart[-1] < 1e-3,
            )
        )
    met = min(r["contacts"] for r in rows)
    converged = all(r["converged"] for r in rows)
    claims += [
        Claim("they do land (contacts)", ">= 4", str(met), met >= 4),
        Claim("every step converged", "yes", str(converged), converged),
    ]
    plot = Plot("E [Pa]", "apart / displacement", "cube", "xy")
    return Table("world/rigid_limit", "Stiff cubes against a rigid one", rows, claims, plot=plot)
