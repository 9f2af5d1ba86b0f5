"""Obstacles in pictures: surfaces, edges and tips, where they are at any time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.pose import pose_at
from pliant.contact.sharp import Sharp
from pliant.errors import PliantError
from pliant.record import Run
from pliant.scene_like import Around

CELLS = 32  # along a side of the patch that stands for an unbounded obstacle
NONE = np.zeros((0, 3), dtype=np.int64), np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Shape:
    """Points ``at(t)`` (p, 3) [m] of ``triangles (k, 3)`` or ``lines (l, 2)``; without both the points are meant."""

    at: Callable[[float], Array]
    triangles: IntArray
    lines: IntArray
    moves: bool


@runtime_checkable
class Surrounded(Protocol):
    """A scene with obstacles, or an integrator that moves vertices out of them."""

    @property
    def obstacles(self) -> Sequence[Any]: ...


def scene_of(run: Run) -> Any:
    """The scene of a run, built again from its folder; None when it was made in Python or cannot be built here."""
    from pliant.scene_file import load_scene

    try:
        return load_scene(run.folder).scene
    except PliantError:
        return None


def shapes_of(scene: Any, low: Array, high: Array) -> list[Shape]:
    """The obstacles of a scene; of unbounded ones what is near the box [m] that is seen."""
    return [_shape(obstacle, low, high) for obstacle in obstacles_of(scene)]


def obstacles_of(scene: Any) -> list[Any]:
    """The obstacles of a scene, and of its integrator where that corrects the state."""
    if isinstance(scene, Around):
        return obstacles_of(scene.scene)
    return [o for thing in (scene, scene.integrator) if isinstance(thing, Surrounded) for o in thing.obstacles]


def _shape(obstacle: Any, low: Array, high: Array) -> Shape:
    """Its own surface, a patch of it where it is unbounded, else its edges or tips."""
    X, triangles = obstacle.surface()
    lines = NONE[1]
    if not len(triangles) and obstacle.container:
        below = np.array([*0.5 * (low + high)[:2], low[2]])  # things lie on floors and in bowls
        near = pose_at(obstacle.motion, 0.0).local(below[None])[0]
        X, triangles = _patch(obstacle, near, 0.55 * float(np.linalg.norm(high - low)))
    elif isinstance(obstacle, Sharp) and len(triangles):
        X = X.mean(axis=0) + 0.997 * (X - X.mean(axis=0))  # a little smaller, so that cloth on its faces is seen
    elif isinstance(obstacle, Sharp):
        sharp = obstacle.features()
        X = np.concatenate([sharp.edges.reshape(-1, 3), sharp.corners])
        lines = np.arange(2 * len(sharp.edges)).reshape(-1, 2)
    return Shape(lambda t: pose_at(obstacle.motion, t).world(X), triangles, lines, obstacle.motion is not None)


def _patch(obstacle: Any, near: Array, radius: float) -> tuple[Array, IntArray]:
    """A square grid laid on the zero level of the distance where it is nearest to a point of the own frame."""
    g, n = obstacle.distance(near[None])
    across = np.cross(n[0], np.eye(3)[np.argmin(np.abs(n[0]))])
    u, v = (radius * a / np.linalg.norm(a) for a in (across, np.cross(n[0], across)))
    s, t = np.meshgrid(*2 * [np.linspace(-1.0, 1.0, CELLS + 1)], indexing="ij")
    X = near - g[0] * n[0] + s.reshape(-1, 1) * u + t.reshape(-1, 1) * v
    for _ in range(8):  # exact at once for planes and spheres
        g, n = obstacle.distance(X)
        X = X - g[:, None] * n
    corner = (np.arange(CELLS)[:, None] * (CELLS + 1) + np.arange(CELLS)).ravel()
    quads = corner[:, None] + np.array([0, CELLS + 1, CELLS + 2, 1])
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    there = np.abs(obstacle.distance(X)[0]) < 1e-6 * radius
    return X, triangles[there[triangles].all(axis=1)]
