"""Numbered RedMax scenes with closed loops and prescribed bodies, without friction (units cm, g, s)."""

import numpy as np

from pliant.arrays import Array
from pliant.articulated.bodies import at, cuboid, cylinder
from pliant.articulated.constraints import CoupledJoints, LoopClosure, PrescribedBody, PrescribedJoint
from pliant.articulated.joints import Fixed, Joint, Prismatic, Revolute
from pliant.articulated.quirks import Quirks
from pliant.articulated.se3 import frame, hat, rotation
from pliant.articulated.tree import Link
from pliant.scene import Scene
from pliant.scenes.redmax.chains import sigmoid
from pliant.scenes.redmax.scene import X, Y, bar, before, hinge, scene

PI = np.pi
DOWN, LOW, UP = (1, 1, 10), (0, 0, -5), (0, 0, 5)
LONG, RIGHT = (10, 1, 1), (5, 0, 0)


def scene_4() -> Scene:
    """A swing: four-bar loop with a pendulum on it."""
    links = [
        bar(Fixed(), (20, 1, 1)),
        hinge(Y, DOWN, LOW, 0, (-10, 0, 0)),
        hinge(Y, DOWN, LOW, 0, (10, 0, 0)),
        hinge(Y, (20, 1, 1), (10, 0, 0), 1, (0, 0, -10)),
        hinge(Y, DOWN, LOW, 3, (10, 0, 0)),
    ]
    loop = LoopClosure(2, np.array([0, 0, -5.0]), 3, np.array([10.0, 0, 0]), Y)
    return scene(links, v=(0, 0, 0, 5), constraints=[loop])


def scene_8() -> Scene:
    """A six-bar loop with two coupled joints."""
    links = [
        bar(Fixed(), LONG),
        hinge(Y, DOWN, LOW, 0, (5, 0, 0)),
        hinge(Y, DOWN, LOW, 1, (0, 0, -10)),
        hinge(Y, LONG, (-5, 0, 0), 2, (0, 0, -10)),
        hinge(Y, DOWN, UP, 3, (-10, 0, 0)),
        hinge(Y, DOWN, UP, 4, (0, 0, 10)),
        hinge(Y, DOWN, LOW, 3, (-5, 0, 0)),
    ]
    loop = LoopClosure(5, np.array([0, 0, 5.0]), 0, np.array([-5.0, 0, 0]), Y)
    return scene(links, v=(0, 0, 0, 0, 0, 10), constraints=[loop, CoupledJoints(2, 5, 0.5)], h=0.02)


def body_script(t: float) -> tuple[float, float, float, float]:
    """Rotation rate about y, world velocity along x, and their derivatives."""
    if before(t, 2):
        return -t, 0.0, -1.0, 0.0
    if before(t, 4):
        return t - 4, 0.0, 1.0, 0.0
    if before(t, 6):
        return t - 4, -2 * (t - 4), 1.0, -2.0
    if before(t, 8):
        return 8 - t, 2 * (t - 8), -1.0, 2.0
    return 0.0, 0.0, 0.0, 0.0


def scripted_twist(t: float, E: Array, phi: Array) -> tuple[Array, Array]:
    """The script in the body frame; its derivative includes the turning of the frame."""
    w, vx, dw, dvx = body_script(t)
    Rt = E[:3, :3].T
    v = Rt @ np.array([vx, 0.0, 0.0])
    vdot = Rt @ np.array([dvx, 0.0, 0.0]) - hat(phi[:3]) @ v
    return np.array([0.0, w, 0.0, *v]), np.array([0.0, dw, 0.0, *vdot])


def scene_13() -> Scene:
    """A chain whose last body follows a script."""
    links = [
        hinge(Y, DOWN, LOW),
        hinge(Y, LONG, RIGHT, 0, (0, 0, -10)),
        hinge(Y, DOWN, UP, 1, (10, 0, 0)),
        hinge(Y, LONG, RIGHT, 2, (0, 0, 10)),
    ]
    script = PrescribedBody(3, (1, 3, 5), scripted_twist)
    return scene(links, constraints=[script], h=0.05, duration=10.0, quirks=Quirks(no_rate_feedback=True))


def scene_15() -> Scene:
    """A loop with a slider."""
    links = [
        bar(Fixed(), (22, 1, 1)),
        hinge(Y, DOWN, LOW, 0, (-11, 0, 0)),
        bar(Prismatic(X), (22, 1, 1), (11, 0, 0), 1, (0, 0, -10)),
        hinge(Y, DOWN, UP, 2, (22, 0, 0)),
        hinge(Y, DOWN, LOW, 2, (11, 0, 0)),
    ]
    loop = LoopClosure(3, np.array([0, 0, 5.0]), 0, np.array([11.0, 0, 0]), Y)
    return scene(links, q=(0, 0, 0, 3 * PI / 4), constraints=[loop])


def scene_20() -> Scene:
    """A longer chain with its last body and one joint prescribed."""
    links = [
        hinge(Y, DOWN, LOW),
        hinge(Y, LONG, RIGHT, 0, (0, 0, -10)),
        hinge(Y, LONG, RIGHT, 1, (10, 0, 0)),
        hinge(Y, DOWN, UP, 2, (10, 0, 0)),
        hinge(Y, LONG, RIGHT, 3, (0, 0, 10)),
    ]
    constraints = [PrescribedBody(4, (1, 3, 5), scripted_twist), sigmoid(2, 10.0, PI / 2, hold=False)]
    return scene(links, constraints=constraints, h=0.05, duration=10.0, quirks=Quirks(no_rate_feedback=True))


def four_bar(root: Joint, frame_: Array) -> tuple[list[Link], LoopClosure]:
    """Ground 10, crank 4, coupler 14 and rocker 12, thickness 0.5; the triangle 6-12-14 gives the start."""
    s = 16.0
    z = 2.0 * np.sqrt(s * (s - 6) * (s - 12) * (s - 14)) / 6.0
    x = np.sqrt(196.0 - z * z)
    coupler = frame(rotation(Y, -np.arctan2(z, x)), np.array([0.5 * x, 0, 0.5 * z]))
    rocker = frame(rotation(Y, -np.arctan2(z, x - 6)), np.array([-0.5 * (x - 6), 0, -0.5 * z]))
    thin = lambda length: (length, 0.5, 0.5)
    links = [
        Link(root, cuboid(thin(10), 1.0), None, frame_),
        hinge(Y, thin(4), (2, 0, 0), 0, (-5, 0, 0)),
        Link(Revolute(Y), cuboid(thin(14), 1.0, coupler), 1, at(4, 0, 0)),
        Link(Revolute(Y), cuboid(thin(12), 1.0, rocker), 2, at(x, 0, z)),
    ]
    return links, LoopClosure(3, np.array([-6.0, 0, 0]), 0, np.array([5.0, 0, 0]), Y)


def scene_32() -> Scene:
    """The four-bar on a hinged root, its crank driven at 4 pi rad/s."""
    links, loop = four_bar(Revolute(Y), at(0, 0, 10))
    h = 5e-3
    # The reference gives -4 pi and its row turns the sign.
    drive = PrescribedJoint(1, lambda t: 4 * PI, maximal=True)
    return scene(links, q=(PI, 0, 0, 0), constraints=[loop, drive], h=h, duration=1.0, baumgarte=0.1 / h)


def scene_34() -> Scene:
    """A gear train. The reference uses a gear mesh from a data file; these are plain discs of the same kind."""
    radii = (2.0, 4.0)
    turned = frame(rotation(X, PI / 2))
    links = [bar(Fixed(), (12, 0.5, 0.5))]
    links += [
        Link(Revolute(Y), cylinder(r, 1.0, 1.0, turned), 0, at(x, 0, 0))
        for r, x in zip(radii, (-3.0, 3.0), strict=True)
    ]
    links.append(hinge(Y, (1, 1, 4), (0, 0, -2), 1, (0, 1, 0)))
    return scene(links, q=(0, 0, PI / 2), constraints=[CoupledJoints(1, 2, -radii[0] / radii[1])])
