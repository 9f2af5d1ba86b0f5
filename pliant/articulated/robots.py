"""Robots from files (URDF, MJCF): what they describe, and the surfaces of their links."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated.bodies import Surface
from pliant.articulated.constraints import Constraint
from pliant.articulated.forces import ArticulatedForce
from pliant.articulated.joint_contacts import DryFriction
from pliant.articulated.system import ArticulatedSystem
from pliant.articulated.tree import Link, Tree
from pliant.errors import SceneError
from pliant.mesh.topology import boundary_facets

Geometry = Literal["visual", "collision"]
FRAME_ONLY = 1e-12  # kg, kg m^2: the inertia of a link that is only a frame between two joints
LOOSE = 1e-8  # what joints move together over what each moves alone, if links between them have no inertia


@dataclass(frozen=True)
class Robot:
    """What a robot's file describes. `system` puts it together; ``joints`` maps joint names to the links they move."""

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


def require_geometry(geometry: str, where: str) -> None:
    """Refuse what is no kind of surface."""
    if geometry not in ("visual", "collision"):
        raise SceneError(f"geometry is {geometry!r}", where=where, remedy='say "visual" or "collision"')


def require_inertia(robot: Robot, frames: set[str]) -> None:
    """Refuse frames without inertia that move by two joints alike: only their sum would be known."""
    if not any(link.joint.dof and link.name in frames for link in robot.links):
        return
    tree = Tree(robot.links)
    kin = tree.kinematics(np.zeros(tree.dof), np.zeros(tree.dof))
    J = np.sqrt(tree.inertia.reshape(-1, 1)) * kin.jacobian()
    J /= np.linalg.norm(J, axis=0)
    loosest, rates = np.linalg.eigh(J.T @ J)
    if loosest[0] < LOOSE:
        light = np.array([tree.names[i] in frames for i in tree.link])
        name = tree.names[tree.link[int(np.argmax(np.where(light, np.abs(rates[:, 0]), -1.0)))]]
        what = "no <inertial>, but its joint moves nothing that others do not move alike"
        raise SceneError(what, where=f"link '{name}'", remedy="add mass and inertia, or fix the joint")


def round_shape(kind: str, radius: float, length: float = 0.0) -> Surface:
    """A "sphere", or a "cylinder" or "capsule" along z whose straight part is ``length`` [m]."""
    import trimesh

    if kind == "sphere":
        made = trimesh.creation.icosphere(subdivisions=2, radius=radius)
    elif kind == "cylinder":
        made = trimesh.creation.cylinder(radius=radius, height=length, sections=24)
    else:
        made = trimesh.creation.capsule(height=length, radius=radius, count=[12, 16])
        made.apply_translation(-made.bounds.mean(axis=0))
    return np.asarray(made.vertices, dtype=np.float64), np.asarray(made.faces, dtype=np.int64)


def read_surface(path: Path, where: str) -> Surface:
    """The triangles of a surface file (STL, OBJ, PLY, glTF, ...), read by trimesh; outwards if they are closed."""
    import trimesh

    try:
        made: Any = trimesh.load(path, force="mesh")
        X, F = np.asarray(made.vertices, dtype=np.float64), np.asarray(made.faces, dtype=np.int64)
    except Exception as error:  # readers of many formats, each with its own errors
        remedy = "give a triangle surface such as STL, OBJ or PLY"
        raise SceneError(f"cannot read {path.name}: {error}", where=where, remedy=remedy) from error
    if not len(F):
        raise SceneError(f"{path.name} has no triangles", where=where, remedy="give a triangle surface")
    inside_out = not len(boundary_facets(F)) and np.linalg.det(X[F] - X.mean(axis=0)).sum() < 0.0
    return X, np.ascontiguousarray(F[:, ::-1]) if inside_out else F


def scaled(X: Array, F: IntArray, scale: Array, where: str) -> Surface:
    """The surface scaled along its axes; where that mirrors it, its triangles are turned to face outwards again."""
    if not (np.isfinite(scale).all() and scale.all()):
        raise SceneError(f"scale is {scale.tolist()}", where=where, remedy="give three numbers that are not zero")
    return X * scale, F if np.prod(scale) > 0.0 else np.ascontiguousarray(F[:, ::-1])
