"""A stack of cubes, a cube on a slope and a cube between two pads: rigid bodies, as other engines have them too."""

from dataclasses import dataclass
from math import atan, cos, sin
from typing import Any

import numpy as np

from pliant.articulated.bodies import at, cuboid
from pliant.articulated.body import Articulated, Rigid
from pliant.articulated.forces import JointTorque
from pliant.articulated.joints import Prismatic
from pliant.articulated.tree import Link
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1
from pliant.mesh import box
from pliant.scene import Scene

G, H, GAP = 9.81, 5e-3, 2e-4  # m/s^2, s, m: above the floor, and between cubes at the start
PAD, PAD_MASS, PUSH = (0.02, 0.04, 0.04), 5.0, 60.0  # m, kg, N
SIDES = {"left": -1.0, "right": 1.0}  # of the pads


@dataclass(frozen=True)
class Cubes:
    """Free cubes, each the height ``z`` [m] of its center and its edge [m], on a floor or between two pads.

    ``tilt`` [rad] turns gravity. The pads slide along x without friction, and are pushed inwards with ``PUSH``.
    """

    name: str
    cubes: tuple[tuple[float, float], ...]
    mu: float
    density: float = 1000.0
    tilt: float = 0.0
    pads: bool = False

    @property
    def gravity(self) -> tuple[float, float, float]:
        return G * sin(self.tilt), 0.0, -G * cos(self.tilt)

    def pad_at(self, side: float) -> tuple[float, float, float]:
        """Where the center of a pad begins [m]."""
        z, edge = self.cubes[0]
        return side * (0.5 * edge + GAP + 0.5 * PAD[0]), 0.0, z

    def scene(self, contact: Any, duration: float) -> Scene:
        """The same in pliant; the cubes are its first bodies."""
        bodies: list[Any] = []
        for k, (z, e) in enumerate(self.cubes):
            mesh = box((e, e, e), (1, 1, 1)).transformed(translate=(-0.5 * e, -0.5 * e, z - 0.5 * e))
            bodies.append(Rigid(mesh, density=self.density, name=f"cube {k}"))
        if self.pads:
            body = cuboid(PAD, PAD_MASS / (PAD[0] * PAD[1] * PAD[2]))
            links = [
                Link(Prismatic(np.array([-side, 0.0, 0.0])), body, None, at(self.pad_at(side)), name)
                for name, side in SIDES.items()
            ]
            bodies.append(Articulated(links, [JointTorque(name, PUSH) for name in SIDES], name="pads"))
        return Scene(
            bodies,
            contact=contact,
            obstacles=() if self.pads else [Plane()],
            gravity=self.gravity,
            integrator=BDF1(),
            h=H,
            duration=duration,
            on_failure="substep",
        )


def stack(count: int = 5) -> Cubes:
    """Cubes that become smaller upwards."""
    cubes, floor = [], GAP
    for edge in (0.1 - 2e-3 * k for k in range(count)):
        cubes.append((floor + 0.5 * edge, edge))
        floor += edge + GAP
    return Cubes("stack", tuple(cubes), 0.5)


def slope() -> Cubes:
    """A cube on a plane that is 0.05 rad less steep than it needs for sliding."""
    return Cubes("slope", ((GAP + 0.05, 0.1),), 0.5, tilt=atan(0.5) - 0.05)


def grip() -> Cubes:
    """A cube of 0.18 kg that two pads hold up by friction."""
    return Cubes("grip", ((0.03, 0.06),), 0.9, density=0.18 / 0.06**3, pads=True)
