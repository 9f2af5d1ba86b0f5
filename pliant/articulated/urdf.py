"""Robots from URDF files: tree, inertias, limits, damping, dry friction, mimic joints, and the surfaces of links.

The standard library reads the file, trimesh its meshes. A reader from elsewhere (yourdfpy) would hand over the same XML
attributes and need two more packages; what is worth having here is the refusal of robots that cannot move: missing or
impossible inertias, negative damping, loops, each by the name of its link or joint. URDF is in SI units; a link's frame
is the frame of the joint above it.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.articulated.bodies import Body, Surface, cuboid, rigid, surfaced
from pliant.articulated.constraints import CoupledJoints, JointLimit
from pliant.articulated.forces import JointSpring
from pliant.articulated.joint_contacts import DryFriction
from pliant.articulated.joints import Fixed, Free3D, Joint, Planar, Prismatic, Revolute
from pliant.articulated.robots import (
    FRAME_ONLY,
    Geometry,
    Robot,
    read_surface,
    require_geometry,
    require_inertia,
    round_shape,
    scaled,
)
from pliant.articulated.se3 import frame, rotation
from pliant.articulated.tree import Link
from pliant.errors import SceneError

PACKAGE = "package://"


def read_urdf(source: str | Path, *, floating: bool = False, geometry: Geometry = "visual") -> Robot:
    """The robot in a URDF file, or in a string that starts with '<'. ``floating`` frees the root link.

    Links have one surface, which is drawn and touched: that of their ``geometry`` elements, or of the other kind where
    a link has none. Visual meshes often have far more triangles than contact needs: "collision" chooses the others.
    """
    text = str(source)
    try:
        root = ET.fromstring(text) if text.lstrip().startswith("<") else ET.parse(source).getroot()
    except (ET.ParseError, OSError) as error:
        raise SceneError(f"cannot read it: {error}", where=text[:60], remedy="give a URDF file") from error
    if root.tag != "robot":
        raise SceneError(f"root element <{root.tag}>", where=text[:60], remedy="a URDF file starts with <robot>")
    require_geometry(geometry, "read_urdf")
    elements = _named(root, "link")
    above = _joints_above(_named(root, "joint"), elements)
    robot = Robot(root.get("name", "robot"), [], [], [], [])
    folder = Path() if text.lstrip().startswith("<") else Path(source).parent
    frames = _frames(elements, above)
    for name, element in elements.items():
        body = _body(name, element, needed=_moves(above.get(name), floating) and name not in frames)
        parts = list(_surfaces(element, geometry, folder, f"link '{name}'"))
        _add_link(robot, name, surfaced(body, parts), above.get(name), elements, floating)
    for joint in above.values():
        _add_mimic(robot, joint)
    require_inertia(robot, frames)
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


def _moves(joint: ET.Element | None, floating: bool) -> bool:
    """Whether a link can move against the one that carries it, so that it needs an inertia."""
    return floating if joint is None else _joint(joint).dof > 0


def _frames(elements: dict[str, ET.Element], above: dict[str, ET.Element]) -> set[str]:
    """The links that may be without inertia: they have no shape, and links below them have mass."""
    masses = {name: element.find("inertial/mass") for name, element in elements.items()}
    heavy = {n for n, m in masses.items() if m is not None and _number(m, "value", 0.0, f"link '{n}'") > 0.0}
    loaded: set[str] = set()
    for name in heavy:
        joint = above.get(name)
        while joint is not None and (parent := _child(joint, "parent", elements)) not in loaded:
            loaded.add(parent)
            joint = above.get(parent)
    shaped = {name for name, element in elements.items() if element.findall("visual") + element.findall("collision")}
    return loaded - heavy - shaped


def _add_link(robot: Robot, name: str, body: Body, joint: ET.Element | None, elements: Any, floating: bool) -> None:
    if joint is None:
        robot.links.append(Link(Free3D() if floating else Fixed(), body, None, np.eye(4), name))
        return
    moving, where = _joint(joint), f"joint '{_name(joint, 'joint')}'"
    robot.links.append(Link(moving, body, _child(joint, "parent", elements), _origin(joint, where), name))
    robot.joints[_name(joint, "joint")] = name
    dynamics, limit = joint.find("dynamics"), joint.find("limit")
    damping, friction = (_resistance(dynamics, key, where) for key in ("damping", "friction"))
    if damping > 0.0:
        robot.forces.append(JointSpring(name, damping=damping))
    if friction > 0.0 and moving.dof > 1:
        what = f"friction = {friction:g} of a joint with {moving.dof} coordinates"
        raise SceneError(
            what, where=where, remedy="only revolute, continuous and prismatic joints have it: take it out"
        )
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
        return Body(np.full(6, FRAME_ONLY))  # welded to the world or to its parent
    mass, tensor = inertial.find("mass"), inertial.find("inertia")
    if mass is None or tensor is None:
        raise SceneError("<inertial> without mass or inertia", where=where, remedy="give both")
    I = {k: _number(tensor, k, 0.0, where) for k in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")}
    matrix = np.array([[I["ixx"], I["ixy"], I["ixz"]], [I["ixy"], I["iyy"], I["iyz"]], [I["ixz"], I["iyz"], I["izz"]]])
    m = _number(mass, "value", 0.0, where)
    if not 0.0 <= m < np.inf:
        raise SceneError(f"mass {m:g}", where=where, remedy="give a number >= 0 [kg]")
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
    return rigid(max(m, FRAME_ONLY), np.zeros(3), matrix, _origin(inertial, where))


def _surfaces(link: ET.Element, geometry: Geometry, folder: Path, where: str) -> Iterator[tuple[Array, Surface]]:
    """The shapes of a link and their frames as seen from its joint."""
    found = link.findall(geometry) or link.findall("collision" if geometry == "visual" else "visual")
    for element in found:
        shape = element.find("geometry")
        if shape is None or len(shape) == 0:
            raise SceneError(f"<{element.tag}> without a shape", where=where, remedy="give it a <geometry>")
        yield _origin(element, where), _surface(shape[0], folder, where)


def _surface(shape: ET.Element, folder: Path, where: str) -> Surface:
    if shape.tag == "box":
        sides = _vector(shape.get("size", ""), where)
        if not (sides > 0.0).all():
            raise SceneError(f"a box of {sides.tolist()}", where=where, remedy="give three lengths > 0 [m]")
        box = cuboid(tuple(sides), 1.0)
        return box.points, box.faces
    if shape.tag in ("sphere", "cylinder"):
        radius, length = _size(shape, "radius", where), 0.0
        if shape.tag == "cylinder":
            length = _size(shape, "length", where)
        return round_shape(shape.tag, radius, length)
    if shape.tag == "mesh":
        points, faces = read_surface(mesh_file(shape.get("filename", ""), folder, where), where)
        return scaled(points, faces, _vector(shape.get("scale", "1 1 1"), where), where)
    raise SceneError(f"unknown shape <{shape.tag}>", where=where, remedy="box, cylinder, sphere or mesh")


def _size(shape: ET.Element, key: str, where: str) -> float:
    value = _number(shape, key, 0.0, where)
    if not value > 0.0:
        what = f"a {shape.tag} with {key} {value:g}" if key in shape.attrib else f"a {shape.tag} without {key}"
        raise SceneError(what, where=where, remedy="give a number > 0 [m]")
    return value


def mesh_file(name: str, folder: Path, where: str) -> Path:
    """The file that a <mesh filename> means; ``package://NAME/path`` is sought in ``folder`` and those above it.

    ROS finds packages by their names in its own environment; here the package is the folder NAME, or any folder above
    the URDF file that holds ``path``.
    """
    tried = [folder / name.removeprefix("file://")]
    if name.startswith(PACKAGE):
        package, _, rest = name.removeprefix(PACKAGE).partition("/")
        above = [folder.resolve(), *folder.resolve().parents]
        tried = [base / part for base in above for part in (rest, f"{package}/{rest}")]
    for path in tried:
        if path.is_file():
            return path
    remedy = "give its path from the folder of the URDF file"
    raise SceneError(f"there is no mesh '{name}'", where=where, remedy=remedy)


def _origin(element: ET.Element, where: str) -> Array:
    """Frame of an <origin xyz rpy>: fixed-axis roll, pitch, yaw."""
    origin = element.find("origin")
    if origin is None:
        return np.eye(4)
    p, rpy = (_vector(origin.get(key, "0 0 0"), f"{where}, {key} of <origin>") for key in ("xyz", "rpy"))
    X, Y, Z = np.eye(3)
    return frame(rotation(Z, rpy[2]) @ rotation(Y, rpy[1]) @ rotation(X, rpy[0]), p)


def _vector(text: str, where: str) -> Array:
    try:
        v = np.array([float(x) for x in text.split()])
    except ValueError:
        v = np.zeros(0)
    if v.shape != (3,) or not np.isfinite(v).all():
        raise SceneError(f"'{text}' is not three numbers", where=where, remedy="write them separated by blanks")
    return v


def _number(element: ET.Element, key: str, default: float, where: str) -> float:
    text = element.get(key)
    try:
        value = default if text is None else float(text)
    except ValueError:
        value = np.nan
    if np.isnan(value):
        raise SceneError(f"{key} = '{text}' is not a number", where=where, remedy="write a plain number")
    return value


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
