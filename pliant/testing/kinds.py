"""One small scene of every kind, in a state from which something happens; few elements and few steps."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pliant.articulated import TREE_INTEGRATORS, Articulated, Link, Rigid, at, cuboid
from pliant.articulated.constraints import PrescribedJoint
from pliant.articulated.forces import JointSpring
from pliant.articulated.joints import Revolute
from pliant.attachments import Attachment
from pliant.bodies import Membrane, Rayleigh, Solid, SpringNet
from pliant.cloth.body import Cloth
from pliant.cloth.material import ClothMaterial
from pliant.contact.obstacles import Box, Plane
from pliant.dg import DiscontinuousSolid
from pliant.events import ElementCut, PlaneCut, Release
from pliant.fitting import Fitting
from pliant.integrators import BDF1, INTEGRATORS, REDUCED, AdaptiveConJac, ConJac, LinearlyImplicit
from pliant.loads import Activation, Airflow, Pressure, Push, Tug, Wind
from pliant.maps.motions import Shake
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, bar, rectangle, sheet, spring_net
from pliant.scene import Scene
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.projected_contact import ProjectedContact
from pliant.systems.row_contact import RowContact

SOFT = StableNeoHookean(E=2e4, nu=0.3)
TIMES: dict[str, Any] = {"h": 2e-3, "duration": 8e-3}
ALL = {c.__name__ for c in INTEGRATORS}
CONDENSED = {c.__name__ for c in REDUCED}
TREES = {c.__name__ for c in TREE_INTEGRATORS}
SMOOTH = {
    *("BDF1", "BDF2", "SDIRK2", "TRBDF2", "ImplicitMidpoint", "LinearlyImplicit"),
    *("RK4", "SymplecticEuler", "Verlet", "ExplicitEuler"),
}


@dataclass(frozen=True)
class Kind:
    """How to make a scene, and the integrators that are meant to step it."""

    build: Callable[..., Scene]
    steps_with: set[str]


def make(choice: Any) -> Any:
    """An integrator with its own choices."""
    return AdaptiveConJac(ConJac()) if choice is AdaptiveConJac else choice()


def moved(mesh: Mesh, *by: float) -> Mesh:
    return Mesh(mesh.X + np.asarray(by, dtype=float), mesh.T)


def left(mesh: Mesh) -> Any:
    return mesh.where(lambda X: X[:, 0] < X[:, 0].min() + 1e-9)


def block(*by: float, side: float = 0.1, **options: Any) -> Solid:
    """A soft cube, moved."""
    mesh = moved(bar(size=(side, side, side), cells=(1, 1, 1)), *by)
    options.setdefault("name", "block")
    return Solid(mesh, SOFT, **options)


def solid(**options: Any) -> Scene:
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    body = Solid(mesh, SOFT, pins=Pin(left(mesh), Shake((0.0, 0.01, 0.0), 3.0)), damping=Rayleigh(0.5, 1e-3))
    return Scene([body], **TIMES, **options)


def membrane(**options: Any) -> Scene:
    mesh = sheet(size=(0.2, 0.1), cells=(3, 2))
    body = Membrane(mesh, SOFT, thickness=1e-3, pins=Pin(left(mesh)), damping=Rayleigh(alpha=0.5))
    return Scene([body], **TIMES, **options)


def springs(**options: Any) -> Scene:
    return Scene([SpringNet(spring_net(3, 3), k=40.0, mass=0.05, pins=Pin(np.array([0, 2])))], **TIMES, **options)


def cloth(**options: Any) -> Scene:
    mesh = sheet(size=(0.2, 0.1), cells=(3, 2))
    body = Cloth(mesh, ClothMaterial(), pins=Pin(left(mesh)), damping=Rayleigh(alpha=0.5))
    return Scene([body], **TIMES, **options)


def eulerian_cloth(**options: Any) -> Scene:
    mesh = moved(sheet(size=(0.4, 0.2), cells=(6, 3)), -0.2, -0.1, 2e-3)
    table = Box(center=(0.1, 0.0, -0.05), size=(0.2, 0.4, 0.1))  # its edge lies under the middle of the cloth
    options = {"integrator": LinearlyImplicit(), **options}
    return Scene([Cloth(mesh, eulerian=True)], obstacles=[table], contact=RowContact(), **TIMES, **options)


def discontinuous(**options: Any) -> Scene:
    mesh = rectangle(size=(0.2, 0.1), cells=(2, 1))
    body = DiscontinuousSolid(mesh, SOFT, eta=1e6, pins=Pin(left(mesh)), damping=Rayleigh(alpha=0.5))
    return Scene([body], gravity=(0.0, -9.81), **TIMES, **options)


def fitted(**options: Any) -> Scene:
    fine = bar(size=(0.4, 0.1, 0.1), cells=(4, 2, 2))
    coarse = bar(size=(0.4, 0.1, 0.1), cells=(2, 1, 1))
    goal = Solid(fine, SOFT, pins=Pin(left(fine)))
    return Scene([Solid(coarse, SOFT, pins=Pin(left(coarse)), fit=Fitting(goal, s=2))], **TIMES, **options)


def arm(links: int = 2, **options: Any) -> Articulated:
    """Bars of 20 cm on hinges along y, that start level."""
    hinge = lambda i: at(0.2 if i else 0.0, 0.0, 0.0)
    made = [
        Link(
            Revolute(np.array([0.0, 1.0, 0.0])),
            cuboid((0.2, 0.04, 0.04), 500.0, at(0.1, 0, 0)),
            i - 1 if i else None,
            hinge(i),
        )
        for i in range(links)
    ]
    return Articulated(made, **options)


def articulated(**options: Any) -> Scene:
    return Scene([arm(forces=[JointSpring(1, 2.0, 0.1)], v=(1.0, -2.0))], **TIMES, **options)


def driven(**options: Any) -> Scene:
    """An arm whose first joint is driven by a motor."""
    return Scene([arm(constraints=[PrescribedJoint(0, np.cos)], v=(1.0, -2.0))], **TIMES, **options)


def cube(x: float = 0.0, y: float = 0.0, z: float = 0.0, side: float = 0.1, **options: Any) -> Rigid:
    return Rigid(moved(bar(size=(side, side, side), cells=(1, 1, 1)), x, y, z), **options)


def rigid(**options: Any) -> Scene:
    bodies = [cube(spin=(1.0, 2.0, 3.0), name="turning"), cube(0.3, 0, 0, velocity=(0, 0, 1.0), name="flying")]
    return Scene(bodies, **TIMES, **options)


def soft_and_articulated(**options: Any) -> Scene:
    """A soft block that falls on the bar of a jointed arm."""
    bodies = [block(0.05, -0.05, 0.02 + 1e-5, velocity=(0.0, 0.0, -0.1)), arm(1)]
    return Scene(bodies, contact=PenaltyContact(mu=0.3), **TIMES, **options)


def soft_and_rigid(**options: Any) -> Scene:
    """A rigid cube close above a soft one on a floor."""
    bodies = [block(0, 0, 5e-4), cube(0.01, 0.02, 0.1012, side=0.08, velocity=(0.0, 0.0, -0.1))]
    contact = BarrierContact(dhat=1e-3, mu=0.3)
    return Scene(bodies, contact=contact, obstacles=[Plane()], **{"integrator": BDF1(), **TIMES, **options})


def in_rows(**options: Any) -> Scene:
    """The same with rows: a velocity step."""
    bodies = [block(0, 0, 5e-4), cube(0.01, 0.02, 0.1012, side=0.08, velocity=(0.0, 0.0, -0.1))]
    options = {"integrator": LinearlyImplicit(), **options}
    return Scene(bodies, contact=RowContact(thickness=1e-3, mu=0.3), obstacles=[Plane()], **TIMES, **options)


def tied(stiffness: float | None = None, **options: Any) -> Scene:
    """A soft block whose left side is tied to the tip of an arm."""
    body = block(0.4, -0.05, -0.05)
    tie = Attachment("block", left(body.mesh), "articulated", link=1, stiffness=stiffness)
    return Scene([body, arm()], attachments=[tie], **TIMES, **options)


def cut(**options: Any) -> Scene:
    """A bar that is cut in the middle of the run, above a floor."""
    mesh = moved(bar(size=(0.4, 0.1, 0.1), cells=(4, 1, 1)), 0, 0, 0.5)
    body = Solid(mesh, SOFT, pins=Pin(left(mesh)))
    events: list[Any] = [PlaneCut(4e-3, (0.2, 0, 0), (1, 0, 0)), ElementCut(4e-3, np.arange(6)), Release(6e-3)]
    return Scene([body], events=events, contact=PenaltyContact(), obstacles=[Plane()], **TIMES, **options)


def tugged(**options: Any) -> Scene:
    body = block(0, 0, 1e-4)
    tug = Tug(np.array([0, 1]), (0.0, 0.0, 0.5), start=0.0, full=4e-3, end=1.0, body="block")
    squeeze = Activation((1.0, 0.0, 0.0), 50.0, ((0.0, 0.0), (0.01, 1.0)))
    push = Push(np.array([2]), (0.0, 4e-3), ((0.0, 0.1, 0.0), (0.1, 0.0, 0.0)))
    forces: list[Any] = [tug, Wind(swing=(1.0, 0.0, 0.0)), squeeze, Pressure(20.0), push, Airflow((1.0, 0.7, 0.4))]
    return Scene([body], forces=forces, contact=PenaltyContact(), obstacles=[Plane()], **TIMES, **options)


def projected(**options: Any) -> Scene:
    """A block that falls onto a floor from a millimetre above it; its vertices are put back after each step."""
    body = replace(block(0, 0, 1e-3), velocity=(0.3, 0.0, -1.0))
    contact = ProjectedContact(mu=0.3)
    return Scene([body], contact=contact, obstacles=[Plane()], integrator=BDF1(), **TIMES, **options)


BARRIER = {"BDF1", "BDF2", "SDIRK2", "TRBDF2"}
KINDS = {
    "solid": Kind(solid, ALL | CONDENSED),
    "membrane": Kind(membrane, ALL | CONDENSED),
    "springs": Kind(springs, ALL | CONDENSED),
    "cloth": Kind(cloth, ALL | CONDENSED),
    "Eulerian cloth": Kind(eulerian_cloth, {"LinearlyImplicit"}),
    "discontinuous": Kind(discontinuous, ALL | CONDENSED),
    "fitted": Kind(fitted, ALL - {"XPBD", "Additive", "MSSI", "DGSI"}),
    "articulated": Kind(articulated, SMOOTH | TREES),
    "driven": Kind(driven, SMOOTH | TREES),
    "rigid": Kind(rigid, SMOOTH | TREES),
    "soft and articulated": Kind(soft_and_articulated, SMOOTH),
    "soft and rigid, barrier": Kind(soft_and_rigid, BARRIER),
    "soft and rigid, rows": Kind(in_rows, {"LinearlyImplicit"}),
    "tied": Kind(tied, SMOOTH),
    "sprung": Kind(partial(tied, 50.0), SMOOTH),
    "cut": Kind(cut, ALL | CONDENSED),
    "tugged": Kind(tugged, ALL | CONDENSED),
    "projected": Kind(projected, ALL - {"BDF2", "Quasistatic"}),
}
