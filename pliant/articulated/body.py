"""Articulated and rigid bodies as bodies of a scene."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated.bodies import Body, mesh_body
from pliant.articulated.constraints import Constraint
from pliant.articulated.forces import ArticulatedForce
from pliant.articulated.forces.base import joined_links
from pliant.articulated.friction import RubbingJoints, refuse_friction
from pliant.articulated.joint_contacts import DryFriction, JointContact
from pliant.articulated.joints import Free3D
from pliant.articulated.mjcf import read_mjcf
from pliant.articulated.quirks import Quirks
from pliant.articulated.robots import Geometry, Robot
from pliant.articulated.stops import stopped
from pliant.articulated.system import ArticulatedSystem
from pliant.articulated.tree import Link
from pliant.articulated.urdf import read_urdf
from pliant.contact.setting import Shape
from pliant.contact.sharp import Hull
from pliant.errors import MeshError, SceneError, require_flag, require_numbers, require_part
from pliant.integrators.base import Wrapping
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.mesh import Mesh
from pliant.mesh.topology import boundary_facets
from pliant.parts import Made, Place
from pliant.state import State
from pliant.units import components, read_fields


@dataclass(frozen=True, eq=False)
class Articulated:
    """An articulated body: links on joints, with forces and constraints; gravity is that of the scene.

    ``q`` and ``v`` are the initial joint coordinates and rates (None: zero). ``contacts`` are the implicit contacts of
    frictional joints, ``baumgarte`` [1/s] is the rate at which velocity steps correct constraint errors. If the scene
    has contact, the links touch everything else in it and, with ``self_contact``, also each other, except for links
    that a joint or a closure connects.
    """

    links: Sequence[Link]
    forces: Sequence[ArticulatedForce] = ()
    constraints: Sequence[Constraint] = ()
    contacts: Sequence[JointContact] = ()
    dry_friction: Sequence[DryFriction] = ()
    q: Sequence[float] | Array | None = None
    v: Sequence[float] | Array | None = None
    baumgarte: float = 5.0
    quirks: Quirks = Quirks()
    name: str = "articulated"
    self_contact: bool = False
    separate: ClassVar[bool] = True
    kind: ClassVar[type] = ArticulatedSystem
    together: ClassVar[bool] = False

    def __post_init__(self) -> None:
        fields: list[tuple[str, Any, str]] = [
            ("forces", self.forces, "add"),
            ("constraints", self.constraints, "rows"),
            ("contacts", self.contacts, "patch"),
            ("dry_friction", self.dry_friction, "bind"),
        ]
        for name, things, method in fields:
            where, remedy = f"{self.name}.{name}", f"give a list of {name.replace('_', ' ')}"
            if not isinstance(things, Sequence):
                raise SceneError(f"{name} is {things!r:.60}", where=where, remedy=remedy)
            for k, thing in enumerate(things):
                require_part(thing, method, f"{where}[{k}]", remedy)
        rate, remedy = f"{self.name}.baumgarte", "give a rate >= 0 [1/s]"
        if not require_numbers(self.baumgarte, rate, remedy) >= 0.0:
            raise SceneError(f"baumgarte is {self.baumgarte}", where=rate, remedy=remedy)

    def system(self, gravity: Sequence[float] = (0.0, 0.0, -9.81)) -> ArticulatedSystem:
        """The equations of motion of this body alone."""
        return ArticulatedSystem(
            self.links,
            self.forces,
            self.constraints,
            gravity=gravity,
            contacts=self.contacts,
            dry_friction=self.dry_friction,
            baumgarte=self.baumgarte,
            q=None if self.q is None else require_numbers(self.q, f"{self.name}.q", "give joint coordinates"),
            quirks=self.quirks,
        )

    @classmethod
    def gathered(cls, bodies: Sequence["Articulated"], scene: Any) -> list[Made]:
        """One part for each body."""
        return [body._made(scene) for body in bodies]

    def _made(self, scene: Any) -> Made:
        part = self.system(in_space(scene.gravity))
        method = scene.integrator.integrator if isinstance(scene.integrator, Wrapping) else scene.integrator
        if not isinstance(method, RubbingJoints):
            where, rows = f"{type(method).__name__} with {self.name!r}", isinstance(method, LinearlyImplicit)
            refuse_friction(part, where, rows=rows)
            part = part if rows else stopped(part, float(scene.h), where)
        remedy = f"give {part.tree.dof} rates"
        v = np.zeros(part.tree.dof) if self.v is None else require_numbers(self.v, f"{self.name}.v", remedy)
        if v.shape != part.rest.shape:
            raise SceneError(f"v has {v.size} entries", where=f"{self.name}.v", remedy=remedy)
        shapes = self._shapes(part)
        place = Place(self.name, 0, part.positions(part.rest), part.surface, ranges(part))
        solids = solids_of(part, [f"{self.name}/{link}" for link in part.tree.names])
        return Made(part, State(part.rest, v), shapes, [(self, place)], solids)

    def _shapes(self, part: ArticulatedSystem) -> list[Shape]:
        """Of all links, as one group, or each its own beside those it is connected with."""
        named = lambda link: f"{self.name}/{link}"
        if not self.self_contact:
            return [replace(s, name=named(s.name), group=0) for s in shapes_of(part)]
        near = neighbours(part)
        return [
            replace(s, name=named(s.name), group=k, beside=frozenset(map(named, near[s.name])))
            for k, s in enumerate(shapes_of(part))
        ]


def from_urdf(
    source: str | Path,
    *,
    floating: bool = False,
    geometry: Geometry = "visual",
    name: str | None = None,
    **options: Any,
) -> Articulated:
    """An articulated body from a URDF file (or a string that starts with '<'); ``floating`` frees its root link.

    ``geometry`` selects the surfaces of its links, "visual" or "collision". ``options`` are fields of `Articulated`;
    forces and constraints are added to those of the file.
    """
    require_flag(floating, "from_urdf.floating")
    return _assembled(read_urdf(source, floating=floating, geometry=geometry), name, options)


def from_mjcf(
    source: str | Path,
    *,
    skip: Sequence[str] = (),
    geometry: Geometry = "collision",
    name: str | None = None,
    **options: Any,
) -> Articulated:
    """An articulated body from an MJCF file (or a string that starts with '<'), read by MuJoCo's own compiler.

    Elements of MJCF without a counterpart here are refused by name, unless their kind is in ``skip``, such as
    ("actuator", "plane"); see `pliant.articulated.read_mjcf`. ``geometry`` selects the surfaces of the links: geoms
    that can touch ("collision"), or those to look at ("visual"). All bodies of the file are links of one articulated
    body, which touch each other only with ``self_contact=True``. ``options`` are fields of `Articulated`; forces and
    constraints are added to those of the file.
    """
    return _assembled(read_mjcf(source, skip=skip, geometry=geometry), name, options)


def _assembled(robot: Robot, name: str | None, options: dict[str, Any]) -> Articulated:
    forces = [*robot.forces, *options.pop("forces", ())]
    constraints = [*robot.constraints, *options.pop("constraints", ())]
    called = robot.name if name is None else name
    return Articulated(robot.links, forces, constraints, dry_friction=robot.friction, name=called, **options)


@dataclass(frozen=True, eq=False)
class Rigid:
    """A free rigid body: the solid enclosed by a closed surface (triangles, or the boundary of tetrahedra).

    ``density`` [kg/m^3]; ``velocity`` [m/s] of its center of mass and ``spin`` [rad/s] are initial values.
    """

    mesh: Mesh
    density: float | str = 1000.0
    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    spin: tuple[float, ...] = (0.0, 0.0, 0.0)
    name: str = "rigid"
    separate: ClassVar[bool] = True
    kind: ClassVar[type] = ArticulatedSystem
    together: ClassVar[bool] = True
    units: ClassVar[dict[str, str]] = {"density": "kg/m^3"}

    def __post_init__(self) -> None:
        read_fields(self)
        if not isinstance(self.mesh, Mesh) or self.mesh.kind == "springs" or self.mesh.dim != 3:
            remedy = "give tetrahedra, or triangles that enclose a volume"
            raise SceneError(f"mesh is {self.mesh!r}", where=f"{self.name}.mesh", remedy=remedy)
        density = require_numbers(self.density, f"{self.name}.density", "it must be positive [kg/m^3]")
        if density.ndim or not density > 0.0:
            what = f"density is {self.density}"
            raise SceneError(what, where=f"{self.name}.density", remedy="it must be positive [kg/m^3]")
        for name, unit in (("velocity", "m/s"), ("spin", "rad/s")):
            given = components(getattr(self, name), unit, f"{self.name}.{name}")
            if len(given) != 3 or not np.isfinite(given).all():
                remedy = f"give three finite components [{unit}]"
                raise SceneError(f"{name} is {given}", where=f"{self.name}.{name}", remedy=remedy)
            object.__setattr__(self, name, given)
        self.body()

    def body(self) -> Body:
        """Its inertia and surface; refuses surfaces that are open or inside out."""
        F = self.mesh.surface()
        open_edges = boundary_facets(F)
        if len(open_edges):
            what, remedy = f"the surface is open at {len(open_edges)} edges", "close it; pliant doctor shows where"
            raise MeshError(what, where=f"{self.name}.mesh", remedy=remedy)
        turned = _turned(F)
        if turned is not None:
            what = f"triangle {turned} of the surface is oriented opposite to its neighbours"
            raise MeshError(what, where=f"{self.name}.mesh", remedy="orient all triangles outwards")
        try:
            found = mesh_body(self.mesh.X, F, float(self.density))
        except MeshError as error:
            raise MeshError(error.what, where=f"{self.name}.mesh", remedy=error.remedy) from error
        return replace(found, tets=self.mesh.T if self.mesh.kind == "tetrahedra" else filled(self.mesh.X, F))

    @classmethod
    def gathered(cls, bodies: Sequence["Rigid"], scene: Any) -> list[Made]:
        """One part for all of them: a forest of free joints at the centers of mass, along the principal axes."""
        links, rates = [], []
        for k, rigid in enumerate(bodies):
            body = rigid.body()
            R = body.frame[:3, :3]
            links.append(Link(Free3D(), replace(body, frame=np.eye(4)), frame=body.frame, name=f"{k} {rigid.name}"))
            rates += [R.T @ rigid.velocity, R.T @ rigid.spin]
        part = ArticulatedSystem(links, gravity=in_space(scene.gravity))
        x, spans = part.positions(part.rest), list(ranges(part).values())
        shapes = [
            replace(s, name=b.name, group=k) for k, (s, b) in enumerate(zip(shapes_of(part), bodies, strict=True))
        ]
        places = [
            (body, Place(body.name, a, x[a:b], body.mesh.surface(), {body.name: (0, b - a)}))
            for body, (a, b) in zip(bodies, spans, strict=True)
        ]
        solids = solids_of(part, [rigid.name for rigid in bodies])
        return [Made(part, State(part.rest, np.concatenate(rates)), shapes, places, solids)]


def _turned(F: IntArray) -> int | None:
    """A triangle that runs along one of its edges as a neighbour does; None if all are turned alike."""
    edges = np.stack([F, np.roll(F, -1, axis=1)], axis=-1).reshape(-1, 2)
    _, first, count = np.unique(edges, axis=0, return_index=True, return_counts=True)
    return int(first[count > 1].min()) // 3 if (count > 1).any() else None


def in_space(gravity: Sequence[float]) -> tuple[float, float, float]:
    """Gravity (3,) of a scene that may be planar."""
    x, y, z = (*gravity, 0.0)[:3]
    return x, y, z


def ranges(part: ArticulatedSystem) -> dict[str, tuple[int, int]]:
    """First and last + 1 row of `positions` for every link, by name."""
    return dict(zip(part.tree.names, part.points.ranges(part.tree), strict=True))


def neighbours(part: ArticulatedSystem) -> dict[str, set[str]]:
    """The links that joints and closures connect with every link, over links that are fixed to it as well."""
    tree, near = part.tree, {name: {name} for name in part.tree.names}
    welded = list(range(len(tree)))  # the link that carries it
    for i, link in enumerate(tree.links):
        if link.joint.dof == 0 and tree.parent[i] >= 0:
            welded[i] = welded[tree.parent[i]]
    rigid = [[k for k in range(len(tree)) if welded[k] == i] for i in range(len(tree))]
    pairs = [(i, int(j)) for i, j in enumerate(tree.parent)]
    joined = [joined_links(c) for c in part.closing]
    pairs += [(int(i), int(j)) for found in joined if found is not None for i, j in found]
    pairs += [(i, i) for i in range(len(tree))]
    for i, j in pairs:
        if i < 0 or j < 0:
            continue
        for a in rigid[welded[i]]:
            for b in rigid[welded[j]]:
                near[tree.names[a]].add(tree.names[b])
                near[tree.names[b]].add(tree.names[a])
    return {name: others - {name} for name, others in near.items()}


def shapes_of(part: ArticulatedSystem) -> list[Shape]:
    """What can be touched: the links that have a surface."""
    x = part.positions(part.rest)
    found = []
    for link, (name, (a, b)) in zip(part.tree.links, ranges(part).items(), strict=True):
        body = link.body
        if len(body.faces):
            tets = body.tets if len(body.tets) else filled(body.points, body.faces)
            mesh = Mesh(x[a:b], tets if len(tets) else body.faces)
            found.append(Shape(mesh, np.full(b - a, body.mass / (b - a)), name, first=a))
    return found


def solids_of(part: ArticulatedSystem, names: Sequence[str]) -> list[tuple[int, Hull]]:
    """What can crease cloth: the links that are convex, in their own frames, with their ``names`` in the scene. Cloth
    does not see others.
    """
    return [
        (k, Hull(link.body.points, name=name))
        for k, (link, name) in enumerate(zip(part.tree.links, names, strict=True))
        if len(link.body.faces) and convex(link.body.points, link.body.faces)
    ]


def convex(X: Array, F: IntArray) -> bool:
    """Whether a closed surface bounds a convex body: it encloses as much as its hull."""
    from scipy.spatial import ConvexHull

    volume = float(np.linalg.det(X[F] - X.mean(axis=0)).sum()) / 6.0
    return bool(abs(volume - ConvexHull(X).volume) <= 1e-6 * abs(volume))


def filled(X: Array, F: IntArray) -> IntArray:
    """Tetrahedra (k, 4) that fill a convex surface: each face with the first vertex; none if it is not convex."""
    T = np.column_stack([np.full(len(F), F[0, 0]), F])
    E = X[T[:, 1:]] - X[T[:, :1]]
    volume = np.linalg.det(E) / 6.0
    whole = float(volume.sum())
    solid = volume > 1e-9 * whole
    star = bool((volume >= -1e-9 * whole).all())
    return T[solid] if star and len(np.unique(T[solid])) == len(X) else np.zeros((0, 4), dtype=np.int64)
