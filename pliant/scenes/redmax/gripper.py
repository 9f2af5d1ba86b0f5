"""GRIPPER: an articulated hand takes a soft block and lifts it (SI units)."""

import numpy as np

from pliant.articulated.bodies import at, cuboid
from pliant.articulated.constraints import PrescribedJoint
from pliant.articulated.joints import Prismatic
from pliant.articulated.obstacles import moving_obstacles
from pliant.articulated.system import ArticulatedSystem
from pliant.articulated.tree import Link
from pliant.bodies import Rayleigh, Solid
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.materials import StableNeoHookean
from pliant.mesh import box
from pliant.scene import Scene
from pliant.scenes.redmax.scene import X, Z
from pliant.state import State
from pliant.systems.penalty_contact import PenaltyContact

SIDE, FINGER = 0.1, 0.02  # of the block, and thickness of a finger [m]


def _moved(start: float, end: float, distance: float, link: str) -> PrescribedJoint:
    """A joint that slides by ``distance`` [m] from ``start`` to ``end`` [s] at constant speed."""
    speed = distance / (end - start)
    position = lambda t: speed * float(np.clip(t, start, end) - start)
    return PrescribedJoint(link, lambda t: speed if start < t <= end + 1e-9 else 0.0, position)


def hand(squeeze: float, lift: float) -> ArticulatedSystem:
    """A palm that rises, and two fingers that close on the block by ``squeeze`` [m] each."""
    palm = cuboid((3 * SIDE, 0.5 * SIDE, FINGER), 1000.0)
    finger = cuboid((FINGER, 0.6 * SIDE, 1.5 * SIDE), 1000.0, at(0, 0, -0.75 * SIDE - 0.6 * FINGER))
    reach = 0.5 * SIDE + 0.5 * FINGER + 0.005
    links = [
        Link(Prismatic(Z), palm, None, at(0, 0, 1.8 * SIDE), "palm"),
        Link(Prismatic(X), finger, "palm", at(-reach, 0, 0), "left"),
        Link(Prismatic(-X), finger, "palm", at(reach, 0, 0), "right"),
    ]
    close = [_moved(0.05, 0.25, 0.005 + squeeze, side) for side in ("left", "right")]
    return ArticulatedSystem(links, constraints=[*close, _moved(0.3, 0.7, lift, "palm")], baumgarte=50.0)


def gripper(squeeze: float = 0.012, lift: float = 0.08, *, cells: int = 5, h: float = 5e-3) -> Scene:
    """An articulated hand closes its fingers on a soft block and lifts it by friction; the hand feels nothing."""
    duration = 0.9
    robot = hand(squeeze, lift)
    states = [State(robot.rest, np.zeros(robot.tree.dof))]
    for _ in range(round(duration / h)):
        states.append(LinearlyImplicit().step(robot, states[-1], h).state)
    block = box((SIDE, SIDE, SIDE), (cells,) * 3).transformed(translate=(-0.5 * SIDE, -0.5 * SIDE, 1e-4))
    body = Solid(block, StableNeoHookean(5e4, 0.4), density=500.0, damping=Rayleigh(2.0, 2e-3), name="block")
    return Scene(
        [body],
        contact=PenaltyContact(mu=0.9),
        obstacles=[Plane(), *moving_obstacles(robot, states)],
        integrator=BDF1(),
        h=h,
        duration=duration,
        name="gripper",
    )
