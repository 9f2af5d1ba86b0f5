"""Robots from MJCF files, as far as they map to the types of this package; the rest is refused by name.

MuJoCo's own compiler reads the file (defaults, includes, angles, inertias from geometry); this module translates the
model that it makes. A body with several joints becomes as many links, of which the last carries the mass.
Coordinates are measured from the pose of the file: q = qpos - qpos0. Gravity, contact and the time step belong to the
scene, as with every other body.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.bodies import Body, Surface, cuboid, surfaced
from pliant.articulated.constraints import JointLimit
from pliant.articulated.forces import JointSpring
from pliant.articulated.joint_contacts import DryFriction
from pliant.articulated.joints import Fixed, Free3D, Joint, Prismatic, Revolute, Spherical
from pliant.articulated.robots import FRAME_ONLY, Geometry, Robot, require_geometry, round_shape
from pliant.articulated.se3 import frame, hat
from pliant.articulated.tree import Link
from pliant.errors import MissingDependency, SceneError

SHAPES = ("box", "sphere", "capsule", "cylinder", "mesh")
OTHER_SHAPES = ("plane", "hfield", "ellipsoid", "sdf")
FLAGS = ("limit", "frictionloss", "passive", "spring", "damper")  # of <option>, which may switch off what is read
REMEDY = "take it out of the file, or name its kind in skip=(...) to go without it"


def read_mjcf(source: str | Path, *, skip: Sequence[str] = (), geometry: Geometry = "collision") -> Robot:
    """The robot in an MJCF file, or in a string that starts with '<'.

    Bodies, inertias, hinge, slide, ball and free joints with limits, springs, dampers, friction and armature, and geoms
    (box, sphere, capsule, cylinder, mesh) are read. Everything else that changes the motion is refused by its name,
    unless its kind ("actuator", "tendon", "equality", "flex", "plane", ...) is in ``skip``.

    Links have one surface, which is drawn and touched: that of the geoms that can touch anything (contype or
    conaffinity is not 0), or with "visual" of those that cannot, or of the former where a link has no others.
    """
    if isinstance(skip, str) or not (isinstance(skip, Sequence) and all(isinstance(kind, str) for kind in skip)):
        raise SceneError(f"skip is {skip!r:.60}", where="read_mjcf", remedy='list kinds, such as ["actuator"]')
    require_geometry(geometry, "read_mjcf")
    model = _compiled(source)
    geoms = [g for b in range(model.nbody) for g in _geoms(model, b, geometry)]
    found = dict(_foreign(model, geoms))
    unknown = [kind for kind in skip if kind not in found]
    if unknown:
        remedy = f"choose from {', '.join(found)}"
        raise SceneError(f"there is no kind {unknown[0]!r} to skip", where="read_mjcf.skip", remedy=remedy)
    for kind, names in found.items():
        if names and kind not in skip:
            listed = ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")
            raise SceneError(f"{kind}: {listed}", where="MJCF", remedy=REMEDY)
    robot = Robot(_model_name(model), [], [], [], [])
    last: dict[int, tuple[str | None, Array]] = {}  # of each body: its last link, and where that joint is in the body
    for b in range(model.nbody):
        surface = list(_surfaces(model, _geoms(model, b, geometry)))
        last[b] = _add_body(robot, model, b, last, surface)
    if len(robot.links) == 0:
        raise SceneError("no bodies", where="MJCF", remedy="give it a <body> within <worldbody>")
    return robot


def _compiled(source: str | Path) -> Any:
    try:
        import mujoco
    except ImportError as error:
        remedy = 'pip install "pliant[mjcf]"'
        raise MissingDependency("mujoco is not installed", where="read_mjcf", remedy=remedy) from error
    text = str(source)
    load = mujoco.MjModel.from_xml_string if text.lstrip().startswith("<") else mujoco.MjModel.from_xml_path
    try:
        return load(text)
    except ValueError as error:  # the compiler's message names element and line
        what = " ".join(str(error).split())
        raise SceneError(f"MuJoCo cannot read it: {what}", where=text[:60], remedy="give an MJCF file") from error


def _foreign(model: Any, geoms: Sequence[int]) -> Iterator[tuple[str, list[str]]]:
    """What has no counterpart here and changes the motion, or the surfaces of the ``geoms``: (kind, names)."""

    def named(count: int, name: Callable[[int], Any], keep: Callable[[int], bool] = lambda k: True) -> list[str]:
        return [name(k).name or f"number {k}" for k in range(count) if keep(k)]

    yield "actuator", named(model.nu, model.actuator)
    yield "tendon", named(model.ntendon, model.tendon)
    yield "equality", named(model.neq, model.equality)
    yield "flex", [f"number {k}" for k in range(model.nflex)]
    yield "plugin", [f"number {k}" for k in range(model.nplugin)]
    yield "mocap", named(model.nbody, model.body, lambda k: model.body_mocapid[k] >= 0)
    yield "gravcomp", named(model.nbody, model.body, lambda k: model.body_gravcomp[k] != 0.0)
    fluid = {"density": model.opt.density, "viscosity": model.opt.viscosity}
    yield "fluid", [f"option {name} = {value:g}" for name, value in fluid.items() if value != 0.0]
    yield "polynomial", _polynomials(model, named)
    yield "flag", [name for name in FLAGS if name in _disabled(model)]
    for word in OTHER_SHAPES:
        yield word, [model.geom(g).name or f"number {g}" for g in geoms if _shape(model, g) == word]
    wide = lambda k: _joint(model, k).dof > 1
    rubs = lambda k: model.dof_frictionloss[model.jnt_dofadr[k]] > 0.0
    sprung = lambda k: model.jnt_stiffness[k] != 0.0 or model.dof_damping[model.jnt_dofadr[k]] != 0.0
    yield "ball limit", named(model.njnt, model.joint, lambda k: wide(k) and bool(model.jnt_limited[k]))
    yield "ball friction", named(model.njnt, model.joint, lambda k: wide(k) and rubs(k))
    geared = lambda k: model.dof_armature[model.jnt_dofadr[k]] != 0.0
    yield "ball armature", named(model.njnt, model.joint, lambda k: wide(k) and bool(geared(k)))
    yield "free spring", named(model.njnt, model.joint, lambda k: _joint(model, k).dof == 6 and sprung(k))


def _disabled(model: Any) -> set[str]:
    """What the options of the file switch off, as MJCF writes it."""
    import mujoco

    bits = mujoco.mjtDisableBit.__members__.items()
    return {name.removeprefix("mjDSBL_").lower() for name, bit in bits if model.opt.disableflags & int(bit)}


def _polynomials(model: Any, named: Any) -> list[str]:
    """Joints whose springs or dampers are not linear, in versions of MuJoCo that have such."""
    fields = {"jnt_stiffnesspoly", "dof_dampingpoly"} & set(dir(model))
    if len(fields) < 2 or model.njnt == 0:
        return []
    curved = np.any(np.reshape(model.jnt_stiffnesspoly, (model.njnt, -1)) != 0.0, axis=1)
    slows = np.any(np.reshape(model.dof_dampingpoly, (model.nv, -1)) != 0.0, axis=1)
    names: list[str] = named(model.njnt, model.joint, lambda k: bool(curved[k] or slows[model.jnt_dofadr[k]]))
    return names


def _model_name(model: Any) -> str:
    end = model.names.index(b"\0")
    return str(model.names[:end].decode() or "robot")


def _add_body(
    robot: Robot,
    model: Any,
    b: int,
    last: dict[int, tuple[str | None, Array]],
    surface: list[tuple[Array, Surface]],
) -> tuple[str | None, Array]:
    """Append the links of a body, one for each joint; the name of the last one, and its joint's place in the body."""
    if b == 0:
        if not surface:
            return None, np.zeros(3)
        robot.links.append(Link(Fixed(), surfaced(Body(np.full(6, FRAME_ONLY)), surface), None, np.eye(4), "world"))
        return "world", np.zeros(3)
    name = model.body(b).name or f"body_{b}"
    parent, before = last[int(model.body_parentid[b])]
    place = frame(p=-before) @ frame(_turn(model.body_quat[b]), model.body_pos[b])  # of the body from the last joint
    count, first = int(model.body_jntnum[b]), int(model.body_jntadr[b])
    origin = np.zeros(3)
    for k in range(first, first + count):
        place, origin = place @ frame(p=model.jnt_pos[k] - origin), np.array(model.jnt_pos[k])
        inner = name if k == first + count - 1 else f"{name}/{model.joint(k).name or k}"
        body = _carried(model, b, origin, surface) if inner == name else Body(np.full(6, FRAME_ONLY))
        joint, dof = _joint(model, k), int(model.jnt_dofadr[k])
        armature = float(model.dof_armature[dof]) if joint.dof == 1 else 0.0
        robot.links.append(Link(joint, body, parent, place, inner, armature))
        robot.joints[model.joint(k).name or f"joint_{k}"] = inner
        _add_resistance(robot, model, k, inner)
        parent, place = inner, np.eye(4)
    if count == 0:
        robot.links.append(Link(Fixed(), _carried(model, b, origin, surface), parent, place, name))
    return name, origin


def _carried(model: Any, b: int, origin: Array, surface: list[tuple[Array, Surface]]) -> Body:
    """The body b as seen from a joint at ``origin`` in it."""
    E = frame(p=-origin) @ frame(_turn(model.body_iquat[b]), model.body_ipos[b])
    m = max(float(model.body_mass[b]), FRAME_ONLY)
    moments = np.maximum(model.body_inertia[b], FRAME_ONLY)
    return surfaced(Body(np.array([*moments, m, m, m]), E), [(frame(p=-origin) @ A, shape) for A, shape in surface])


def _joint(model: Any, k: int) -> Joint:
    import mujoco

    kind, axis = mujoco.mjtJoint(int(model.jnt_type[k])), np.array(model.jnt_axis[k])
    if kind == mujoco.mjtJoint.mjJNT_HINGE:
        return Revolute(axis)
    if kind == mujoco.mjtJoint.mjJNT_SLIDE:
        return Prismatic(axis)
    return Spherical() if kind == mujoco.mjtJoint.mjJNT_BALL else Free3D()


def _add_resistance(robot: Robot, model: Any, k: int, link: str) -> None:
    """Limits, spring, damper and dry friction of a joint; angles and lengths from the pose of the file."""
    dof, pose, joint = int(model.jnt_dofadr[k]), int(model.jnt_qposadr[k]), _joint(model, k)
    stiffness, damping = float(model.jnt_stiffness[k]), float(model.dof_damping[dof])
    rest = 0.0  # springs of ball joints are at rest in the pose of the file
    if joint.dof == 1:
        zero = float(model.qpos0[pose])
        rest = float(model.qpos_spring[pose]) - zero
        if model.jnt_limited[k]:
            low, high = (float(x) - zero for x in model.jnt_range[k])
            robot.constraints.append(JointLimit(link, low, high))
        if model.dof_frictionloss[dof] > 0.0:
            robot.friction.append(DryFriction(link, float(model.dof_frictionloss[dof])))
    if joint.dof < 6 and (stiffness or damping):
        robot.forces.append(JointSpring(link, stiffness, damping, rest=rest))


def _geoms(model: Any, b: int, geometry: Geometry) -> list[int]:
    """The geoms of a body that its surface is made of."""
    first = int(model.body_geomadr[b])
    every = range(first, first + int(model.body_geomnum[b]))
    touching = [g for g in every if model.geom_contype[g] or model.geom_conaffinity[g]]
    others = [g for g in every if g not in touching]
    return touching if geometry == "collision" else others or touching


def _surfaces(model: Any, geoms: Sequence[int]) -> Iterator[tuple[Array, Surface]]:
    """The geoms of a body, and their frames in it."""
    for g in geoms:
        kind, size = _shape(model, g), model.geom_size[g]
        if kind == "box":
            box = cuboid(tuple(2.0 * size), 1.0)
            surface: Surface = box.points, box.faces
        elif kind == "mesh":
            surface = _mesh(model, int(model.geom_dataid[g]))
        elif kind in SHAPES:
            surface = round_shape(kind, float(size[0]), 2.0 * float(size[1]))
        else:
            continue  # refused before, or skipped
        yield frame(_turn(model.geom_quat[g]), model.geom_pos[g]), surface


def _shape(model: Any, g: int) -> str:
    """The kind of a geom as MJCF writes it, such as "capsule"."""
    import mujoco

    return str(mujoco.mjtGeom(int(model.geom_type[g])).name).removeprefix("mjGEOM_").lower()


def _mesh(model: Any, m: int) -> Surface:
    v, f = int(model.mesh_vertadr[m]), int(model.mesh_faceadr[m])
    X = np.array(model.mesh_vert[v : v + int(model.mesh_vertnum[m])], dtype=float)
    return X, np.array(model.mesh_face[f : f + int(model.mesh_facenum[m])], dtype=np.int64)


def _turn(quaternion: Array) -> Array:
    """The rotation (3, 3) of (w, x, y, z)."""
    w, v = float(quaternion[0]), np.asarray(quaternion[1:], dtype=float)
    return (w * w - v @ v) * np.eye(3) + 2.0 * np.outer(v, v) + 2.0 * w * hat(v)
