"""Rigid bodies: principal inertia diag(Ixx, Iyy, Izz, m, m, m) at the center of mass, and a surface to look at."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated import se3
from pliant.articulated.se3 import adjoint, inverse
from pliant.errors import MaterialError, MeshError, SceneError

Surface = tuple[Array, IntArray]  # points (n, 3) [m], triangles (k, 3)
_NO_POINTS, _NO_FACES = np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64)
_NO_TETS = np.zeros((0, 4), dtype=np.int64)


@dataclass(frozen=True)
class Body:
    """``inertia (6,)`` [kg m^2, kg] in the body frame E_ji = ``frame`` (4, 4) as seen from its joint.

    The body frame sits at the center of mass along the principal axes. ``points``, ``faces`` are its surface, ``tets``
    fill it where they are known; ``radius`` > 0 marks a sphere that can touch floors.
    """

    inertia: Array
    frame: Array = field(default_factory=lambda: np.eye(4))
    points: Array = field(default_factory=lambda: _NO_POINTS)
    faces: IntArray = field(default_factory=lambda: _NO_FACES)
    radius: float = 0.0
    tets: IntArray = field(default_factory=lambda: _NO_TETS)

    def __post_init__(self) -> None:
        require_frame(self.frame, "Body.frame")

    @property
    def mass(self) -> float:
        return float(self.inertia[5])


def at(*p: Any) -> Array:
    """The frame with origin p, three numbers or one vector, and no rotation."""
    origin = np.array(p[0] if len(p) == 1 else p, dtype=float)
    if origin.shape != (3,) or not np.isfinite(origin).all():
        raise SceneError(f"the origin is {p}", where="at", remedy="give x, y and z")
    return se3.frame(p=origin)


def require_frame(E: Array, where: str) -> None:
    """Refuse what is no frame: a rotation and an origin, (4, 4)."""
    E = np.asarray(E, dtype=float)
    if E.shape != (4, 4) or not np.allclose(E[:3, :3] @ E[:3, :3].T, np.eye(3), atol=1e-6):
        remedy = "give a (4, 4) matrix with a rotation and an origin, such as at(x, y, z)"
        raise SceneError(f"the frame is {E.tolist()}", where=where, remedy=remedy)


def _placed(E: Array | None) -> Array:
    return np.eye(4) if E is None else np.asarray(E, dtype=float)


def _positive(name: str, value: Any, where: str, shape: tuple[int, ...] = ()) -> Array:
    try:
        x = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        x = np.array(np.nan)
    if x.shape != shape or not (np.all(np.isfinite(x)) and np.all(x > 0)):
        what = f"{name} = {value!r:.60} must be positive" + (f", {shape[0]} numbers" if shape else "")
        raise MaterialError(what, where=where, remedy="check units and order of arguments")
    return x


def cuboid(sides: Sequence[float], density: float, frame: Array | None = None) -> Body:
    """A box of ``sides (3,)`` [m]: Ixx = m/12 (sy^2 + sz^2)."""
    s = _positive("sides", sides, "cuboid", (3,))
    m = float(_positive("density", density, "cuboid") * np.prod(s))
    I = m / 12.0 * (np.sum(s * s) - s * s)
    return Body(np.array([*I, m, m, m]), _placed(frame), *_box(s))


def cylinder(radius: float, height: float, density: float, frame: Array | None = None) -> Body:
    """A cylinder along z: Izz = m r^2/2, Ixx = m (3 r^2 + h^2)/12."""
    r, h = (float(x) for x in _positive("radius, height", (radius, height), "cylinder", (2,)))
    m = float(_positive("density", density, "cylinder")) * np.pi * r * r * h
    I = m * (3.0 * r * r + h * h) / 12.0
    return Body(np.array([I, I, 0.5 * m * r * r, m, m, m]), _placed(frame), *_prism(r, h))


def sphere(radius: float, density: float, frame: Array | None = None) -> Body:
    """A ball: I = 2/5 m r^2."""
    r = float(_positive("radius", radius, "sphere"))
    m = float(_positive("density", density, "sphere")) * 4.0 / 3.0 * np.pi * r**3
    I = 0.4 * m * r * r
    return Body(np.array([I, I, I, m, m, m]), _placed(frame), *_octahedron(r), radius=r)


def particle(mass: float) -> Body:
    """A point mass: no rotational inertia, so its joint must not turn it (use `Translational`)."""
    m = float(_positive("mass", mass, "particle"))
    return Body(np.array([0.0, 0.0, 0.0, m, m, m]))


def rigid(mass: float, center: Array, tensor: Array, frame: Array | None = None) -> Body:
    """A body from its mass, center of mass and inertia tensor (3, 3) about that center, all in ``frame``."""
    I = np.asarray(tensor, dtype=float)
    moments, axes = np.linalg.eigh(0.5 * (I + I.T))
    if np.linalg.det(axes) < 0:
        axes[:, 2] = -axes[:, 2]
    m = float(_positive("mass", mass, "rigid"))
    return Body(np.array([*moments, m, m, m]), _placed(frame) @ se3.frame(axes, center))


def composite(parts: Sequence[Body]) -> Body:
    """Several bodies welded together: inertias moved by adjoints to the common center, then diagonalised."""
    m = sum(b.mass for b in parts)
    center = np.sum([b.mass * b.frame[:3, 3] for b in parts], axis=0) / m
    I = np.zeros((6, 6))
    for b in parts:
        A = adjoint(inverse(b.frame) @ se3.frame(p=center))
        I += A.T @ np.diag(b.inertia) @ A
    return surfaced(rigid(m, center, I[:3, :3]), [(b.frame, (b.points, b.faces)) for b in parts])


def surfaced(body: Body, parts: Sequence[tuple[Array, Surface]]) -> Body:
    """The body with a surface: parts (E, (points, triangles)), E (4, 4) as seen from the joint."""
    if not parts:
        return body
    points, faces, count = [], [], 0
    for E, (X, F) in parts:
        points.append(_move(inverse(body.frame) @ E, X))
        faces.append(F + count)
        count += len(X)
    return replace(body, points=np.concatenate(points), faces=np.concatenate(faces))


def mesh_body(X: Array, F: IntArray, density: float, frame: Array | None = None) -> Body:
    """A solid bounded by the closed surface X (n, 3), F (k, 3): integrals over signed tetrahedra at its middle."""
    rho = float(_positive("density", density, "mesh_body"))
    X = np.asarray(X, dtype=float)
    middle = X[np.asarray(F)].mean(axis=(0, 1))  # about a point far away the integrals would cancel
    T = (X - middle)[np.asarray(F)]
    volume = np.linalg.det(T) / 6.0
    total = float(volume.sum())
    if total <= 0.0:
        raise MeshError(
            f"enclosed volume {total:.3g}", where="mesh_body", remedy="close the surface, orient triangles outwards"
        )
    sums = T.sum(axis=1)
    center = np.einsum("t,ti->i", volume, sums) / (4.0 * total)
    second = np.einsum("t,tvi,tvj->ij", volume, T, T) + np.einsum("t,ti,tj->ij", volume, sums, sums)
    C = rho * (second / 20.0 - total * np.outer(center, center))  # covariance about the center
    body = rigid(rho * total, middle + center, np.trace(C) * np.eye(3) - C, frame)
    axes = _placed(frame)[:3, :3].T @ body.frame[:3, :3]
    return Body(body.inertia, body.frame, (X - middle - center) @ axes, np.asarray(F, dtype=np.int64))


def _move(E: Array, X: Array) -> Array:
    return X @ E[:3, :3].T + E[:3, 3]


def _box(s: Array) -> tuple[Array, IntArray]:
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * s
    quads = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    return corners, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def _prism(r: float, h: float, n: int = 12) -> tuple[Array, IntArray]:
    turn = 2.0 * np.pi * np.arange(n) / n
    ring = r * np.stack([np.cos(turn), np.sin(turn), np.zeros(n)], axis=1)
    lift = np.array([0.0, 0.0, 0.5 * h])
    points = np.concatenate([ring - lift, ring + lift, [-lift, lift]])
    i, j = np.arange(n), (np.arange(n) + 1) % n
    bottom, top = np.full(n, 2 * n), np.full(n, 2 * n + 1)
    parts = ((i, j, j + n), (i, j + n, i + n), (j, i, bottom), (i + n, j + n, top))
    return points, np.concatenate([np.stack(p, axis=1) for p in parts])


def _octahedron(r: float) -> tuple[Array, IntArray]:
    points = r * np.concatenate([np.eye(3), -np.eye(3)])
    faces = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    return points, np.array(faces)
