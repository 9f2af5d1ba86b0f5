"""The surroundings of cloth: gravity, obstacles with their sharp features, handles that move it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.cloth.obstacles import Obstacle, Points, Polyhedron, Vector, Wire
from pliant.cloth.remesh import FeatureTable
from pliant.errors import SceneError


@dataclass(frozen=True)
class Handle:
    """Material points ``X (k, 2)`` pulled at ``velocity`` [m/s] from ``start`` to ``stop`` [s], held still outside.

    The velocity follows its target with the time constant ``lag`` [s]; before ``grip`` and after ``let_go`` [s] the
    points are free.
    """

    X: Array
    velocity: Vector = (0.0, 0.0, 0.0)
    start: float = 0.0
    stop: float = np.inf
    lag: float = 0.05
    grip: float = 0.0
    let_go: float = np.inf

    def holds(self, t: float) -> bool:
        return self.grip <= t < self.let_go

    def target(self, t: float) -> Array:
        return np.asarray(self.velocity) if self.start <= t < self.stop else np.zeros(3)


@dataclass(frozen=True)
class Scenery:
    """All obstacles at one time. Bodies b move with ``body_v + body_w x (p - body_p)``.

    Planes ``(p, 4)`` grouped by ``plane_start`` per convex body ``plane_body``; edge features a -> b with two outward
    normals (equal for a wire, which ``edge_wire`` marks); corner features with mean normal ``corner_n`` and, padded
    with zeros, the normals of their faces and their inward edges ``(c, k, 3)``; ``corner_tip`` marks isolated points.
    """

    body_v: Array
    body_w: Array
    body_p: Array
    planes: Array
    plane_start: IntArray
    plane_body: IntArray
    edge_a: Array
    edge_b: Array
    edge_n1: Array
    edge_n2: Array
    edge_wire: Array
    edge_body: IntArray
    corner_x: Array
    corner_n: Array
    corner_normals: Array
    corner_inward: Array
    corner_tip: Array
    corner_body: IntArray

    def velocity(self, body: IntArray, p: Array) -> Array:
        """Velocity (k, 3) of the points p (k, 3) as parts of the bodies ``body (k,)`` [m/s]."""
        return self.body_v[body] + np.cross(self.body_w[body], p - self.body_p[body])


@dataclass(frozen=True)
class World:
    """Gravity [m/s^2], obstacles, handles and Coulomb's ``mu``; ``thr`` [m] is the thickness scale of contact."""

    obstacles: tuple[Obstacle, ...] = ()
    handles: tuple[Handle, ...] = ()
    gravity: Vector = (0.0, 0.0, -9.8)
    mu: float = 0.0
    thr: float = 5e-3
    table: FeatureTable = field(init=False)

    def __post_init__(self) -> None:
        if self.mu < 0:
            raise SceneError(f"friction coefficient mu = {self.mu}", where="World.mu", remedy="use mu >= 0")
        if not self.thr > 0:
            raise SceneError(f"contact thickness thr = {self.thr} m", where="World.thr", remedy="use thr > 0")
        object.__setattr__(self, "table", _table(self.obstacles))

    def at(self, t: float) -> Scenery:
        """The obstacles at time t."""
        bodies = [_posed(o, b, t) for b, o in enumerate(self.obstacles)]
        widest = max([1] + [len(k) for p in bodies for k in p["normals"]])
        parts: dict[str, list[Any]] = {}
        for p in bodies:
            p["corner_normals"] = [_padded(k, widest) for k in p.pop("normals")]
            p["corner_inward"] = [_padded(k, widest) for k in p.pop("inward")]
            for name, values in p.items():
                parts.setdefault(name, []).extend(values)
        sizes = [len(o.normals) if isinstance(o, Polyhedron) else 0 for o in self.obstacles]
        hulls = [b for b, o in enumerate(self.obstacles) if isinstance(o, Polyhedron)]
        twists = [o.motion.twist(t) for o in self.obstacles]
        pivots = [o.motion.pose(t)[1] for o in self.obstacles]

        def rows(name: str, *shape: int, kind: type = float) -> Any:
            return np.array(parts.get(name, []), dtype=kind).reshape(-1, *shape)

        return Scenery(
            body_v=np.array([v for v, _ in twists]).reshape(-1, 3),
            body_w=np.array([w for _, w in twists]).reshape(-1, 3),
            body_p=np.array(pivots).reshape(-1, 3),
            planes=rows("planes", 4),
            plane_start=np.concatenate([[0], np.cumsum([sizes[b] for b in hulls])]).astype(np.int64),
            plane_body=np.array(hulls, dtype=np.int64),
            edge_a=rows("edge_a", 3),
            edge_b=rows("edge_b", 3),
            edge_n1=rows("edge_n1", 3),
            edge_n2=rows("edge_n2", 3),
            edge_wire=rows("edge_wire", kind=bool),
            edge_body=rows("edge_body", kind=np.int64),
            corner_x=rows("corner_x", 3),
            corner_n=rows("corner_n", 3),
            corner_normals=rows("corner_normals", widest, 3),
            corner_inward=rows("corner_inward", widest, 3),
            corner_tip=rows("corner_tip", kind=bool),
            corner_body=rows("corner_body", kind=np.int64),
        )


def _padded(rows: Array, width: int) -> Array:
    out = np.zeros((width, 3))
    out[: len(rows)] = rows
    return out


def _posed(o: Obstacle, body: int, t: float) -> dict[str, list[Any]]:
    """Planes, edges and corners of one obstacle at time t."""
    R, p = o.motion.pose(t)
    move = lambda x: (np.atleast_2d(x) - np.asarray(o.motion.pivot)) @ R.T + p
    turn = lambda n: np.atleast_2d(n) @ R.T
    empty: dict[str, list[Any]] = {"normals": [], "inward": []}
    if isinstance(o, Wire):
        a, b = move(np.array([o.start, o.end]))
        along = (b - a) / np.linalg.norm(b - a)
        up = turn(np.array(o.up))[0]
        up = up - (up @ along) * along
        up /= np.linalg.norm(up)
        wire = {
            "edge_a": [a],
            "edge_b": [b],
            "edge_n1": [up],
            "edge_n2": [up],
            "edge_wire": [True],
            "edge_body": [body],
        }
        return empty | wire
    if isinstance(o, Points):
        n = turn(o.normals / np.linalg.norm(o.normals, axis=1, keepdims=True))
        k = len(n)
        return {
            "corner_x": list(move(o.points)),
            "corner_n": list(n),
            "normals": [n[i : i + 1] for i in range(k)],
            "inward": [np.zeros((0, 3))] * k,
            "corner_tip": [True] * k,
            "corner_body": [body] * k,
        }
    x, n = move(o.points), turn(o.normals)
    d = np.einsum("ij,ij->i", n, x[np.argmax(x @ n.T, axis=0)])
    faces = [np.unique(o.edge_faces[np.any(o.edges == c, axis=1)]) for c in o.corners]
    tips = [o.edges[np.any(o.edges == c, axis=1)] for c in o.corners]
    means = [n[f].sum(axis=0) for f in faces]
    inward = [x[np.where(e[:, 0] == c, e[:, 1], e[:, 0])] - x[c] for c, e in zip(o.corners, tips, strict=True)]
    k, c = len(o.edges), len(o.corners)
    return {
        "planes": list(np.column_stack([n, d])),
        "edge_a": list(x[o.edges[:, 0]]),
        "edge_b": list(x[o.edges[:, 1]]),
        "edge_n1": list(n[o.edge_faces[:, 0]]),
        "edge_n2": list(n[o.edge_faces[:, 1]]),
        "edge_wire": [False] * k,
        "edge_body": [body] * k,
        "corner_x": list(x[o.corners]),
        "corner_n": [m / np.linalg.norm(m) for m in means],
        "normals": [n[f] for f in faces],
        "inward": [e / np.linalg.norm(e, axis=1, keepdims=True) for e in inward],
        "corner_tip": [False] * c,
        "corner_body": [body] * c,
    }


def _table(obstacles: tuple[Obstacle, ...]) -> FeatureTable:
    """Edge features of all obstacles in order, then corner features with the edges that meet there."""
    edges, lists = 0, []
    for o in obstacles:
        if isinstance(o, Polyhedron):
            lists += [list(edges + np.flatnonzero(np.any(o.edges == c, axis=1))) for c in o.corners]
            edges += len(o.edges)
        elif isinstance(o, Points):
            lists += [[] for _ in range(len(o.points))]
        else:
            edges += 1
    width = max([1] + [len(e) for e in lists])
    padded = np.full((max(len(lists), 1), width), -1, dtype=np.int64)
    for i, e in enumerate(lists):
        padded[i, : len(e)] = e
    return FeatureTable(edges, padded)
