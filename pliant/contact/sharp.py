"""Sharp features of obstacles: planes, edges and corners, which cloth can be creased by; nails and wires.

An obstacle that has them is `Sharp`; smooth ones (spheres, cylinders, bowls) are not.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.triangles import NearestTriangle
from pliant.errors import SceneError
from pliant.maps.motions import Motion, Vector
from pliant.units import read_fields

Surface = tuple[Array, IntArray]
NO_SURFACE: Surface = (np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Features:
    """Sharp features in an obstacle's own frame.

    ``planes (p, 4)``: a point is in the convex body where n . x <= d for all (n, d); none for bodies without inside.
    ``edges (e, 2, 3)`` have ends [m] and ``sides (e, 2, 3)``, the outward normals of the faces that meet there, which
    are equal for a wire. ``corners (c, 3)`` have outward mean normals ``up (c, 3)``, and each the normals of its
    ``faces``, its ``inward`` unit edge directions, both (k, 3), and the numbers of these edges; a nail has no edges.
    ``soft (s, 2, 3)`` are edges too blunt to crease cloth, with their ``soft_sides (s, 2, 3)``; ``blunt (b, 3)``
    are points where edges meet that are no corners, with ``blunt_up`` and ``blunt_inward`` like those of corners.
    """

    planes: Array
    edges: Array
    sides: Array
    corners: Array
    up: Array
    faces: tuple[Array, ...] = ()
    inward: tuple[Array, ...] = ()
    spokes: tuple[IntArray, ...] = ()
    soft: Array = field(default_factory=lambda: np.zeros((0, 2, 3)))
    soft_sides: Array = field(default_factory=lambda: np.zeros((0, 2, 3)))
    blunt: Array = field(default_factory=lambda: np.zeros((0, 3)))
    blunt_up: Array = field(default_factory=lambda: np.zeros((0, 3)))
    blunt_inward: tuple[Array, ...] = ()


@runtime_checkable
class Sharp(Protocol):
    """An obstacle that cloth can be creased by."""

    @property
    def motion(self) -> Motion | None: ...

    @property
    def name(self) -> str: ...

    def features(self) -> Features: ...


def flat_features(normal: Vector, offset: float) -> Features:
    """One plane, no edges."""
    none = np.zeros((0, 3))
    return Features(np.array([[*normal, offset]]), np.zeros((0, 2, 3)), np.zeros((0, 2, 3)), none, none)


def hull_features(points: Array, sharp: float, where: str) -> tuple[Features, IntArray]:
    """Features and outward triangles of the convex hull of ``points (k, 3)``.

    An edge is sharp when its faces turn by more than ``sharp`` [rad], a corner where three sharp edges meet.
    """
    from scipy.spatial import ConvexHull, QhullError

    try:
        q = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise SceneError("the points span no volume", where=where, remedy="give a body with volume") from error
    planes, face = _merged_planes(q.equations)
    beside: dict[tuple[int, int], list[int]] = {}
    for simplex, plane in zip(q.simplices, face, strict=True):
        for i, j in ((0, 1), (1, 2), (2, 0)):
            key = (int(min(simplex[i], simplex[j])), int(max(simplex[i], simplex[j])))
            beside.setdefault(key, []).append(int(plane))
    n = planes[:, :3]
    table = np.array([(a, b, p, r) for (a, b), (p, r) in sorted(beside.items()) if p != r]).reshape(-1, 4)
    turn = np.arccos(np.clip(np.einsum("ij,ij->i", n[table[:, 2]], n[table[:, 3]]), -1, 1))
    everything, table, soft = table, table[turn > sharp], table[turn <= sharp]
    edges, sides = table[:, :2], table[:, 2:]
    tips, degree = np.unique(edges, return_counts=True)
    tips = tips[degree >= 3]
    blunt = np.setdiff1d(everything[:, :2], tips)
    spokes = tuple(np.flatnonzero(np.any(edges == c, axis=1)) for c in tips)
    faces, up, inward = _around(points, n, table, tips)
    _, blunt_up, blunt_inward = _around(points, n, everything, blunt)
    found = Features(
        *(np.column_stack([n, -planes[:, 3]]), points[edges], n[sides], points[tips], up, faces, inward, spokes),
        *(points[soft[:, :2]], n[soft[:, 2:]], points[blunt], blunt_up, blunt_inward),
    )
    return found, _outward(points, q.simplices, q.equations)


def _around(
    points: Array, normals: Array, table: IntArray, corners: IntArray
) -> tuple[tuple[Array, ...], Array, tuple[Array, ...]]:
    """For each of the corners the normals of its faces, their unit mean, and the unit directions of its edges.

    ``table (e, 4)`` has the ends of edges and the faces beside them.
    """
    spokes = [table[np.any(table[:, :2] == c, axis=1)] for c in corners]
    faces = tuple(normals[np.unique(k[:, 2:])] for k in spokes)
    arms = [points[k[:, :2].sum(axis=1) - c] - points[c] for c, k in zip(corners, spokes, strict=True)]
    up = np.array([f.sum(axis=0) / np.linalg.norm(f.sum(axis=0)) for f in faces]).reshape(-1, 3)
    return faces, up, tuple(a / np.linalg.norm(a, axis=1, keepdims=True) for a in arms)


def _outward(points: Array, simplices: IntArray, equations: Array) -> IntArray:
    """Triangles counter-clockwise seen from outside."""
    F = simplices.astype(np.int64)
    x = points[F]
    wrong = (np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]) * equations[:, :3]).sum(axis=1) < 0.0
    F[wrong] = F[wrong][:, ::-1]
    return F


def _merged_planes(equations: Array) -> tuple[Array, IntArray]:
    """Coplanar hull triangles as one face: planes (k, 4) and the face of each triangle."""
    planes: list[Array] = []
    face = np.zeros(len(equations), dtype=np.int64)
    for i, e in enumerate(equations):
        same = [k for k, p in enumerate(planes) if p[:3] @ e[:3] > 1 - 1e-10]
        if not same:
            planes.append(e)
        face[i] = same[0] if same else len(planes) - 1
    return np.array(planes), face


@dataclass(frozen=True, eq=False)
class Hull:
    """The convex hull of ``points (k, 3)`` [m]; an edge is sharp when its faces turn by more than ``sharp`` [rad]."""

    points: Array
    sharp: float = np.pi / 6
    motion: Motion | None = None
    name: str = "hull"
    container: ClassVar[bool] = False
    _features: Features = field(init=False, repr=False)
    _surface: Surface = field(init=False, repr=False)
    _nearest: NearestTriangle = field(init=False, repr=False)

    def __post_init__(self) -> None:
        points = np.asarray(self.points, dtype=np.float64)
        features, F = hull_features(points, self.sharp, self.name)
        used, F = np.unique(F, return_inverse=True)
        surface = points[used], F.reshape(-1, 3).astype(np.int64)
        made = {"points": points, "_features": features, "_surface": surface, "_nearest": NearestTriangle(*surface)}
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def distance(self, x: Array) -> tuple[Array, Array]:
        return self._nearest.signed(x)

    def curvature(self, x: Array) -> Array | None:
        return None  # flat within every face's region, which is where penalties act

    def surface(self) -> Surface:
        return self._surface

    def inner_points(self) -> Array:
        return self._surface[0].mean(axis=0)[None, :]

    def features(self) -> Features:
        return self._features


@dataclass(frozen=True, eq=False)
class Points:
    """Sharp tips (nails) at ``points (k, 3)`` [m] that push cloth along ``normals (k, 3)``; they have no inside."""

    points: Array
    normals: Array
    motion: Motion | None = None
    name: str = "points"
    container: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if np.shape(self.points) != np.shape(self.normals) or not np.all(np.linalg.norm(self.normals, axis=1) > 0):
            raise SceneError("each point needs a normal of nonzero length", where=self.name, remedy="give (k, 3) twice")

    def distance(self, x: Array) -> tuple[Array, Array]:
        nearest = np.argmin(np.linalg.norm(x[:, None] - self.points[None], axis=2), axis=1)
        return _away(x - np.asarray(self.points)[nearest], np.asarray(self.normals)[nearest])

    def curvature(self, x: Array) -> Array | None:
        g, n = self.distance(x)
        return (np.eye(3) - n[:, :, None] * n[:, None, :]) / np.maximum(g, 1e-300)[:, None, None]

    def surface(self) -> Surface:
        return NO_SURFACE

    def inner_points(self) -> Array:
        return NO_SURFACE[0]

    def features(self) -> Features:
        n = self.normals / np.linalg.norm(self.normals, axis=1, keepdims=True)
        none = np.zeros((0, 2, 3))
        k = len(n)
        alone = (np.zeros((0, 3)),) * k
        faces = tuple(n[i : i + 1] for i in range(k))
        return Features(np.zeros((0, 4)), none, none, self.points, n, faces, alone, (np.zeros(0, dtype=np.int64),) * k)


@dataclass(frozen=True)
class Wire:
    """A thin straight line from ``start`` to ``end`` [m] that pushes cloth along ``up``; it has no inside."""

    start: Vector
    end: Vector
    up: Vector = (0.0, 0.0, 1.0)
    motion: Motion | None = None
    name: str = "wire"
    container: ClassVar[bool] = False
    units: ClassVar[dict[str, str]] = {"start": "m", "end": "m", "up": "1"}

    def __post_init__(self) -> None:
        read_fields(self)
        along = np.subtract(self.end, self.start)
        if np.linalg.norm(np.cross(along, self.up)) < 1e-9:
            raise SceneError(
                f"wire from {self.start} to {self.end} pushing along {self.up}",
                where=self.name,
                remedy="the wire needs a length and an 'up' that is not along it",
            )

    def distance(self, x: Array) -> tuple[Array, Array]:
        a, d = np.asarray(self.start), np.subtract(self.end, self.start)
        s = np.clip((x - a) @ d / (d @ d), 0.0, 1.0)
        return _away(x - a - s[:, None] * d, np.broadcast_to(self._up(), x.shape))

    def curvature(self, x: Array) -> Array | None:
        a, d = np.asarray(self.start), np.subtract(self.end, self.start)
        s = (x - a) @ d / (d @ d)
        g, n = self.distance(x)
        H = np.eye(3) - n[:, :, None] * n[:, None, :]
        beside = (s > 0.0) & (s < 1.0)
        H[beside] -= np.outer(d, d) / (d @ d)
        return H / np.maximum(g, 1e-300)[:, None, None]

    def surface(self) -> Surface:
        return NO_SURFACE

    def inner_points(self) -> Array:
        return NO_SURFACE[0]

    def features(self) -> Features:
        a, b = np.asarray(self.start, dtype=np.float64), np.asarray(self.end, dtype=np.float64)
        up, none = self._up(), np.zeros((0, 3))
        return Features(np.zeros((0, 4)), np.array([[a, b]]), np.array([[up, up]]), none, none)

    def _up(self) -> Array:
        """The unit direction across the wire that is nearest to ``up``."""
        a, b = np.asarray(self.start, dtype=np.float64), np.asarray(self.end, dtype=np.float64)
        along = (b - a) / np.linalg.norm(b - a)
        up = np.asarray(self.up) - (np.asarray(self.up) @ along) * along
        return np.asarray(up / np.linalg.norm(up))


def _away(offset: Array, up: Array) -> tuple[Array, Array]:
    """Length and direction of offsets (p, 3); the zero vector points ``up (p, 3)``."""
    r = np.linalg.norm(offset, axis=1)
    zero = r == 0.0
    return r, np.where(zero[:, None], up, offset / np.where(zero, 1.0, r)[:, None])
