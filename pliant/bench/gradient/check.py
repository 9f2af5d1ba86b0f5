"""gradient/check: every method and kind of parameter against differences of whole runs, tangents against adjoints.

A bar whose end is shaken is to follow a random path, a muscle is pulled, a jointed arm swings; with contact, a bar
slides over a floor. Differences are central, extrapolated (Ridders); the direction is random in all parameters of a
row at once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.adjoint import PointTrajectory, gradient
from pliant.articulated import Articulated, Link
from pliant.articulated.bodies import at, cuboid
from pliant.articulated.constraints import CoupledJoints
from pliant.articulated.forces import JointSpring, JointTorque
from pliant.articulated.joints import Revolute
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
from pliant.loads import Activation, Push, Wind
from pliant.maps.functions import Series
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import AnisotropicFung, StableNeoHookean
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
MUSCLE = {
    "fibres, their activation": [
        "bodies.bar.material.materials.1.direction",
        "bodies.bar.material.materials.1.activation",
    ],
    "activation and forces over time": ["forces.0.signal.values", "forces.1.values", "forces.2.mean"],
}
JOINTS = ["bodies.arm.forces.0.stiffness", "bodies.arm.forces.2.torque", "gravity", "bodies.arm.v"]
SLIDING = ["bodies.bar.material.E", "contact.mu", "bodies.bar.velocity"]


def swung(integrator: Any, steps: int) -> Scene:
    mesh = bar((0.3, 0.1, 0.1), (3, 1, 1))
    path = Keyframes((0.0, 0.03, 0.06), ((0.0, 0.0, 0.0), (0.01, 0.02, 0.0), (0.0, 0.0, 0.03)))
    moduli = 1e4 * np.random.default_rng(1).uniform(0.5, 1.5, len(mesh.T))
    held = Pin(np.flatnonzero(mesh.X[:, 0] < 1e-9), path)
    body = Solid(mesh, StableNeoHookean(moduli, 0.4), pins=held, damping=Rayleigh(0.1, 1e-3), name="bar")
    return Scene([body], integrator, h=0.01, duration=0.01 * steps)


def pulled(integrator: Any, steps: int) -> Scene:
    """A bar of flesh that is held at one end; its fibres pull, and so do forces that change in time."""
    mesh = bar((0.3, 0.1, 0.1), (3, 1, 1))
    flesh = StableNeoHookean(1e4, 0.4) + AnisotropicFung((1.0, 0.2, 0.0), 1e4, activation=0.5, tension=5e3)
    held = Pin(np.flatnonzero(mesh.X[:, 0] < 1e-9))
    body = Solid(mesh, flesh, pins=held, damping=Rayleigh(0.1, 1e-3), name="bar")
    active = Activation((1.0, 0.0, 0.3), 5e3, Series((0.0, 0.03, 0.06), (0.1, 1.0, 0.2)))
    push = Push(np.array([15, 12]), (0.0, 0.02, 0.04), ((0.0, 1.0, 0.0), (1.0, 0.0, 0.5), (0.0, 0.0, -1.0)))
    loads: list[Any] = [active, push, Wind((1.0, 0.5, 0.0))]
    return Scene([body], integrator, h=0.01, duration=0.01 * steps, forces=loads)


def swinging(
    integrator: Any, steps: int, constraints: Sequence[Any] = (), v: Sequence[float] = (1.0, 0.5, 2.0)
) -> Scene:
    """An arm of three links on hinges, with springs and a torque that changes in time."""
    beam = cuboid((0.2, 0.05, 0.05), 1000.0, at(0.1, 0.0, 0.0))
    names, parents, axes = "abc", (None, "a", "b"), np.eye(3)[[1, 2, 1]]
    links = [
        Link(Revolute(axis), beam, parent, at(0.2 if parent else 0.0, 0.0, 0.0), name)
        for name, parent, axis in zip(names, parents, axes, strict=True)
    ]
    forces: list[Any] = [
        JointSpring("a", 2.0, 0.05),
        JointSpring("c", 0.5, 0.01),
        JointTorque("b", ((0.0, 0.1), (0.1, -0.2))),
    ]
    arm = Articulated(links, forces, constraints, q=(0.3, 0.2, 0.1), v=v, name="arm")
    return Scene([arm], integrator, h=0.01, duration=0.01 * steps)


def leaning(integrator: Any, steps: int) -> Scene:
    """A bar that is held at one end lies on a floor with the other."""
    mesh = bar((0.3, 0.1, 0.1), (3, 1, 1))
    held = Pin(np.flatnonzero(mesh.X[:, 0] < 1e-9))
    body = Solid(mesh, StableNeoHookean(1e4, 0.4), pins=held, name="bar")
    floor, contact = [Plane(point=(0.0, 0.0, -0.02))], PenaltyContact(k=200.0)
    return Scene([body], integrator, h=0.01, duration=0.01 * steps, contact=contact, obstacles=floor)


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
        out += [(kind, pulled(integrator, 5), wrt, 5) for kind, wrt in MUSCLE.items()]
        if not isinstance(integrator, Quasistatic | LinearlyImplicit):
            out.append(("joints: springs, torques, start", swinging(integrator, 5), JOINTS, 5))
    coupled = [CoupledJoints("a", "b", 0.5, 0.05)]
    for integrator in smooth[:2] if quick else [*smooth[:4], *methods[7:]]:
        scene = swinging(integrator, 5, coupled, (0.0, 0.0, 2.0))
        out.append(("joints with a loop", scene, ["bodies.arm.constraints.0.ratio", "gravity", "bodies.arm.v"], 5))
    return out + touching(quick)


def touching(quick: bool) -> list[tuple[str, Scene, list[str], int]]:
    """The same with contact; what can step across a barrier has none."""
    contacts = {
        "penalty": PenaltyContact(k=200.0, mu=0.3, lagged=False),
        "penalty, lagged friction": PenaltyContact(k=200.0, mu=0.3),
        "barrier": BarrierContact(mu=0.3, stiffness=1e7, dhat=0.01),
    }
    staged = [BDF1(CLOSE), BDF2(CLOSE), SDIRK2(CLOSE), TRBDF2(CLOSE)]
    free = [ImplicitMidpoint(CLOSE), ExplicitEuler(30), SymplecticEuler(20), Verlet(20)]
    out = []
    for name, contact in contacts.items():
        methods: list[Any] = staged[:1] if quick else [*staged, *(free if name == "penalty" else [])]
        out += [(f"E, mu, velocity; {name}", sliding(i, contact, 20), SLIDING, 20) for i in methods]
    still = Quasistatic(CLOSE)
    return [*out, ("E, k; penalty", leaning(still, 5), ["bodies.bar.material.E", "contact.k"], 5)]


def row(kind: str, scene: Scene, wrt: list[str], steps: int) -> dict[str, Any]:
    found = gradient(scene, loss(steps), wrt, check=True)
    assert found.check is not None
    c = found.check
    return {
        "method": type(scene.integrator).__name__,
        "parameters": kind,
        "numbers": len(found.flat),
        "along a direction": c.adjoint,
        "against differences": c.error,
        "uncertainty of these": c.uncertainty / abs(c.difference),
        "adjoint against tangent": abs(c.adjoint - c.tangent) / abs(c.tangent),
        "residual of solves": found.residual,
    }


def table(rows: list[dict[str, Any]]) -> Table:
    worst, dot = (max(row[name] for row in rows) for name in ("against differences", "adjoint against tangent"))
    claims = [
        Claim("adjoint against differences of whole runs, relative, worst", "1e-6", f"{worst:.1e}", worst <= 1e-6),
        Claim("adjoint against tangent, relative, worst", "1e-10", f"{dot:.1e}", dot <= 1e-10),
    ]
    notes = [
        "Differences of whole runs are extrapolated from halved widths; their uncertainty is that of the extrapolation "
        "and of round-off, where the parts of a derivative cancel along the direction."
    ]
    return Table("gradient/check", "Gradients through time against differences of whole runs", rows, claims, notes)


def run(*, quick: bool = False) -> Table:
    return table([row(*case) for case in cases(quick)])
