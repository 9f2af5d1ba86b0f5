"""Cloth with other simulated things: an articulated body that swings into it, a soft body that it falls on."""

import numpy as np

from pliant.articulated.bodies import Body, at, cuboid
from pliant.articulated.body import Articulated
from pliant.articulated.joints import Revolute
from pliant.articulated.tree import Link
from pliant.bodies import Rayleigh, Solid
from pliant.cloth.body import Cloth
from pliant.cloth.hands import Handle
from pliant.cloth.material import ClothMaterial
from pliant.contact.obstacles import Box
from pliant.integrators import BDF1, LinearlyImplicit
from pliant.maps.motions import Track
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import box as solid_box
from pliant.mesh import sheet
from pliant.scene import Scene
from pliant.scenes.eol.variants import EOL, FAR_CORNERS, GRAVITY, Variant, by_name, hanging, scene
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact

BOX = (0.4, 0.2, 0.3)  # sides of the box at the end of the arm [m]
START = (-1.4, 0.0)  # angles of the arm [rad]


@by_name
def swing(variant: Variant = EOL, cells: int = 16, duration: float = 1.0) -> Scene:
    """A box on a jointed arm (RedMax) swings into a hanging cloth and back; the cloth does not slow it down."""
    box = recorded_box(duration, 4e-3)
    return scene("SWING", variant, cells, duration, [box], [Handle(FAR_CORNERS)], start=hanging(variant, cells))


def arm() -> Articulated:
    """A double pendulum about x: a light rod, too thin to be touched, and a box hinged to its end."""
    axis = np.array([1.0, 0.0, 0.0])
    rod = cuboid((0.02, 0.02, 0.4), 500.0, at(0.0, 0.0, -0.2))
    links = [
        Link(Revolute(axis), Body(rod.inertia, rod.frame), None, at(0.5, -0.25, 0.0), name="rod"),
        Link(Revolute(axis), cuboid(BOX, 300.0, at(0.0, 0.0, -0.15)), 0, at(0.0, 0.0, -0.4), name="box"),
    ]
    return Articulated(links, q=START, name="arm")


def recorded_box(duration: float, h: float) -> Box:
    """The last body of the arm as an obstacle that moves as it was simulated alone."""
    system, method = arm().system(GRAVITY), LinearlyImplicit()
    state, memory, frames = State(np.array(START), np.zeros(2)), None, []
    for _ in range(round(duration / h) + 1):
        frames.append(system.kinematics(state.q, state.v).frames[-1])
        step = method.step(system, state, h, memory)
        state, memory = step.state, step.memory
    times = h * np.arange(len(frames), dtype=np.float64)
    return Box(size=BOX, motion=Track(times, np.array(frames, dtype=np.float64)), name="arm")


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
