"""What contact needs to know of a scene: bodies, masses, stiffness, obstacles."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Contacts
from pliant.contact.obstacles import Obstacle
from pliant.contact.pairs import PairDetector, touchable_vertices
from pliant.contact.places import SkinPoints, places, too_coarse, vertices
from pliant.contact.pose import Passage, passage
from pliant.mesh.mesh import Mesh
from pliant.mesh.topology import edges

G = 9.81  # m/s^2


@dataclass(frozen=True, eq=False)
class Shape:
    """What contact knows of a body: its ``mesh`` where it starts, nodal ``mass (n,)`` [kg], ``name``.

    ``young`` [Pa] is its modulus (NaN where it has none), ``width`` [m] its thickness if it is a sheet (else NaN).
    Shapes of one ``group`` never touch each other, nor themselves: the links of one articulated body; None: no group.
    It never touches the shapes called ``beside`` either: the links at its joints. ``first`` is the row of its first
    vertex among the points of its part.
    """

    mesh: Mesh
    mass: Array
    name: str
    young: float = float("nan")
    width: float = float("nan")
    group: int | None = None
    first: int = 0
    beside: frozenset[str] = frozenset()

    @property
    def rigid(self) -> bool:
        """Whether it is a link or a rigid body."""
        return self.group is not None


@dataclass(frozen=True, eq=False)
class Setting:
    """All shapes of a scene with the numbering of their vertices, and the obstacles.

    ``gravity`` [m/s^2] is how strong it is, ``h`` [s] the length of the scene's steps (inf: not known). Shapes with the
    same number in ``together (b,)`` are moved as one where bodies that overlap are moved apart (None: each alone).
    """

    shapes: Sequence[Shape]
    obstacles: Sequence[Obstacle]
    gravity: float = G
    h: float = np.inf
    together: IntArray | None = None

    @cached_property
    def whole(self) -> IntArray:
        """The number (b,) of what every shape is moved with."""
        return np.arange(len(self.shapes)) if self.together is None else self.together

    @cached_property
    def meshes(self) -> list[Mesh]:
        return [s.mesh for s in self.shapes]

    @cached_property
    def names(self) -> list[str]:
        return [s.name for s in self.shapes]

    @cached_property
    def offsets(self) -> IntArray:
        """First vertex of every shape, and the total (b + 1,)."""
        return np.concatenate([[0], np.cumsum([len(m.X) for m in self.meshes])]).astype(np.int64)

    @cached_property
    def mass(self) -> Array:
        """Nodal masses (n,) [kg]."""
        return np.concatenate([s.mass for s in self.shapes])

    @cached_property
    def group(self) -> IntArray:
        """A number for every shape (b,): equal and not negative for those that never touch, -1 - k for the others."""
        return np.array([-1 - k if s.group is None else s.group for k, s in enumerate(self.shapes)], dtype=np.int64)

    @cached_property
    def apart(self) -> IntArray:
        """Pairs of shapes (k, 2), each in both orders, that never touch although no group says so."""
        number = {name: k for k, name in enumerate(self.names)}
        pairs = [(k, number[name]) for k, s in enumerate(self.shapes) for name in s.beside if name in number]
        found = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return np.unique(np.concatenate([found, found[:, ::-1]]), axis=0)

    def never(self, a: IntArray, b: IntArray) -> NDArray[np.bool_]:
        """Whether the shapes a and b (k,) never touch."""
        kin = (self.group[a] >= 0) & (self.group[a] == self.group[b])
        return kin | np.isin(a * len(self.shapes) + b, self.apart @ (len(self.shapes), 1))

    def detector(self, *, self_contact: bool) -> PairDetector:
        """Of pairs of bodies that may touch, and of a body with itself."""
        return PairDetector(self.meshes, self.offsets, group=self.group, apart=self.apart, self_contact=self_contact)

    @property
    def n(self) -> int:
        return int(self.offsets[-1])

    @cached_property
    def body(self) -> IntArray:
        """The body of every vertex (n,)."""
        return np.repeat(np.arange(len(self.meshes)), np.diff(self.offsets))

    @cached_property
    def skin(self) -> IntArray:
        """Vertices that can touch something."""
        return np.concatenate([touchable_vertices(m) + o for m, o in zip(self.meshes, self.offsets, strict=False)])

    @cached_property
    def vertices(self) -> SkinPoints:
        """The vertices that can touch something, as places."""
        return vertices(self.skin)

    @cached_property
    def places(self) -> SkinPoints:
        """Where bodies touch obstacles: rigid ones also within triangles that are larger than these."""
        solid = [s.mesh if s.rigid else None for s in self.shapes]
        return places(solid, self.names, self.offsets, self.skin, self.obstacles)

    def told_places(self) -> SkinPoints:
        """The same, with a warning where obstacles may pass between them."""
        soft = [s.mesh if not s.rigid and s.mesh.kind != "springs" else None for s in self.shapes]
        for missed in (self.places.rough, too_coarse(soft, self.names, self.obstacles)):
            if missed:
                remedy = "use a finer mesh, BarrierContact, or a Rigid body in place of the obstacle"
                warnings.warn(f"{missed}: it may pass between the points that touch it; {remedy}", stacklevel=2)
        return self.places

    @cached_property
    def edge_length(self) -> Array:
        """Mean edge length of every body (b,) [m]."""
        return np.array([_mean_edge(m) for m in self.meshes])

    def grain(self) -> float | None:
        """The mean edge [m] of the finest body; None where none has edges."""
        known = self.edge_length[self.edge_length > 0.0]
        return float(known.min()) if len(known) else None

    @cached_property
    def stiffness(self) -> Array:
        """10 E times mean edge length (thickness for sheets) for every vertex (n,) [N/m].

        Without a modulus (rigid bodies, springs): what lets a resting body sink in by a thousandth of an edge.
        """
        modulus, width = (np.array([getattr(s, name) for s in self.shapes]) for name in ("young", "width"))
        elastic = (10.0 * modulus * np.where(np.isnan(width), self.edge_length, width))[self.body]
        return np.where(np.isnan(elastic), self.share / (1e-3 * self.edge_length[self.body]), elastic)

    @cached_property
    def share(self) -> Array:
        """The weight a vertex carries when a body of its kind rests on one of six sides on Earth (n,) [N].

        A measure of force that scenes without gravity need as well.
        """
        skin = np.bincount(self.body[self.skin], minlength=len(self.meshes))
        weight = G * np.bincount(self.body, weights=self.mass, minlength=len(self.meshes))
        return (6.0 * weight / skin)[self.body]

    @cached_property
    def half_width(self) -> Array:
        """Half the thickness of the sheet that every vertex belongs to (n,) [m]; 0 for solids, links and springs."""
        return np.array([0.0 if np.isnan(s.width) else 0.5 * s.width for s in self.shapes])[self.body]

    def passages(self, t0: float, t: float) -> list[Passage]:
        """How every obstacle moves from t0 to t."""
        return [passage(o.motion, t0, t) for o in self.obstacles]


def obstacle_gaps(
    setting: Setting,
    passages: Sequence[Passage],
    x: Array,
    margin: float | Array,
    places: SkinPoints | None = None,
    met: Sequence[IntArray] | None = None,
) -> list[Contacts]:
    """Places closer than ``margin`` [m] to each obstacle at positions ``x (n, 3)``; gaps are those beyond it.

    One margin for all, or one for every vertex (n,). ``places`` are the vertices if not given, of which those of
    ``met`` may touch each obstacle (None: those that tell at x).
    """
    found = []
    places = setting.vertices if places is None else places
    margins = margin[places.first] if isinstance(margin, np.ndarray) else np.full(len(places), margin)
    for k, (obstacle, way) in enumerate(zip(setting.obstacles, passages, strict=True)):
        near = places.telling(obstacle, way.pose, x, margins) if met is None else met[k]
        y = places.at(x, near)
        local = way.pose.local(y)
        g, n = obstacle.distance(local)
        close = g < margins[near]
        near, y, local, g, n = near[close], y[close], local[close], g[close], n[close]
        bend = obstacle.curvature(local)
        if bend is not None:
            bend = way.pose.R @ bend @ way.pose.R.T
        drift = way.velocity(y)
        found.append(places.contacts(near, way.pose.turn(n), g - margins[near], drift, bend, -1 - k))
    return found


def _mean_edge(mesh: Mesh) -> float:
    E = edges(mesh.T)
    return float(np.linalg.norm(mesh.X[E[:, 0]] - mesh.X[E[:, 1]], axis=1).mean())
