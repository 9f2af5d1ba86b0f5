"""What cloth can touch: convex polyhedra, sharp points and wires, still or moving as rigid bodies."""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.spatial.transform import Rotation

from pliant.arrays import Array, IntArray
from pliant.errors import SceneError

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Phase:
    """From ``start`` to ``stop`` [s] a body moves with ``velocity`` [m/s] and turns with ``spin`` [rad/s]."""

    start: float
    stop: float
    velocity: Vector = (0.0, 0.0, 0.0)
    spin: Vector = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Motion:
    """A rigid motion in phases about ``pivot`` [m]: a pure function of time."""

    phases: tuple[Phase, ...] = ()
    pivot: Vector = (0.0, 0.0, 0.0)

    @property
    def still(self) -> bool:
        return not self.phases

    def pose(self, t: float) -> tuple[Array, Array]:
        """Rotation R (3, 3) and pivot (3,) at time t: a body point X is at R (X - pivot_0) + pivot."""
        R, p = Rotation.identity(), np.array(self.pivot, dtype=np.float64)
        for phase in self.phases:
            dt = min(max(t - phase.start, 0.0), phase.stop - phase.start)
            R = Rotation.from_rotvec(dt * np.asarray(phase.spin)) * R
            p += dt * np.asarray(phase.velocity)
        return R.as_matrix(), p

    def twist(self, t: float) -> tuple[Array, Array]:
        """Velocity of the pivot [m/s] and spin [rad/s] right after time t."""
        v, w = np.zeros(3), np.zeros(3)
        for phase in self.phases:
            if phase.start <= t < phase.stop - 1e-12:
                v += phase.velocity
                w += phase.spin
        return v, w


@dataclass(frozen=True, eq=False)
class Track:
    """A rigid motion through ``frames (k, 4, 4)`` at ``times (k,)`` [s], such as those of a simulated body.

    Between two of them velocity and spin are constant; before the first and after the last nothing moves.
    """

    times: Array
    frames: Array

    @property
    def still(self) -> bool:
        return len(self.times) < 2

    @property
    def pivot(self) -> Array:
        """Origin of the first frame (3,) [m]."""
        return np.asarray(self.frames[0, :3, 3])

    def pose(self, t: float) -> tuple[Array, Array]:
        """Rotation R (3, 3) since the first frame and where its origin is at time t."""
        k, (v, w) = self._interval(t), self.twist(t)
        dt = min(max(t, self.times[0]), self.times[-1]) - self.times[k]
        R = Rotation.from_rotvec(dt * w).as_matrix() @ self.frames[k, :3, :3] @ self.frames[0, :3, :3].T
        return np.asarray(R), self.frames[k, :3, 3] + dt * v

    def twist(self, t: float) -> tuple[Array, Array]:
        """Velocity of the origin [m/s] and spin [rad/s] right after time t."""
        k = self._interval(t)
        if not self.times[0] <= t < self.times[-1] - 1e-12 or self.still:
            return np.zeros(3), np.zeros(3)
        h = self.times[k + 1] - self.times[k]
        turn = self.frames[k + 1, :3, :3] @ self.frames[k, :3, :3].T
        return (self.frames[k + 1, :3, 3] - self.frames[k, :3, 3]) / h, Rotation.from_matrix(turn).as_rotvec() / h

    def _interval(self, t: float) -> int:
        """The last sample at or before t; times that differ by round-off are the same."""
        return int(np.clip(np.searchsorted(self.times, t + 1e-9, side="right") - 1, 0, len(self.times) - 1))


@dataclass(frozen=True)
class Polyhedron:
    """A convex body: the planes ``n . x <= d`` of its faces, its sharp edges and its corners.

    ``edges (e, 2)`` are ends in ``corners (c, 3)``, ``edge_faces (e, 2)`` the planes that meet there; only edges whose
    faces meet at more than the angle given to `hull` are listed, and only corners with at least three of them.
    """

    points: Array
    normals: Array
    offsets: Array
    edges: IntArray
    edge_faces: IntArray
    corners: IntArray
    motion: Motion | Track = Motion()


@dataclass(frozen=True)
class Points:
    """Sharp tips (nails) at ``points (k, 3)`` [m] that push cloth along ``normals (k, 3)``."""

    points: Array
    normals: Array
    motion: Motion | Track = Motion()

    def __post_init__(self) -> None:
        if np.shape(self.points) != np.shape(self.normals) or not np.all(np.linalg.norm(self.normals, axis=1) > 0):
            raise SceneError("each point needs a normal of nonzero length", where="Points", remedy="give (k, 3) twice")


@dataclass(frozen=True)
class Wire:
    """A thin straight line from ``start`` to ``end`` [m] that pushes cloth along ``up``."""

    start: Vector
    end: Vector
    up: Vector = (0.0, 0.0, 1.0)
    motion: Motion | Track = Motion()

    def __post_init__(self) -> None:
        along = np.subtract(self.end, self.start)
        if np.linalg.norm(np.cross(along, self.up)) < 1e-9:
            raise SceneError(
                f"wire from {self.start} to {self.end} pushing along {self.up}",
                where="Wire",
                remedy="the wire needs a length and an 'up' that is not along it",
            )


Obstacle = Polyhedron | Points | Wire


def hull(points: Array, *, sharp: float = np.pi / 6, motion: Motion | Track | None = None) -> Polyhedron:
    """The convex hull of ``points (k, 3)``; an edge is sharp when its faces turn by more than ``sharp`` [rad]."""
    points = np.asarray(points, dtype=np.float64)
    try:
        q = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise SceneError("the points span no volume", where="hull", remedy="give a body with volume") from error
    planes, face = _merged_planes(q.equations)
    edges: dict[tuple[int, int], list[int]] = {}
    for simplex, plane in zip(q.simplices, face, strict=True):
        for i, j in ((0, 1), (1, 2), (2, 0)):
            key = (int(min(simplex[i], simplex[j])), int(max(simplex[i], simplex[j])))
            edges.setdefault(key, []).append(int(plane))
    hard = []
    for (a, b), (p, r) in sorted(edges.items()):
        if p != r and np.arccos(np.clip(planes[p, :3] @ planes[r, :3], -1, 1)) > sharp:
            hard.append((a, b, p, r))
    table = np.array(hard, dtype=np.int64).reshape(-1, 4)
    tips, degree = np.unique(table[:, :2], return_counts=True)
    return Polyhedron(
        points, planes[:, :3], -planes[:, 3], table[:, :2], table[:, 2:], tips[degree >= 3], motion or Motion()
    )


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


def box(
    size: Vector,
    centre: Vector,
    *,
    turn: Vector = (0.0, 0.0, 0.0),
    motion: Motion | Track | None = None,
    sharp: float = 0.5,
) -> Polyhedron:
    """A box of ``size`` about ``centre`` [m], turned by the rotation vector ``turn`` [rad]."""
    if not all(np.isfinite(s) and s > 0 for s in size):
        raise SceneError(f"box of size {tuple(size)} m", where="box", remedy="a box needs volume: use positive sizes")
    signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=np.float64)
    corners = 0.5 * signs * np.asarray(size)
    if np.any(turn):
        corners = corners @ Rotation.from_rotvec(turn).as_matrix().T
    return hull(corners + np.asarray(centre), sharp=sharp, motion=motion)
