"""Robots from URDF files: tree, inertias, limits, damping, dry friction and mimic joints, as the types of this package.

Only the standard library reads the file. Meshes are not needed: boxes, cylinders and spheres of the visual or collision
geometry are drawn, other shapes are left out. URDF is in SI units; a link's frame is the frame of the joint above it.
"""

import xml.etree.ElementTree as ET
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.bodies import Body, cuboid, cylinder, rigid, sphere
from pliant.articulated.constraints import Constraint, CoupledJoints, JointLimit
from pliant.articulated.forces import ArticulatedForce, JointSpring
from pliant.articulated.joint_contacts import DryFriction
from pliant.articulated.joints import Fixed, Free3D, Joint, Planar, Prismatic, Revolute
from pliant.articulated.se3 import frame, inverse, rotation
from pliant.articulated.system import ArticulatedSystem
from pliant.articulated.tree import Link
from pliant.errors import SceneError


@dataclass(frozen=True)
class Robot:
    """What a URDF file describes. `system` puts it together; ``joints`` maps joint names to the links they move."""

    name: str
    links: list[Link]
    forces: list[ArticulatedForce]
    constraints: list[Constraint]
    friction: list[DryFriction]
    joints: dict[str, str] = field(default_factory=dict)

    def system(self, **options: Any) -> ArticulatedSystem:
        """The articulated system; keywords of `ArticulatedSystem` (gravity, q, further forces or constraints)."""
        forces = [*self.forces, *options.pop("forces", ())]
        constraints = [*self.constraints, *options.pop("constraints", ())]
        return ArticulatedSystem(self.links, forces, constraints, dry_friction=self.friction, **options)


def read_urdf(source: str | Path, *, floating: bool = False) -> Robot:
    """The robot in a URDF file, or in a string that starts with '<'. ``floating`` frees the root link."""
    text = str(source)
    try:
        root = ET.fromstring(text) if text.lstrip().startswith("<") else ET.parse(source).getroot()
    except (ET.ParseError, OSError) as error:
        raise SceneError(f"cannot read it: {error}", where=text[:60], remedy="give a URDF file") from error
    if root.tag != "robot":
        raise SceneError(f"root element <{root.tag}>", where=text[:60], remedy="a URDF file starts with <robot>")
    elements = _named(root, "link")
    above = _joints_above(_named(root, "joint"), elements)
    robot = Robot(root.get("name", "robot"), [], [], [], [])
    for name, element in elements.items():
        _add_link(robot, name, element, above.get(name), elements, floating)
    for joint in above.values():
        _add_mimic(robot, joint)
    return robot


def _named(root: ET.Element, kind: str) -> dict[str, ET.Element]:
    """The elements of one kind by their names, which must differ."""
    found: dict[str, ET.Element] = {}
    for element in root.findall(kind):
        name = _name(element, kind)
        if name in found:
            raise SceneError(f"two {kind}s are called '{name}'", where="URDF", remedy="give each its own name")
        found[name] = element
    return found


def _joints_above(joints: dict[str, ET.Element], elements: dict[str, ET.Element]) -> dict[str, ET.Element]:
    """The joint above each link but one: a URDF file is a tree."""
    above: dict[str, ET.Element] = {}
    for name, joint in joints.items():
        child = _child(joint, "child", elements)
        if child in above:
            raise SceneError(
                f"joints '{above[child].get('name')}' and '{name}' both move it",
                where=f"link '{child}'",
                remedy="keep one, and close the loop with LoopClosure",
            )
        above[child] = joint
    roots = [name for name in elements if name not in above]
    if len(roots) > 1:
        raise SceneError(f"no joint moves {', '.join(roots)}", where="URDF", remedy="join all but one to another link")
    return above


def _add_link(
    robot: Robot, name: str, link: ET.Element, joint: ET.Element | None, elements: Any, floating: bool
) -> None:
    if joint is None:
        moving: Joint = Free3D() if floating else Fixed()
        robot.links.append(Link(moving, _body(name, link, needed=floating), None, np.eye(4), name))
        return
    moving, where = _joint(joint), f"joint '{_name(joint, 'joint')}'"
    parent = _child(joint, "parent", elements)
    robot.links.append(Link(moving, _body(name, link, needed=moving.dof > 0), parent, _origin(joint), name))
    robot.joints[_name(joint, "joint")] = name
    dynamics, limit = joint.find("dynamics"), joint.find("limit")
    damping, friction = (_resistance(dynamics, key, where) for key in ("damping", "friction"))
    if damping > 0.0:
        robot.forces.append(JointSpring(name, damping=damping))
    if friction > 0.0 and moving.dof == 1:
        robot.friction.append(DryFriction(name, friction))
    if joint.get("type") in ("revolute", "prismatic"):
        if limit is None:
            raise SceneError(
                "no <limit>", where=where, remedy="revolute and prismatic joints need one, or use continuous"
            )
        robot.constraints.append(
            JointLimit(name, _number(limit, "lower", 0.0, where), _number(limit, "upper", 0.0, where))
        )


def _resistance(dynamics: ET.Element | None, key: str, where: str) -> float:
    value = 0.0 if dynamics is None else _number(dynamics, key, 0.0, where)
    if value < 0.0:
        raise SceneError(f"{key} = {value}", where=where, remedy="negative values add energy: give a number >= 0")
    return value


def _add_mimic(robot: Robot, joint: ET.Element) -> None:
    mimic = joint.find("mimic")
    if mimic is None:
        return
    where = f"joint '{_name(joint, 'joint')}'"
    leader = mimic.get("joint", "")
    if leader not in robot.joints:
        raise SceneError(f"mimics unknown joint '{leader}'", where=where, remedy="name a joint of the file")
    moving = {link.name: link.joint.dof for link in robot.links}
    if leader == _name(joint, "joint") or moving[robot.joints[leader]] != 1:
        raise SceneError(
            f"mimics '{leader}'", where=where, remedy="name another joint with one coordinate (revolute, prismatic)"
        )
    ratio, offset = _number(mimic, "multiplier", 1.0, where), _number(mimic, "offset", 0.0, where)
    follower = robot.joints[_name(joint, "joint")]
    robot.constraints.append(CoupledJoints(robot.joints[leader], follower, ratio, -offset))


def _joint(element: ET.Element) -> Joint:
    kind, where = element.get("type", ""), f"joint '{_name(element, 'joint')}'"
    axis = element.find("axis")
    a = np.array([1.0, 0.0, 0.0]) if axis is None else _vector(axis.get("xyz", "1 0 0"), where)
    if kind in ("revolute", "continuous"):
        return Revolute(a)
    if kind == "prismatic":
        return Prismatic(a)
    if kind in ("fixed", "floating"):
        return Fixed() if kind == "fixed" else Free3D()
    if kind == "planar":
        if abs(a[2]) < 1.0 - 1e-9:
            raise SceneError(
                f"planar joint with normal {a.tolist()}", where=where, remedy="turn its frame so that z is normal"
            )
        return Planar()
    raise SceneError(
        f"unknown joint type '{kind}'", where=where, remedy="revolute, continuous, prismatic, fixed, floating, planar"
    )


def _body(name: str, link: ET.Element, *, needed: bool) -> Body:
    where = f"link '{name}'"
    inertial = link.find("inertial")
    if inertial is None:
        if needed:
            raise SceneError(
                "no <inertial>, but its joint moves", where=where, remedy="add mass and inertia, or fix the joint"
            )
        return Body(np.full(6, 1e-12))  # welded to the world or to its parent: only a frame
    mass, tensor = inertial.find("mass"), inertial.find("inertia")
    if mass is None or tensor is None:
        raise SceneError("<inertial> without mass or inertia", where=where, remedy="give both")
    I = {k: _number(tensor, k, 0.0, where) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
    matrix = np.array([[I["ixx"], I["ixy"], I["ixz"]], [I["ixy"], I["iyy"], I["iyz"]], [I["ixz"], I["iyz"], I["izz"]]])
    m = _number(mass, "value", 0.0, where)
    moments = np.linalg.eigvalsh(matrix)
    least = moments[0]
    if needed and (m <= 0.0 or least <= 0.0):
        raise SceneError(
            f"mass {m}, smallest moment {least:.3g}", where=where, remedy="both must be positive for a moving link"
        )
    if needed and moments[2] > 1.001 * (moments[0] + moments[1]):
        raise SceneError(
            f"principal moments {', '.join(f'{x:.3g}' for x in moments)}",
            where=where,
            remedy="no body has them: the largest is at most the sum of the others",
        )
    body = rigid(max(m, 1e-12), np.zeros(3), matrix, _origin(inertial))
    return _drawn(body, link)


def _drawn(body: Body, link: ET.Element) -> Body:
    """The body with the points of its primitive shapes."""
    for kind in ("visual", "collision"):
        shape = link.find(f"{kind}/geometry")
        if shape is None or len(shape) == 0:
            continue
        at = inverse(body.frame) @ _origin(link.find(kind))
        drawn = _primitive(shape[0])
        if drawn is not None:
            return replace(body, points=drawn.points @ at[:3, :3].T + at[:3, 3], faces=drawn.faces)
    return body


def _primitive(shape: ET.Element) -> Body | None:
    if shape.tag == "box":
        return cuboid(tuple(_vector(shape.get("size", "1 1 1"), "box")), 1.0)
    if shape.tag == "cylinder":
        return cylinder(_number(shape, "radius", 1.0, "cylinder"), _number(shape, "length", 1.0, "cylinder"), 1.0)
    return sphere(_number(shape, "radius", 1.0, "sphere"), 1.0) if shape.tag == "sphere" else None


def _origin(element: ET.Element | None) -> Array:
    """Frame of an <origin xyz rpy>: fixed-axis roll, pitch, yaw."""
    origin = None if element is None else element.find("origin")
    if origin is None:
        return np.eye(4)
    p, rpy = _vector(origin.get("xyz", "0 0 0"), "origin"), _vector(origin.get("rpy", "0 0 0"), "origin")
    X, Y, Z = np.eye(3)
    return frame(rotation(Z, rpy[2]) @ rotation(Y, rpy[1]) @ rotation(X, rpy[0]), p)


def _vector(text: str, where: str) -> Array:
    try:
        v = np.array([float(x) for x in text.split()])
    except ValueError:
        v = np.zeros(0)
    if v.shape != (3,):
        raise SceneError(f"'{text}' is not three numbers", where=where, remedy="write them separated by blanks")
    return v


def _number(element: ET.Element, key: str, default: float, where: str) -> float:
    text = element.get(key)
    try:
        return default if text is None else float(text)
    except ValueError as error:
        raise SceneError(f"{key} = '{text}' is no number", where=where, remedy="write a plain number") from error


def _name(element: ET.Element, kind: str) -> str:
    name = element.get("name")
    if not name:
        raise SceneError(f"a <{kind}> without name", where="URDF", remedy="name it")
    return name


def _child(joint: ET.Element, role: str, elements: dict[str, ET.Element]) -> str:
    end = joint.find(role)
    link = "" if end is None else end.get("link", "")
    if link not in elements:
        raise SceneError(
            f"{role} link '{link}' does not exist",
            where=f"joint '{_name(joint, 'joint')}'",
            remedy="name a link of the file",
        )
    return link
