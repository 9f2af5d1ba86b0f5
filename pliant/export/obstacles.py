"""Obstacles in pictures: surfaces, edges and tips, where they are at any time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from pliant.arrays import Array, IntArray
from pliant.contact.pose import pose_at
from pliant.errors import PliantError
from pliant.record import Run

CELLS = 32  # along a side of the patch that stands for an unbounded obstacle
NONE = np.zeros((0, 3), dtype=np.int64), np.zeros((0, 2), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Shape:
    """Points ``at(t)`` (p, 3) [m] of ``triangles (k, 3)`` or ``lines (l, 2)``; without both the points are meant."""

    at: Callable[[float], Array]
    triangles: IntArray
    lines: IntArray
    moves: bool


def scene_of(run: Run) -> Any:
    """The scene of a run, built again from its folder; None when it was made in Python or cannot be built here."""
    from pliant.scene_file import load_scene

    try:
        return load_scene(run.folder).scene
    except PliantError:
        return None


def shapes_of(scene: Any, low: Array, high: Array) -> list[Shape]:
    """The obstacles of a scene; of unbounded ones what is near the box [m] that is seen."""
    met = [*getattr(scene, "obstacles", ()), *getattr(getattr(scene, "integrator", None), "obstacles", ())]
    solid = [_solid(one, low, high) for one in met if hasattr(one, "distance")]
    return solid + [_sharp(one) for one in getattr(getattr(scene, "world", None), "obstacles", ())]


def _solid(obstacle: Any, low: Array, high: Array) -> Shape:
    """An obstacle with a formula: its own surface, or a patch of it."""
    X, triangles = obstacle.surface()
    if not len(triangles):
        below = np.array([*0.5 * (low + high)[:2], low[2]])  # things lie on floors and in bowls
        near = pose_at(obstacle.motion, 0.0).local(below[None])[0]
        X, triangles = _patch(obstacle, near, 0.55 * float(np.linalg.norm(high - low)))
    return Shape(lambda t: pose_at(obstacle.motion, t).world(X), triangles, NONE[1], obstacle.motion is not None)


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


def _sharp(obstacle: Any) -> Shape:
    """An obstacle of cloth: the hull of a polyhedron, a wire, or tips."""
    X = np.asarray(obstacle.points if hasattr(obstacle, "points") else [obstacle.start, obstacle.end], dtype=float)
    triangles, lines = NONE
    if hasattr(obstacle, "offsets"):
        triangles = ConvexHull(X).simplices.astype(np.int64)
        X = X.mean(axis=0) + 0.997 * (X - X.mean(axis=0))  # a little smaller, so that cloth on its faces is seen
    elif not hasattr(obstacle, "points"):
        lines = np.array([[0, 1]])

    def at(t: float) -> Array:
        R, p = obstacle.motion.pose(t)
        return (X - np.asarray(obstacle.motion.pivot)) @ R.T + p

    return Shape(at, triangles, lines, not obstacle.motion.still)
