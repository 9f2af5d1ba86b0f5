"""gradient/check: every method and kind of parameter against differences of whole runs, tangents against adjoints.

A bar whose end is shaken is to follow a random path; with contact, it slides over a floor. Differences are central,
extrapolated from two widths; the direction is random in all parameters of a row at once.
"""

from typing import Any

import numpy as np

from pliant.adjoint import PointTrajectory, gradient
from pliant.bench.table import Claim, Table
from pliant.bodies import Rayleigh, Solid
from pliant.contact.obstacles import Plane
from pliant.integrators import (
    BDF1,
    BDF2,
    SDIRK2,
    TRBDF2,
    ExplicitEuler,
    ImplicitMidpoint,
    LinearlyImplicit,
    Quasistatic,
    SymplecticEuler,
    Verlet,
)
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.solvers import Newton, Tolerance
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

TIGHT = Newton(tolerance=Tolerance(1e-13, 1e-15))
CLOSE = Newton(tolerance=Tolerance(1e-11, 1e-13))  # what the round-off of contact allows
KINDS = {
    "moduli of elements": ["bodies.bar.material.E"],
    "nu, density": ["bodies.bar.material.nu", "bodies.bar.density"],
    "gravity, damping": ["gravity", "bodies.bar.damping.beta"],
    "motion of pins": ["bodies.bar.pins.0.motion.translations"],
    "rest shape": ["bodies.bar.mesh.X"],
    "initial state": ["initial.q", "initial.v"],
}
SLIDING = ["bodies.bar.material.E", "contact.mu", "bodies.bar.velocity"]


def swung(integrator: Any, steps: int) -> Scene:
    mesh = bar((0.3, 0.1, 0.1), (3, 1, 1))
    path = Keyframes((0.0, 0.03, 0.06), ((0.0, 0.0, 0.0), (0.01, 0.02, 0.0), (0.0, 0.0, 0.03)))
    moduli = 1e4 * np.random.default_rng(1).uniform(0.5, 1.5, len(mesh.T))
    held = Pin(np.flatnonzero(mesh.X[:, 0] < 1e-9), path)
    body = Solid(mesh, StableNeoHookean(moduli, 0.4), pins=held, damping=Rayleigh(0.1, 1e-3), name="bar")
    return Scene([body], integrator, h=0.01, duration=0.01 * steps)


def sliding(integrator: Any, contact: Any, steps: int) -> Scene:
    body = Solid(bar((0.3, 0.1, 0.1), (3, 1, 1)), StableNeoHookean(1e4, 0.4), velocity=(0.3, 0.0, -0.5), name="bar")
    floor = [Plane(point=(0.0, 0.0, -0.07))]
    return Scene([body], integrator, h=5e-3, duration=5e-3 * steps, contact=contact, obstacles=floor)


def loss(steps: int) -> PointTrajectory:
    places = 0.1 * np.random.default_rng(0).normal(size=(steps + 1, 2, 3))
    return PointTrajectory(np.array([15, 3]), places)


def cases(quick: bool) -> list[tuple[str, Scene, list[str], int]]:
    """What is varied, the scene, the parameters, and the number of steps."""
    smooth = [BDF1(TIGHT), BDF2(TIGHT), SDIRK2(TIGHT), TRBDF2(TIGHT), ImplicitMidpoint(TIGHT), Quasistatic(TIGHT)]
    methods = [*smooth, LinearlyImplicit(psd=False), ExplicitEuler(30), SymplecticEuler(20), Verlet(20)]
    out = []
    for integrator in methods[:2] if quick else methods:
        for kind, wrt in KINDS.items():
            if isinstance(integrator, Quasistatic) and kind in ("gravity, damping", "initial state"):
                continue  # neither velocities nor the start are felt
            out.append((kind, swung(integrator, 5), wrt, 5))
    contacts = {
        "penalty": PenaltyContact(k=200.0, mu=0.3),
        "penalty, lagged friction": PenaltyContact(k=200.0, mu=0.3, lagged=True),
        "barrier": BarrierContact(mu=0.3, stiffness=1e7, dhat=0.01),
    }
    rubbed = [BDF1(CLOSE)] if quick else [BDF1(CLOSE), BDF2(CLOSE), SDIRK2(CLOSE), TRBDF2(CLOSE)]
    for name, contact in contacts.items():
        out += [(f"E, mu, velocity; {name}", sliding(i, contact, 20), SLIDING, 20) for i in rubbed]
    return out


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    for kind, scene, wrt, steps in cases(quick):
        found = gradient(scene, loss(steps), wrt, check=True)
        assert found.check is not None
        c = found.check
        rows.append(
            {
                "method": type(scene.integrator).__name__,
                "parameters": kind,
                "numbers": len(found.flat),
                "along a direction": c.adjoint,
                "against differences": c.error,
                "adjoint against tangent": abs(c.adjoint - c.tangent) / abs(c.tangent),
                "residual of solves": found.residual,
            }
        )
    worst, dot = (max(row[name] for row in rows) for name in ("against differences", "adjoint against tangent"))
    claims = [
        Claim("adjoint against differences of whole runs, relative, worst", "1e-6", f"{worst:.1e}", worst <= 1e-6),
        Claim("adjoint against tangent, relative, worst", "1e-10", f"{dot:.1e}", dot <= 1e-10),
    ]
    notes = [
        "Differences of whole runs carry about 1e-11 of round-off: where the parts of a derivative cancel along the "
        "direction, that is more than a millionth of what is left."
    ]
    return Table("gradient/check", "Gradients through time against differences of whole runs", rows, claims, notes)
