"""An articulated system as a MuJoCo model: what steps are timed and compared with."""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.constraints import FloorContact, LoopClosure, PrescribedJoint
from pliant.articulated.forces import JointSpring
from pliant.articulated.joints import Fixed, Free3D, Prismatic, Revolute, Spherical
from pliant.articulated.system import ArticulatedSystem
from pliant.errors import SceneError

TYPES: dict[type, str] = {Revolute: "HINGE", Prismatic: "SLIDE", Spherical: "BALL", Free3D: "FREE"}


def model(mujoco: Any, system: ArticulatedSystem, h: float, *, rub: float = 0.0) -> Any:
    """Bodies at their joints, springs and dampers of joints, closures as `connect`, feet as spheres on a plane.

    ``rub`` is a constant torque of friction in every hinge, which is how MuJoCo has it. Not by XML, whose elements may
    not be nested as deep as long chains are.
    """
    spec, tree = mujoco.MjSpec(), system.tree
    spec.option.timestep, spec.option.gravity = h, system.gravity
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    springs = {int(f.link): f for f in system.forces if isinstance(f, JointSpring)}
    feet = [c for c in system.constraints if isinstance(c, FloorContact)]
    if feet:
        plane = {"size": [0, 0, 1], "contype": 1, "conaffinity": 1, "friction": [0.8, 0.005, 1e-4]}
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, **plane)
    else:
        spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    bodies: list[Any] = []
    for i, parent in enumerate(tree.parent):
        bodies.append(_body(mujoco, spec.worldbody if parent < 0 else bodies[parent], system, i, springs.get(i), rub))
    for foot in feet:
        _feet(mujoco, bodies[int(foot.link)], foot, tree.Eb[int(foot.link)])
    for c in system.constraints:
        if isinstance(c, LoopClosure):
            _connect(mujoco, spec, system, c)
        if isinstance(c, PrescribedJoint):
            _drive(mujoco, spec, tree.names[int(c.link)])
    return spec.compile()


def _body(mujoco: Any, parent: Any, system: ArticulatedSystem, i: int, spring: JointSpring | None, rub: float) -> Any:
    tree = system.tree
    joint, E, Eb, I = tree.links[i].joint, tree.E0[i], tree.Eb[i], tree.inertia[i]
    mass = {"mass": I[5], "inertia": I[:3], "ipos": Eb[:3, 3], "iquat": _quaternion(Eb), "explicitinertial": True}
    body = parent.add_body(name=tree.names[i], pos=E[:3, 3], quat=_quaternion(E), **mass)
    if isinstance(joint, Fixed):
        return body
    if type(joint) not in TYPES:
        raise SceneError(f"no {type(joint).__name__} in MuJoCo", where="mjcf", remedy="use hinges, sliders, balls")
    made = body.add_joint(name=tree.names[i], type=getattr(mujoco.mjtJoint, f"mjJNT_{TYPES[type(joint)]}"))
    if isinstance(joint, Revolute | Prismatic):
        made.axis, made.frictionloss = np.ravel(joint.axis), rub
    if spring is not None:  # coefficients of polynomials, the linear one first
        made.stiffness, made.damping = _first(made.stiffness, spring.stiffness), _first(made.damping, spring.damping)
    return body


def _first(like: Any, value: float) -> Any:
    """A number, or an array that starts with it, as the version of MuJoCo wants."""
    if np.ndim(like) == 0:
        return value
    full = np.zeros(np.shape(like))
    full[0] = value
    return full


def _feet(mujoco: Any, body: Any, c: FloorContact, Eb: Array) -> None:
    """The spheres of a floor contact, in the frame of the joint; they touch the floor only."""
    points = np.atleast_2d(np.zeros(3) if c.points is None else c.points) @ Eb[:3, :3].T + Eb[:3, 3]
    for x in points:
        look = {"size": [c.radius, 0, 0], "contype": 2, "conaffinity": 1, "friction": [0.8, 0.005, 1e-4]}
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, pos=x, **look)


def _connect(mujoco: Any, spec: Any, system: ArticulatedSystem, c: LoopClosure) -> None:
    tree, first = system.tree, int(c.first)
    anchor = np.zeros(11)
    anchor[:3] = (tree.Eb[first] @ np.append(c.x1, 1.0))[:3]
    other = "world" if c.second is None or int(c.second) < 0 else tree.names[int(c.second)]
    what = {"type": mujoco.mjtEq.mjEQ_CONNECT, "objtype": mujoco.mjtObj.mjOBJ_BODY}
    spec.add_equality(name1=tree.names[first], name2=other, data=anchor, **what)


def _drive(mujoco: Any, spec: Any, joint: str) -> None:
    """A motor that holds a rate."""
    gain, bias = np.zeros(10), np.zeros(10)
    gain[0], bias[2] = 1e4, -1e4
    kinds = {"trntype": mujoco.mjtTrn.mjTRN_JOINT, "biastype": mujoco.mjtBias.mjBIAS_AFFINE}
    spec.add_actuator(target=joint, gainprm=gain, biasprm=bias, **kinds)


def _quaternion(E: Array) -> Array:
    """(w, x, y, z) of the rotation of a frame, the largest eigenvector of its symmetric matrix."""
    R = E[:3, :3]
    trace = np.trace(R)
    K = np.zeros((4, 4))
    K[0] = trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[1, 1:] = 2 * R[0, 0] - trace, R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]
    K[2, 2:] = 2 * R[1, 1] - trace, R[1, 2] + R[2, 1]
    K[3, 3] = 2 * R[2, 2] - trace
    found: Array = np.linalg.eigh(K, UPLO="U")[1][:, -1]
    return found
