"""Cloth with other simulated things: an articulated body that swings into it, a soft body that it falls on."""

from dataclasses import replace

import numpy as np

from pliant.articulated.bodies import at, cuboid
from pliant.articulated.joints import Revolute
from pliant.articulated.tree import Link
from pliant.bodies import Rayleigh, Solid
from pliant.cloth.body import Cloth
from pliant.cloth.material import ClothMaterial
from pliant.cloth.obstacles import Polyhedron, Track, hull
from pliant.cloth.scene import ClothScene
from pliant.cloth.world import Handle, World
from pliant.integrators import BDF1
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import box as solid_box
from pliant.mesh import sheet
from pliant.scene import Scene
from pliant.scenes.eol.variants import EOL, FAR_CORNERS, Variant, scene, square
from pliant.scenes.redmax.scene import run
from pliant.scenes.redmax.scene import scene as articulated
from pliant.systems.barrier_contact import BarrierContact


def swing(variant: Variant = EOL, cells: int = 16, duration: float = 1.0) -> ClothScene:
    """A box on a jointed arm (RedMax) swings into a hanging cloth and back; the cloth does not slow it down."""
    arm = _arm(duration)
    flat = square(variant, cells)
    hanging = replace(flat, x=np.stack([flat.X[:, 0], 0 * flat.X[:, 0], flat.X[:, 1] - 1.0], axis=1))
    world = World((_carried_box(arm),), (Handle(FAR_CORNERS),))
    return scene("SWING", variant, cells, world, duration, hanging)


def _arm(duration: float) -> Scene:
    """A double pendulum about x: a light rod, and a box hinged to its end."""
    axis = np.array([1.0, 0.0, 0.0])
    links = [
        Link(Revolute(axis), cuboid((0.02, 0.02, 0.4), 500.0, at(0.0, 0.0, -0.2)), None, at(0.5, -0.25, 0.0)),
        Link(Revolute(axis), cuboid((0.4, 0.2, 0.3), 300.0, at(0.0, 0.0, -0.15)), 0, at(0.0, 0.0, -0.4)),
    ]
    return articulated(links, q=(-1.4, 0.0), h=4e-3, duration=duration, gravity=(0.0, 0.0, -9.8))


def _carried_box(arm: Scene) -> Polyhedron:
    """The last body of the arm as an obstacle that moves as it was simulated."""
    steps = run(arm)
    system = arm.system()
    frames = np.array([system.kinematics(s.state.q, s.state.v).frames[-1] for s in steps], dtype=np.float64)
    corners = 0.5 * np.array([[i, j, k] for i in (-0.4, 0.4) for j in (-0.2, 0.2) for k in (-0.3, 0.3)])
    R, p = frames[0, :3, :3], frames[0, :3, 3]
    return hull(corners @ R.T + p, motion=Track(float(arm.h) * np.arange(len(frames), dtype=np.float64), frames))


def drape(cells: int = 16, E: float = 2e4) -> Scene:
    """A cloth falls on a soft block and drapes over its edges.

    The edges of a soft body move with its vertices: no vertex of the cloth is put on them, contact is Lagrangian.
    """
    block = solid_box(size=(0.3, 0.3, 0.15), cells=(4, 4, 2)).transformed(translate=(-0.15, -0.15, 0.0))
    mesh = sheet(size=(0.6, 0.6), cells=(cells, cells))
    middle = 0.5 * (mesh.bounds[0] + mesh.bounds[1])
    mesh = mesh.transformed(translate=-middle + (0.0, 0.0, 0.17))
    foot = Pin(block.where(lambda X: X[:, 2] < 1e-9))
    soft = Solid(block, StableNeoHookean(E, 0.4), density=500.0, pins=foot, damping=Rayleigh(beta=5e-3), name="block")
    cloth = Cloth(mesh, ClothMaterial(E=200.0, nu=0.1, beta=1e-4, rho=0.2), thickness=2e-3, damping=Rayleigh(alpha=0.5))
    return Scene(
        [soft, cloth],
        contact=BarrierContact(dhat=4e-3, mu=0.3),
        integrator=BDF1(),
        h=5e-3,
        duration=0.6,
        on_failure="substep",
        name="drape",
    )
