"""MIXED PILE: twenty bodies of every kind fall into a bowl, under barriers (SI units)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.bodies import at, cuboid
from pliant.articulated.body import Articulated, Rigid
from pliant.articulated.joints import Free3D, Spherical
from pliant.articulated.tree import Link
from pliant.bodies import Membrane, Rayleigh, Solid
from pliant.contact.obstacles import Bowl
from pliant.integrators import BDF1
from pliant.maps.motions import rotation
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, ball, box, sheet
from pliant.scene import Scene
from pliant.solvers import Newton
from pliant.systems.barrier_contact import BarrierContact

PITCH = 0.16  # of the lattice the bodies start on [m]


def mixed_pile(count: int = 20, *, seed: int = 0, duration: float = 0.5, h: float = 1e-2) -> Scene:
    """Soft cubes, dice, balls, patches of rubber and short chains, turned at random, fall into a bowl."""
    rng = np.random.default_rng(seed)
    bodies = []
    for k in range(count):
        place = PITCH * np.array([k % 2 - 0.5, (k // 2) % 2 - 0.5, k // 4]) + 0.005 * rng.normal(size=3)
        velocity = tuple(0.5 * rng.normal(size=3) - (0.0, 0.0, 1.0))
        bodies.append(KINDS[k % len(KINDS)](k, rotation(rng.normal(size=3)), place, velocity))
    return Scene(
        bodies,
        contact=BarrierContact(dhat=1e-3, mu=0.2),
        obstacles=[Bowl(center=(0.0, 0.0, 0.28), radius=0.4)],
        integrator=BDF1(Newton(project="on_demand", max_iterations=300), points=True),
        h=h,
        duration=duration,
        name=f"mixed-pile-{seed}",
    )


def _placed(mesh: Mesh, turn: Array, place: Array) -> Mesh:
    middle = 0.5 * (mesh.bounds[0] + mesh.bounds[1])
    return mesh.transformed(translate=-middle).transformed(rotate=turn, translate=place)


def _cube(k: int, turn: Array, place: Array, velocity: Any) -> Solid:
    mesh = _placed(box((0.08, 0.08, 0.08), (1, 1, 1)), turn, place)
    return Solid(mesh, StableNeoHookean(1e5, 0.4), density=1000.0, velocity=velocity, name=f"cube {k}")


def _die(k: int, turn: Array, place: Array, velocity: Any) -> Rigid:
    mesh = _placed(box((0.06, 0.06, 0.06), (1, 1, 1)), turn, place)
    return Rigid(mesh, density=1000.0, velocity=velocity, name=f"die {k}")


def _ball(k: int, turn: Array, place: Array, velocity: Any) -> Rigid:
    mesh = _placed(ball(radius=0.04, cells=3), turn, place)
    return Rigid(mesh, density=1000.0, velocity=velocity, name=f"ball {k}")


def _patch(k: int, turn: Array, place: Array, velocity: Any) -> Membrane:
    mesh = _placed(sheet((0.1, 0.1), (3, 3)), turn, place)
    rubber = StableNeoHookean(2e5, 0.3)
    damping = Rayleigh(alpha=0.5)
    return Membrane(mesh, rubber, thickness=1e-3, density=1000.0, damping=damping, velocity=velocity, name=f"patch {k}")


def _chain(k: int, turn: Array, place: Array, velocity: Any) -> Articulated:
    length = 0.04
    piece = cuboid((0.8 * length, 0.02, 0.02), 1000.0, at(0.5 * length, 0.0, 0.0))
    start = at(place - turn @ np.array([1.5 * length, 0.0, 0.0]))
    start[:3, :3] = turn
    links = [Link(Free3D(), piece, None, start, "0")]
    links += [Link(Spherical(), piece, i, at(length, 0.0, 0.0), str(i + 1)) for i in range(2)]
    v = np.zeros(12)
    v[:3] = turn.T @ np.asarray(velocity)
    return Articulated(links, v=v, name=f"chain {k}")


KINDS: tuple[Callable[..., Any], ...] = (_cube, _die, _patch, _ball, _chain)
