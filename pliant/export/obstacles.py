"""Obstacles in pictures: their surfaces where they are at any time; wires are rods, nails are spikes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.pose import pose_at
from pliant.contact.sharp import Sharp
from pliant.errors import PliantError
from pliant.record import Run
from pliant.scene import Scene
from pliant.scene_like import Around

CELLS = 32  # along a side of the patch that stands for an unbounded obstacle
SIDES = 10  # of a rod or a spike
ROD, SPIKE = 0.004, 0.12  # radius of rods and length of spikes, in sizes of what is seen


@dataclass(frozen=True, eq=False)
class ObstacleShape:
    """Points ``at(t)`` (p, 3) [m] of ``triangles (k, 3)``.

    ``thin`` are rods and spikes, ``hollow`` is what bodies lie in or on, seen from inside only. ``floor`` is the height
    [m] of a level plane at rest that everything is above; None for all else.
    """

    at: Callable[[float], Array]
    triangles: IntArray
    moves: bool
    name: str = "obstacle"
    thin: bool = False
    hollow: bool = False
    floor: float | None = None


@runtime_checkable
class Surrounded(Protocol):
    """A scene with obstacles, or an integrator that moves vertices out of them."""

    @property
    def obstacles(self) -> Sequence[Any]: ...


@dataclass(frozen=True, eq=False)
class Remains:
    """What the folder of a run has of a scene that was made in Python: the names of its bodies, and the obstacles."""

    names: Sequence[str]
    obstacles: Sequence[Any]
    integrator: None = None


def scene_of(run: Run) -> Any:
    """The scene of a run, built again from its folder; its `Remains`, or None, when it cannot be built here."""
    from pliant.scene_file import load_remains, load_scene

    try:
        return load_scene(run.folder).scene
    except PliantError:
        pass
    try:
        return Remains(*load_remains(run.folder))
    except PliantError:
        return None


def body_names(scene: Any, count: int) -> list[str]:
    """What the ``count`` bodies of a picture are called; ``body 3`` where the scene cannot tell."""
    known = scene.body_names() if isinstance(scene, Scene) else scene.names if isinstance(scene, Remains) else ()
    return list(known) if len(known) == count else [f"body {k + 1}" for k in range(count)]


def shapes_of(scene: Any, low: Array, high: Array) -> list[ObstacleShape]:
    """The obstacles of a scene; of unbounded ones what is near the box [m] that is seen."""
    return [_shape(obstacle, low, high) for obstacle in obstacles_of(scene)]


def obstacles_of(scene: Any) -> list[Any]:
    """The obstacles of a scene, and of its integrator where that corrects the state; none where it is not known."""
    if scene is None:
        return []
    if isinstance(scene, Around):
        return obstacles_of(scene.scene)
    return [o for thing in (scene, scene.integrator) if isinstance(thing, Surrounded) for o in thing.obstacles]


def _shape(obstacle: Any, low: Array, high: Array) -> ObstacleShape:
    """Its own surface, a patch of it where it is unbounded, else rods along its edges and spikes for its tips."""
    X, triangles = obstacle.surface()
    thin, size, floor = False, float(np.linalg.norm(high - low)), None
    if not len(triangles) and obstacle.container:
        below = np.array([*0.5 * (low + high)[:2], low[2]])  # things lie on floors and in bowls
        near = pose_at(obstacle.motion, 0.0).local(below[None])[0]
        X, triangles = _patch(obstacle, near, 0.55 * size)
        level = obstacle.motion is None and np.ptp(X[:, 2]) < 1e-6 * size
        floor = float(X[0, 2]) if level and obstacle.distance(X[:1] + (0.0, 0.0, size))[0][0] > 0.0 else None
    elif isinstance(obstacle, Sharp) and len(triangles):
        X = X.mean(axis=0) + 0.997 * (X - X.mean(axis=0))  # a little smaller, so that cloth on its faces is seen
    elif isinstance(obstacle, Sharp):
        thin, sharp = True, obstacle.features()
        rods = [_rod(a, b, sides[0], ROD * size) for (a, b), sides in zip(sharp.edges, sharp.sides, strict=True)]
        spikes = [_spike(tip, up, SPIKE * size) for tip, up in zip(sharp.corners, sharp.up, strict=True)]
        X, triangles = _together([*rods, *spikes])
    at = lambda t: pose_at(obstacle.motion, t).world(X)
    return ObstacleShape(
        at, triangles, obstacle.motion is not None, obstacle.name, thin, bool(obstacle.container), floor
    )


def _rod(a: Array, b: Array, up: Array, radius: float) -> tuple[Array, IntArray]:
    """A round rod from a to b [m] whose highest line, towards ``up``, is the edge itself: cloth lies on it."""
    axis = (b - a) / np.linalg.norm(b - a)
    n = up - (up @ axis) * axis
    n /= np.linalg.norm(n)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    ring = radius * (np.cos(angle)[:, None] * n + np.sin(angle)[:, None] * np.cross(axis, n)) - radius * n
    k = np.arange(SIDES)
    after = (k + 1) % SIDES
    sides = np.concatenate([np.stack([k, after, SIDES + k], 1), np.stack([after, SIDES + after, SIDES + k], 1)])
    return np.concatenate([a + ring, b + ring]), sides


def _spike(tip: Array, up: Array, length: float) -> tuple[Array, IntArray]:
    """A cone that ends in a tip [m] pointing along the unit vector ``up``."""
    n = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    n /= np.linalg.norm(n)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    ring = np.cos(angle)[:, None] * n + np.sin(angle)[:, None] * np.cross(up, n)
    k = np.arange(SIDES)
    return np.concatenate([tip - length * up + 0.08 * length * ring, tip[None]]), np.stack(
        [k, (k + 1) % SIDES, np.full(SIDES, SIDES)], axis=1
    )


def _together(pieces: list[tuple[Array, IntArray]]) -> tuple[Array, IntArray]:
    first = np.cumsum([0, *(len(X) for X, _ in pieces)])
    triangles = [T + k for (_, T), k in zip(pieces, first, strict=False)]
    return np.concatenate([X for X, _ in pieces]), np.concatenate(triangles)


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
