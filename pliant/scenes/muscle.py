"""MUSCLE: an arm of two light bones bent by a heavy muscle, four degrees of freedom in all. [ConJac2020, Fig. 1d]

Upper arm down from the shoulder, forearm forward from the elbow, a spindle of 259 vertices and 432 triangles between
them (the paper's has 262 and 438). Moduli and densities are those of the paper times the depth of the arm.
"""

from collections.abc import Callable

import numpy as np

from pliant.arrays import Array
from pliant.articulated import Articulated, bodies
from pliant.articulated.joints.revolute import Revolute
from pliant.articulated.tree import Link
from pliant.attachments import Attachment
from pliant.bodies import Solid
from pliant.integrators import LinearlyImplicit
from pliant.loads import Activation
from pliant.materials import AnisotropicFung, StableNeoHookean
from pliant.mesh import Mesh, rectangle
from pliant.scene import Scene
from pliant.systems.condensed import Condensation

DEPTH = 0.02  # of the planar arm [m]
UPPER, FORE = 0.12, 0.10  # lengths of the bones [m]
TOP, BOTTOM = np.array([0.012, -0.02]), np.array([0.035, -UPPER + 0.008])  # ends of the muscle
Z = np.array([0.0, 0.0, 1.0])


def ramp(t: float) -> float:
    """Activation: 0 for 0.2 s, rising to 1 within 0.2 s."""
    return float(np.clip((t - 0.2) / 0.2, 0.0, 1.0))


def spindle(cells: tuple[int, int] = (36, 6)) -> tuple[Mesh, Array]:
    """The muscle in the plane, and for every vertex how far it is along it (0 to 1)."""
    flat = rectangle((1.0, 1.0), cells)
    s, across = flat.X[:, 0], flat.X[:, 1] - 0.5
    along = BOTTOM - TOP
    length = float(np.linalg.norm(along))
    e = along / length
    width = 0.004 + 0.016 * np.sin(np.pi * s) ** 2
    X = TOP + length * s[:, None] * e + (width * across)[:, None] * np.array([-e[1], e[0]])
    return Mesh(X, flat.T), s


def skeleton() -> Articulated:
    """Shoulder and elbow about z; bones of 5 mm."""
    down = bodies.cuboid((0.005, UPPER, 0.005), 1000.0, bodies.at(0.0, -0.5 * UPPER, 0.0))
    forward = bodies.cuboid((FORE, 0.005, 0.005), 1000.0, bodies.at(0.5 * FORE, 0.0, 0.0))
    links = [
        Link(Revolute(Z), down, name="upper arm"),
        Link(Revolute(Z), forward, parent="upper arm", frame=bodies.at(0.0, -UPPER, 0.0), name="forearm"),
    ]
    return Articulated(links, name="arm")


def muscle(
    activation: Callable[[float], float] = ramp,
    *,
    density: float = 1000.0,
    gravity: float = 9.81,
    beta: float = 0.5,
    duration: float = 1.0,
) -> Scene:
    """MUSCLE: one dynamic node in the belly and two joints; stiff tendons at the ends are grown to the bones."""
    mesh, s = spindle()
    middle = s[mesh.T].mean(axis=1)
    e = (BOTTOM - TOP) / np.linalg.norm(BOTTOM - TOP)
    fibre = np.array([e[0], e[1], 0.0])
    soft = StableNeoHookean(DEPTH * np.where((middle < 0.12) | (middle > 0.88), 3e5, 3e4), 0.49)
    center = int(np.argmin(np.linalg.norm(mesh.X - 0.5 * (TOP + BOTTOM), axis=1)))
    flesh = Solid(
        mesh,
        soft + AnisotropicFung(fibre, DEPTH * 1e4),
        density=DEPTH * density,
        reduction=Condensation(np.array([center])),
        name="flesh",
    )
    return Scene(
        [flesh, skeleton()],
        attachments=[
            Attachment("flesh", np.flatnonzero(s < 1e-9), "arm", "upper arm"),
            Attachment("flesh", np.flatnonzero(s > 1 - 1e-9), "arm", "forearm"),
        ],
        forces=[Activation(fibre, DEPTH * 2e4, activation, body="flesh")],
        gravity=(0.0, -gravity),
        integrator=LinearlyImplicit(beta=beta),
        h=5e-3,
        duration=duration,
        name="muscle",
    )
