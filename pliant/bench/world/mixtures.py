"""Scenes of several kinds of bodies that the benchmarks of coupling share."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.articulated import Articulated, Link, Rigid, at, cuboid
from pliant.articulated.joints import Free3D, Revolute
from pliant.bodies import Solid
from pliant.cloth.body import Cloth
from pliant.cloth.material import ClothMaterial
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, ball, box, sheet
from pliant.scene import Scene
from pliant.solvers import Newton, Tolerance

TIGHT = Newton(tolerance=Tolerance(1e-12, 1e-14))
STILL = (0.0, 0.0, 0.0)


def chain(links: int = 3, v: Sequence[float] | None = None, name: str = "chain") -> Articulated:
    """A free chain of bars of 4 x 1 x 1 cm along y, hinged about x and z in turn."""
    side, axes = 0.04, ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    bar = cuboid((0.01, 0.9 * side, 0.01), 1000.0, at(0.0, 0.5 * side, 0.0))
    parts = [Link(Free3D(), bar, name="0")]
    for k in range(1, links):
        parts.append(Link(Revolute(np.array(axes[k % 2])), bar, parent=k - 1, frame=at(0.0, side, 0.0), name=str(k)))
    rates = np.zeros(6 + links - 1)
    rates[: 0 if v is None else len(v)] = () if v is None else v
    return Articulated(parts, v=rates, name=name)


def soft_ball(center: Sequence[float], velocity: Sequence[float], *, E: float = 5e4, cells: int = 5) -> Solid:
    """A ball of 4 cm."""
    mesh = ball(radius=0.02, cells=cells).transformed(translate=center)
    x, y, z = velocity
    return Solid(mesh, StableNeoHookean(E, 0.4), density=500.0, velocity=(x, y, z), name="ball")


def hanging_cloth(x: float, cells: int = 5) -> Cloth:
    """A square of 12 cm across x, at rest."""
    flat = sheet((0.12, 0.12), (cells, cells))
    X = np.column_stack([np.full(len(flat.X), x), flat.X[:, 0] - 0.02, flat.X[:, 1] - 0.06])
    return Cloth(Mesh(X, flat.T), ClothMaterial(E=200.0, nu=0.2, beta=1e-5, rho=0.2), thickness=1e-3, name="cloth")


def collision(contact: Any, integrator: Any, *, h: float, duration: float, spin: float = 4.0) -> Scene:
    """A turning chain and a soft ball fly into each other and into a cloth; nothing else acts on them."""
    bodies = [
        soft_ball((-0.034, 0.055, 0.004), (0.8, 0.1, 0.0)),
        hanging_cloth(0.019),
        chain(v=(0.0, 0.0, 0.0, 0.0, 0.0, spin, 2.0, -3.0)),
    ]
    return Scene(bodies, contact=contact, integrator=integrator, gravity=STILL, h=h, duration=duration)


def rigid_collision(contact: Any, integrator: Any, *, h: float, duration: float) -> Scene:
    """The same with one turning bar in the place of the chain: no joints."""
    mesh = box((0.01, 0.1, 0.01), (1, 4, 1)).transformed(translate=(-0.005, 0.0, -0.005))
    bodies = [
        soft_ball((-0.034, 0.055, 0.004), (0.8, 0.1, 0.0)),
        hanging_cloth(0.019),
        Rigid(mesh, 1000.0, spin=(0.0, 0.0, 4.0), name="bar"),
    ]
    return Scene(bodies, contact=contact, integrator=integrator, gravity=STILL, h=h, duration=duration)


def resting(contact: Any, integrator: Any, *, h: float, duration: float) -> Scene:
    """A chain and a rigid cube land softly on a bed; the chain slides over it, and nothing moves far in a step."""
    mesh = box((0.2, 0.2, 0.04), (10, 10, 1)).transformed(translate=(-0.08, -0.04, -0.046))
    held = Pin(mesh.where(lambda X: X[:, 2] < -0.046 + 1e-9))
    cube = box((0.03, 0.03, 0.03), (1, 1, 1)).transformed(translate=(0.05, 0.03, -0.0055))
    bodies = [
        Solid(mesh, StableNeoHookean(2e4, 0.3), density=300.0, pins=held, name="bed"),
        chain(v=(0.6, 0.0, -0.05)),
        Rigid(cube, 500.0, velocity=(0.0, 0.02, -0.05), name="cube"),
    ]
    return Scene(bodies, contact=contact, integrator=integrator, h=h, duration=duration)
