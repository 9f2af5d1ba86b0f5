"""Scenes with bodies of several kinds that push each other: a hand, a die, a walker, beads (SI units)."""

from functools import partial
from typing import Any

import numpy as np

from pliant.articulated.bodies import at, cuboid, sphere
from pliant.articulated.body import Articulated, Rigid
from pliant.articulated.forces import JointSpring, Servo
from pliant.articulated.joints import Free2D, Prismatic, Revolute, Spherical
from pliant.articulated.se3 import frame
from pliant.articulated.tree import Link
from pliant.bodies import Rayleigh, Solid
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1, LinearlyImplicit
from pliant.maps.motions import rotation
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import box
from pliant.scene import Scene
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact

X, Y, Z = np.eye(3)
SIDE, FINGER, REACH = 0.1, 0.02, 0.13  # of the block, thickness of a finger, from a hinge to where it presses [m]


def hand(torque: float, lift: float, *, force: float = 60.0) -> Articulated:
    """A palm that a motor of limited ``force`` [N] lifts, and two fingers that motors of ``torque`` [N m] close."""
    palm = cuboid((2.2 * SIDE, 0.5 * SIDE, FINGER), 1000.0)
    finger = cuboid((FINGER, 0.6 * SIDE, 1.5 * SIDE), 1000.0, at(0.0, 0.0, -0.75 * SIDE - 0.6 * FINGER))
    reach = 0.5 * SIDE + 0.5 * FINGER - 0.004
    links = [
        Link(Prismatic(Z), palm, None, at(0.0, 0.0, 1.9 * SIDE), "palm"),
        Link(Revolute(-Y), finger, "palm", at(-reach, 0.0, 0.0), "left"),
        Link(Revolute(Y), finger, "palm", at(reach, 0.0, 0.0), "right"),
    ]
    up = lambda t: lift * float(np.clip((t - 0.4) / 0.5, 0.0, 1.0))
    motors = [Servo("palm", up, 8e3, force)]
    motors += [Servo(side, lambda t: 0.5 if t > 0.05 else -0.12, 20.0, torque) for side in ("left", "right")]
    dampers = [JointSpring("palm", damping=80.0), *(JointSpring(s, damping=0.05) for s in ("left", "right"))]
    return Articulated(links, [*motors, *dampers], q=(0.0, -0.12, -0.12), name="hand")


def gripper(
    torque: float = 0.8, lift: float = 0.08, *, mu: float = 0.8, cells: int = 3, h: float = 1e-2, duration: float = 1.4
) -> Scene:
    """A hand with motors of limited torque takes a soft block and lifts it by friction; too weak, it slips off."""
    mesh = box((SIDE, SIDE, SIDE), (cells,) * 3).transformed(translate=(-0.5 * SIDE, -0.5 * SIDE, 1e-4))
    block = Solid(mesh, StableNeoHookean(5e4, 0.4), density=500.0, damping=Rayleigh(2.0, 2e-3), name="block")
    return Scene(
        [block, hand(torque, lift)],
        contact=PenaltyContact(mu=mu, creep=1e-3),
        obstacles=[Plane()],
        integrator=BDF1(),
        h=h,
        duration=duration,
        name="gripper",
    )


def _bed(size: tuple[float, float, float], cells: tuple[int, int, int], E: float) -> Solid:
    """Soft ground whose upper side is at z = 0, held at its lower side."""
    mesh = box(size, cells).transformed(translate=(-0.5 * size[0], -0.5 * size[1], -size[2]))
    held = np.flatnonzero(mesh.X[:, 2] < -size[2] + 1e-9)
    return Solid(mesh, StableNeoHookean(E, 0.3), damping=Rayleigh(beta=1e-2), pins=[Pin(held)], name="bed")


def die(height: float = 0.05, *, E: float = 5e3, cells: int = 4, h: float = 1e-2, duration: float = 1.0) -> Scene:
    """A die falls on a soft bed with a spin, rolls and comes to rest in the dent it makes."""
    side = 0.06
    cube = box((side, side, side), (1, 1, 1)).transformed(translate=(-0.5 * side,) * 3)
    turned = cube.transformed(rotate=rotation(np.array([0.6, 0.5, 0.1])))
    placed = turned.transformed(translate=(-0.05, 0.0, height - turned.bounds[0][2]))
    thrown = Rigid(placed, density=800.0, velocity=(0.5, 0.0, 0.0), spin=(0.0, 6.0, 1.0), name="die")
    return Scene(
        [_bed((0.3, 0.2, 0.06), (2 * cells, cells, 2), E), thrown],
        contact=PenaltyContact(mu=0.5),
        integrator=BDF1(),
        h=h,
        duration=duration,
        name="die",
    )


def bead_chain(beads: int = 6, *, h: float = 1e-2, duration: float = 1.0) -> Scene:
    """A string of beads on ball joints swings into a soft cube and drags it along the floor."""
    pitch, radius = 0.05, 0.02
    bead = sphere(radius, 2000.0, at(0.0, 0.0, -pitch))
    links = [Link(Spherical(), bead, k - 1 if k else None, at(0, 0, -pitch if k else 0.37)) for k in range(beads)]
    q = np.zeros((beads, 3))
    q[0, 1] = 1.2
    side = 0.12
    mesh = box((side, side, side), (3, 3, 3)).transformed(translate=(-0.5 * side - 0.05, -0.5 * side, 1e-4))
    cube = Solid(mesh, StableNeoHookean(3e4, 0.4), density=200.0, damping=Rayleigh(beta=5e-3), name="cube")
    string = Articulated(links, [JointSpring(k, damping=2e-4) for k in range(beads)], q=q.ravel(), name="beads")
    return Scene(
        [cube, string],
        contact=RowContact(mu=0.3),
        obstacles=[Plane()],
        integrator=LinearlyImplicit(),
        h=h,
        duration=duration,
        name="bead-chain",
    )


def walker(*, E: float = 1e4, cells: int = 3, h: float = 5e-3, duration: float = 1.2) -> Scene:
    """A body on four turning legs walks over soft ground, which gives way below its feet."""
    trunk = cuboid((0.2, 0.03, 0.06), 600.0)
    leg = cuboid((0.015, 0.12, 0.015), 600.0)
    upright = frame(np.column_stack([X, Z, -Y]), (-0.15, 0.0, 0.062))  # the plane of the walk: x forward, y up
    links = [Link(Free2D(), trunk, None, upright, "trunk")]
    forces: list[Any] = []
    for k, (x, z) in enumerate(((0.08, 0.045), (0.08, -0.045), (-0.08, 0.045), (-0.08, -0.045))):
        links.append(Link(Revolute(Z), leg, "trunk", at(x, 0.0, z), f"leg {k}"))
        forces += [Servo(f"leg {k}", partial(_turned, start=FIRST[k]), 5.0, 1.0), JointSpring(f"leg {k}", damping=0.01)]
    legs = Articulated(links, forces, q=(0.0, 0.0, 0.0, *FIRST), name="walker")
    return Scene(
        [_bed((0.7, 0.18, 0.04), (6 * cells, cells, 1), E), legs],
        contact=PenaltyContact(mu=0.8),
        integrator=BDF1(),
        h=h,
        duration=duration,
        name="walker",
    )


FIRST = (0.0, 0.5 * np.pi, 0.5 * np.pi, 0.0)  # how the legs stand at the start [rad]


def _turned(t: float, start: float) -> float:
    """Half a turn a second in the sense that walks towards +x, after a soft start."""
    return start - np.pi * t * min(t / 0.2, 1.0)
