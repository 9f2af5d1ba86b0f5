"""An articulated system written as a MuJoCo model: what steps are timed and compared with."""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.constraints import LoopClosure, PrescribedJoint
from pliant.articulated.constraints.contact import FloorContact
from pliant.articulated.forces import JointSpring
from pliant.articulated.joints import Fixed, Free3D, Prismatic, Revolute, Spherical
from pliant.articulated.system import ArticulatedSystem
from pliant.errors import SceneError

TYPES: dict[type, str] = {Revolute: "hinge", Prismatic: "slide", Spherical: "ball", Free3D: "free"}


def model(system: ArticulatedSystem, h: float, *, rub: float = 0.0) -> str:
    """The XML: bodies at their joints, springs and dampers of joints, closures as `connect`, floors as spheres' plane.

    ``rub`` is a constant torque of friction in every hinge, which is how MuJoCo has it.
    """
    tree = system.tree
    children: dict[int, list[int]] = {i: [] for i in range(-1, len(tree))}
    for i, parent in enumerate(tree.parent):
        children[int(parent)].append(i)
    springs = {int(f.link): f for f in system.forces if isinstance(f, JointSpring)}
    feet = [c for c in system.constraints if isinstance(c, FloorContact)]
    text = {i: _link(system, i, springs.get(i), feet, rub) for i in range(len(tree))}
    for i in reversed(range(len(tree))):
        text[i] = text[i].replace("@", "".join(text[c] for c in children[i]))
    flags = '<flag contact="disable"/>' if not feet else ""
    gravity = _numbers(system.gravity)
    head = f'<option timestep="{h}" integrator="Euler" gravity="{gravity}">{flags}</option>'
    floor = '<geom type="plane" size="0 0 1" friction="0.8" contype="1" conaffinity="1"/>' if feet else ""
    body = floor + "".join(text[i] for i in children[-1])
    return f"<mujoco>{head}<worldbody>{body}</worldbody>{_closures(system)}{_motors(system)}</mujoco>"


def _link(system: ArticulatedSystem, i: int, spring: JointSpring | None, feet: list[FloorContact], rub: float) -> str:
    tree = system.tree
    joint, E, Eb, name = tree.links[i].joint, tree.E0[i], tree.Eb[i], tree.names[i]
    I = tree.inertia[i]
    mass = f'mass="{float(I[5])!r}" diaginertia="{_numbers(I[:3])}"'
    held = f'<inertial pos="{_numbers(Eb[:3, 3])}" quat="{_quaternion(Eb)}" {mass}/>'
    told = ""
    if not isinstance(joint, Fixed):
        if type(joint) not in TYPES:
            raise SceneError(f"no {type(joint).__name__} in MuJoCo", where="mjcf", remedy="use hinges, sliders, balls")
        told = f'<joint name="{name}" type="{TYPES[type(joint)]}"'
        if isinstance(joint, Revolute | Prismatic):
            told += f' axis="{_numbers(np.ravel(joint.axis))}"' + (f' frictionloss="{rub}"' if rub else "")
        if spring is not None:
            told += f' stiffness="{spring.stiffness}" damping="{spring.damping}"'
        told += "/>"
    geoms = "".join(_feet(c, Eb) for c in feet if int(c.link) == i)
    place = f'pos="{_numbers(E[:3, 3])}" quat="{_quaternion(E)}"'
    return f'<body name="{name}" {place}>{told}{held}{geoms}@</body>'


def _feet(c: FloorContact, Eb: Array) -> str:
    """The spheres of a floor contact, in the frame of the joint; they touch the floor only."""
    points = np.atleast_2d(np.zeros(3) if c.points is None else c.points) @ Eb[:3, :3].T + Eb[:3, 3]
    options = f'type="sphere" size="{c.radius}" friction="0.8" contype="2" conaffinity="1"'
    return "".join(f'<geom {options} pos="{_numbers(x)}"/>' for x in points)


def _closures(system: ArticulatedSystem) -> str:
    tree, found = system.tree, ""
    for c in system.constraints:
        if isinstance(c, LoopClosure):
            first, second = int(c.first), -1 if c.second is None else int(c.second)
            x = tree.Eb[first] @ np.append(c.x1, 1.0)
            other = f'body2="{tree.names[second]}"' if second >= 0 else ""
            found += f'<connect body1="{tree.names[first]}" {other} anchor="{_numbers(x[:3])}"/>'
    return f"<equality>{found}</equality>" if found else ""


def _motors(system: ArticulatedSystem) -> str:
    names = [system.tree.names[int(c.link)] for c in system.constraints if isinstance(c, PrescribedJoint)]
    found = "".join(f'<velocity joint="{name}" kv="1e4"/>' for name in names)
    return f"<actuator>{found}</actuator>" if found else ""


def _numbers(x: Any) -> str:
    return " ".join(repr(float(value)) for value in x)


def _quaternion(E: Array) -> str:
    """(w, x, y, z) of the rotation of a frame."""
    R = E[:3, :3]
    K = np.array(
        [
            [np.trace(R), R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0.0, 2 * R[0, 0] - np.trace(R), R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [0.0, 0.0, 2 * R[1, 1] - np.trace(R), R[1, 2] + R[2, 1]],
            [0.0, 0.0, 0.0, 2 * R[2, 2] - np.trace(R)],
        ]
    )
    return _numbers(np.linalg.eigh(K, UPLO="U")[1][:, -1])
