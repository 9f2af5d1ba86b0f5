"""Numbered RedMax scenes made of serial chains of bars (units cm, g, s)."""

import numpy as np

from pliant.articulated.bodies import at, particle
from pliant.articulated.constraints import BallClosure, CoupledJoints, JointLimit, PrescribedJoint
from pliant.articulated.forces import (
    BodyDamping,
    Explicit,
    JointSpring,
    JointTorque,
    PointSprings,
    SpringDamper,
    WorldForce,
)
from pliant.articulated.joints import Fixed, Revolute, Translational
from pliant.articulated.quirks import Quirks
from pliant.articulated.tree import Link
from pliant.scene import Scene
from pliant.scenes.redmax.scene import Y, Z, before, chain, scene, serial

PI = np.pi
WEIGHTLESS = (0.0, 0.0, 0.0)


def scene_m1() -> Scene:
    """Double pendulum."""
    return scene(chain(2), q=(PI / 2, PI / 4))


def scene_0() -> Scene:
    """Five bars, the second and fourth welded."""
    return scene(serial([Fixed() if i in (1, 3) else Revolute(Y) for i in range(5)]), q=(PI / 4,) * 3)


def scene_1() -> Scene:
    """Hinge axes z, y, z."""
    return scene(serial([Revolute(axis) for axis in (Z, Y, Z)]), q=(0, PI / 2, PI / 2))


def scene_5() -> Scene:
    """Joint torques that change at 3 s and 6 s, without gravity."""
    torques = ((0, 0, 100), (0, 100, -100), (100, -100, 0))
    pick = lambda i: lambda t: torques[0 if before(t, 3) else 1 if before(t, 6) else 2][i]
    forces = [JointTorque(i, pick(i)) for i in range(3)]
    return scene(chain(3), forces=forces, gravity=WEIGHTLESS, duration=10.0, h=0.05)


def scene_6() -> Scene:
    """Joint limit, with the reference's sign at the upper limit."""
    limit = JointLimit(1, -PI / 4, PI / 4)
    return scene(chain(2), constraints=[limit], quirks=Quirks(upper_limit_flipped=True))


def scene_7() -> Scene:
    """q2 = q1/2, q3 = q2/2."""
    return scene(chain(3), constraints=[CoupledJoints(0, 1, 0.5), CoupledJoints(1, 2, 0.5)], h=0.02)


def sigmoid(link: int, end: float, height: float, *, hold: bool = True) -> PrescribedJoint:
    """A joint moved along height/(1 + exp(-7 s)), s = 2t/end - 1, then held."""
    a = 7.0
    p = lambda t: 1.0 / (1.0 + np.exp(-a * (2.0 * t / end - 1.0)))
    slope = 2.0 * a / end
    until = lambda f, after: lambda t: f(t) if before(t, end) or not hold else after
    position = until(lambda t: height * p(t), height)
    rate = until(lambda t: height * slope * p(t) * (1.0 - p(t)), 0.0)
    acceleration = until(lambda t: height * slope**2 * p(t) * (1.0 - p(t)) * (1.0 - 2.0 * p(t)), 0.0)
    return PrescribedJoint(link, rate, position, acceleration)


def scene_9() -> Scene:
    """The first joint follows a sigmoid."""
    return scene(
        chain(3),
        constraints=[sigmoid(0, 7.0, 1.5 * PI)],
        gravity=WEIGHTLESS,
        duration=10.0,
        h=0.02,
        quirks=Quirks(no_rate_feedback=True),
    )


def scene_10() -> Scene:
    """Damped bodies pulled by a world force."""
    forces = [BodyDamping(10.0), WorldForce(2, at(5, 0, 0)[:3, 3], np.array([0.0, 0.0, 1000.0]))]
    return scene(chain(3), forces=forces, gravity=WEIGHTLESS)


def scene_11() -> Scene:
    """Stiff and damped joints."""
    forces = [JointSpring(i, 1e4, 1e3) for i in range(3)]
    return scene(chain(3), forces=forces, v=(1, 0, 0), gravity=WEIGHTLESS, duration=5.0, h=0.02)


def scene_12() -> Scene:
    """Two strings of mass points: from the world to the last bar, and between the bars."""
    links = chain(2)
    start, tip = np.array([30.0, 0.0, 10.0]), np.array([20.0, 0.0, 0.0])
    middle = (np.array([5.0, 0.0, 0.0]), np.array([15.0, 0.0, 0.0]))
    nodes = [start, 0.5 * (start + tip), tip, *middle]
    links += [Link(Translational(), particle(1.0 / 3.0 if i < 3 else 0.5)) for i in range(5)]
    forces = []
    for a, b in ((2, 3), (3, 4), (5, 6)):
        rest = float(np.linalg.norm(nodes[a - 2] - nodes[b - 2]))
        forces.append(Explicit(SpringDamper((a, np.zeros(3)), (b, np.zeros(3)), 1e5 / rest, rest=rest)))
    o, end = np.zeros(3), np.array([5.0, 0.0, 0.0])
    constraints = [
        BallClosure(None, start, 2, o),
        BallClosure(1, end, 4, o),
        BallClosure(0, o, 5, o),
        BallClosure(1, o, 6, o),
    ]
    q = np.concatenate([np.zeros(2), *nodes])
    return scene(links, q=q, forces=forces, constraints=constraints, duration=1.0, h=5e-3)


def scene_23() -> Scene:
    """Zero-length springs between neighbouring bars."""
    ends = (np.tile([-1.0, 0, 0], (3, 1)), np.tile([5.0, 0, 0], (3, 1)))
    springs = PointSprings((0, 1, 2), ends[0], (1, 2, 3), ends[1], 100.0)
    return scene(chain(4), q=(PI / 2, PI / 16, PI / 16, PI / 16), forces=[springs])


def scene_24() -> Scene:
    """A stiff spring-damper between a fixed and a hinged bar, with the reference's damper."""
    links = serial([Fixed(), Revolute(Y), Revolute(Y)])
    damper = SpringDamper((0, np.array([-2.0, 0, -0.5])), (1, np.array([1.0, 0.5, -0.5])), 1e6, 1e3)
    quirks = Quirks(damper_adds_velocity=True, spring_energy_over_length=True)
    return scene(links, q=(PI / 2, -PI / 2), forces=[damper], quirks=quirks)
