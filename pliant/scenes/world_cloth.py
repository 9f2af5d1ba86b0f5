"""Jointed bodies and cloth that move each other."""

from dataclasses import replace

import numpy as np

from pliant.articulated.bodies import Body, at, cuboid
from pliant.articulated.body import Articulated
from pliant.articulated.joints import Revolute
from pliant.articulated.tree import Link
from pliant.cloth.hands import Handle
from pliant.cloth.material import ClothMaterial
from pliant.contact.obstacles import Box
from pliant.integrators import LinearlyImplicit
from pliant.maps.motions import Track
from pliant.scene import Scene
from pliant.scenes.eol.variants import EOL, FAR_CORNERS, GRAVITY, RELEASED, scene, square
from pliant.state import State

BOX = (0.4, 0.2, 0.3)  # sides of the box at the end of the arm [m]
START = (-1.4, 0.0)  # angles of the arm [rad]


def arm_and_cloth(
    cells: int = 16,
    duration: float = 1.0,
    h: float = 4e-3,
    areal: float = RELEASED.rho,
    mu: float = 0.0,
    one_way: bool = False,
) -> Scene:
    """A box on a jointed arm swings into a hanging cloth of ``areal`` density [kg/m^2], which slows it down.

    The cloth's stiffness is in proportion to its mass, so that without the box it hangs and moves alike whatever it
    weighs. ``one_way`` is the arm as an obstacle that moves as it would without the cloth: the limit of light cloth.
    """
    share = areal / RELEASED.rho
    fabric = ClothMaterial(E=RELEASED.E * share, nu=RELEASED.nu, beta=RELEASED.beta * share, rho=areal)
    flat = square(EOL, cells)
    hanging = replace(flat, x=np.stack([flat.X[:, 0], 0 * flat.X[:, 0], flat.X[:, 1] - 1.0], axis=1))
    obstacles = [recorded(duration, h)] if one_way else []
    made = scene("arm", EOL, cells, duration, obstacles, [Handle(FAR_CORNERS)], start=hanging, mu=mu, fabric=fabric)
    bodies = made.bodies if one_way else [*made.bodies, arm()]
    return replace(made, bodies=bodies, h=h, name="arm and cloth, one way" if one_way else "arm and cloth")


def arm() -> Articulated:
    """A double pendulum about x: a light rod, too thin to be touched, and a box hinged to its end."""
    axis = np.array([1.0, 0.0, 0.0])
    rod = cuboid((0.02, 0.02, 0.4), 500.0, at(0.0, 0.0, -0.2))
    links = [
        Link(Revolute(axis), Body(rod.inertia, rod.frame), None, at(0.5, -0.25, 0.0), name="rod"),
        Link(Revolute(axis), cuboid(BOX, 300.0, at(0.0, 0.0, -0.15)), 0, at(0.0, 0.0, -0.4), name="box"),
    ]
    return Articulated(links, q=START, name="arm")


def recorded(duration: float, h: float) -> Box:
    """The box of the arm as an obstacle that moves as it was simulated alone."""
    system, method = arm().system(GRAVITY), LinearlyImplicit()
    state, memory, frames = State(np.array(START), np.zeros(2)), None, []
    for _ in range(round(duration / h) + 1):
        frames.append(system.kinematics(state.q, state.v).frames[-1])
        step = method.step(system, state, h, memory)
        state, memory = step.state, step.memory
    times = h * np.arange(len(frames), dtype=np.float64)
    return Box(size=BOX, motion=Track(times, np.array(frames, dtype=np.float64)), name="arm/box")
