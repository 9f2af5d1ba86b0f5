"""The surroundings of cloth: gravity, obstacles with their sharp features, handles that move it."""

from dataclasses import dataclass, field, replace
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
        w, r = self.body_w[body], p - self.body_p[body]
        turned = w[:, [1, 2, 0]] * r[:, [2, 0, 1]] - w[:, [2, 0, 1]] * r[:, [1, 2, 0]]
        return np.asarray(self.body_v[body] + turned)


@dataclass(frozen=True)
class World:
    """Gravity [m/s^2], obstacles, handles and Coulomb's ``mu``; ``thr`` [m] is the thickness scale of contact."""

    obstacles: tuple[Obstacle, ...] = ()
    handles: tuple[Handle, ...] = ()
    gravity: Vector = (0.0, 0.0, -9.8)
    mu: float = 0.0
    thr: float = 5e-3
    table: FeatureTable = field(init=False)
    rest: Scenery = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.mu < 0:
            raise SceneError(f"friction coefficient mu = {self.mu}", where="World.mu", remedy="use mu >= 0")
        if not self.thr > 0:
            raise SceneError(f"contact thickness thr = {self.thr} m", where="World.thr", remedy="use thr > 0")
        object.__setattr__(self, "table", _table(self.obstacles))
        object.__setattr__(self, "rest", _at_rest(self.obstacles))

    def at(self, t: float) -> Scenery:
        """The obstacles at time t: those at rest, moved."""
        motions = [o.motion for o in self.obstacles]
        if all(m.still for m in motions):
            return self.rest
        poses, twists = [m.pose(t) for m in motions], [m.twist(t) for m in motions]
        R, p = np.array([R for R, _ in poses]), np.array([p for _, p in poses])
        return _moved(self.rest, R, p, (np.array([v for v, _ in twists]), np.array([w for _, w in twists])))


def _moved(rest: Scenery, R: Array, p: Array, twist: tuple[Array, Array]) -> Scenery:
    """The scenery with every body turned by R (b, 3, 3) about its pivot, which is now at p (b, 3)."""

    def turn(n: Array, body: IntArray) -> Array:
        return np.asarray(np.einsum("kij,k...j->k...i", R[body], n))

    def move(x: Array, body: IntArray) -> Array:
        return turn(x - rest.body_p[body], body) + p[body]

    edge, corner = rest.edge_body, rest.corner_body
    plane = np.repeat(rest.plane_body, np.diff(rest.plane_start))
    n = turn(rest.planes[:, :3], plane)
    dot = lambda a, b: np.einsum("ij,ij->i", a, b)
    offsets = rest.planes[:, 3] - dot(rest.planes[:, :3], rest.body_p[plane]) + dot(n, p[plane])
    return replace(
        rest,
        body_v=twist[0],
        body_w=twist[1],
        body_p=p,
        planes=np.column_stack([n, offsets]),
        edge_a=move(rest.edge_a, edge),
        edge_b=move(rest.edge_b, edge),
        edge_n1=turn(rest.edge_n1, edge),
        edge_n2=turn(rest.edge_n2, edge),
        corner_x=move(rest.corner_x, corner),
        corner_n=turn(rest.corner_n, corner),
        corner_normals=turn(rest.corner_normals, corner),
        corner_inward=turn(rest.corner_inward, corner),
    )


def _at_rest(obstacles: tuple[Obstacle, ...]) -> Scenery:
    """All obstacles where they were given, their pivots where their motions start."""
    bodies = [_parts(o, b) for b, o in enumerate(obstacles)]
    widest = max([1] + [len(k) for p in bodies for k in p["normals"]])
    parts: dict[str, list[Any]] = {}
    for p in bodies:
        p["corner_normals"] = [_padded(k, widest) for k in p.pop("normals")]
        p["corner_inward"] = [_padded(k, widest) for k in p.pop("inward")]
        for name, values in p.items():
            parts.setdefault(name, []).extend(values)
    hulls = [b for b, o in enumerate(obstacles) if isinstance(o, Polyhedron)]
    sizes = [len(bodies[b]["planes"]) for b in hulls]

    def rows(name: str, *shape: int, kind: type = float) -> Any:
        return np.array(parts.get(name, []), dtype=kind).reshape(-1, *shape)

    return Scenery(
        body_v=np.zeros((len(obstacles), 3)),
        body_w=np.zeros((len(obstacles), 3)),
        body_p=np.array([o.motion.pivot for o in obstacles], dtype=np.float64).reshape(-1, 3),
        planes=rows("planes", 4),
        plane_start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
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


def _parts(o: Obstacle, body: int) -> dict[str, list[Any]]:
    """Planes, edges and corners of one obstacle."""
    empty: dict[str, list[Any]] = {"normals": [], "inward": []}
    if isinstance(o, Wire):
        a, b = np.asarray(o.start, dtype=np.float64), np.asarray(o.end, dtype=np.float64)
        along = (b - a) / np.linalg.norm(b - a)
        up = np.asarray(o.up) - (np.asarray(o.up) @ along) * along
        up /= np.linalg.norm(up)
        ends = {"edge_a": [a], "edge_b": [b], "edge_n1": [up], "edge_n2": [up]}
        return empty | ends | {"edge_wire": [True], "edge_body": [body]}
    if isinstance(o, Points):
        n = o.normals / np.linalg.norm(o.normals, axis=1, keepdims=True)
        k = len(n)
        return {
            "corner_x": list(o.points),
            "corner_n": list(n),
            "normals": [n[i : i + 1] for i in range(k)],
            "inward": [np.zeros((0, 3))] * k,
            "corner_tip": [True] * k,
            "corner_body": [body] * k,
        }
    x, n = o.points, o.normals
    faces = [np.unique(o.edge_faces[np.any(o.edges == c, axis=1)]) for c in o.corners]
    tips = [o.edges[np.any(o.edges == c, axis=1)] for c in o.corners]
    means = [n[f].sum(axis=0) for f in faces]
    inward = [x[np.where(e[:, 0] == c, e[:, 1], e[:, 0])] - x[c] for c, e in zip(o.corners, tips, strict=True)]
    k, c = len(o.edges), len(o.corners)
    return {
        "planes": list(np.column_stack([n, o.offsets])),
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
