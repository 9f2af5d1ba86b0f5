"""What is around cloth: gravity, friction, and the sharp features of all obstacles, scripted and live."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.cloth.remesh import FeatureTable
from pliant.contact.pose import REST
from pliant.contact.sharp import Features, Sharp
from pliant.errors import SceneError
from pliant.maps.motions import Placement, RigidMotion, Twist, Vector

SUNK = 0.5  # thr that cloth may cut short a blunt edge by: its vertices rest on the faces beside
SINK = 0.25  # thr that faces may sink in a step, or by remeshing, before something is done about it
STILL: Placement = (REST, Twist(np.zeros(3), np.zeros(3), np.zeros(3)))


class Tips(NamedTuple):
    """Points ``x (c, 3)`` of bodies that cloth may hang over, their mean outward normals ``up (c, 3)``, the directions
    ``inward (c, k, 3)`` of the edges that meet there, padded with zeros, and the bodies (c,)."""

    x: Array
    up: Array
    inward: Array
    body: IntArray


@dataclass(frozen=True, eq=False)
class Scenery:
    """All obstacles at one time. Bodies b move with ``body_v + body_w x (p - body_p)``; from ``live`` on they are parts
    of the scene themselves, whose velocities are found together with those of the cloth.

    Planes ``(p, 4)`` grouped by ``plane_start`` per convex body ``plane_body``; edge features a -> b with two outward
    normals (equal for a wire, which ``edge_wire`` marks); corner features with mean normal ``corner_n`` and, padded
    with zeros, the normals of their faces and their inward edges ``(c, k, 3)``; ``corner_tip`` marks isolated points.
    Soft edges and blunt corners, which are no features, like edges and corners.
    """

    live: int
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
    soft_a: Array
    soft_b: Array
    soft_n1: Array
    soft_n2: Array
    soft_body: IntArray
    blunt: Tips

    @property
    def tips(self) -> Tips:
        """The corner features."""
        return Tips(self.corner_x, self.corner_n, self.corner_inward, self.corner_body)

    def velocity(self, body: IntArray, p: Array) -> Array:
        """Velocity (k, 3) of the points p (k, 3) as parts of the bodies ``body (k,)`` [m/s]."""
        w, r = self.body_w[body], p - self.body_p[body]
        turned = w[:, [1, 2, 0]] * r[:, [2, 0, 1]] - w[:, [2, 0, 1]] * r[:, [1, 2, 0]]
        return np.asarray(self.body_v[body] + turned)

    def scripted(self, body: IntArray, p: Array) -> Array:
        """The part of `velocity` that is known before the step: zero for live bodies."""
        return np.where((np.asarray(body) < self.live)[:, None], self.velocity(body, p), 0.0)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """Gravity [m/s^2], ``obstacles`` with scripted motions, ``live`` bodies in their own frames, Coulomb's ``mu``;
    ``thickness`` [m] is the scale of contact, ``clearance`` [m] what cloth keeps from itself (0: it does not care)."""

    obstacles: tuple[Sharp, ...] = ()
    live: tuple[Sharp, ...] = ()
    gravity: Vector = (0.0, 0.0, -9.81)
    mu: float = 0.0
    thickness: float = 5e-3
    clearance: float = 0.0
    table: FeatureTable = field(init=False)
    rest: Scenery = field(init=False, repr=False)

    def __post_init__(self) -> None:
        for k, obstacle in enumerate(self.obstacles):
            _require_sharp(obstacle, f"obstacles[{k}]")
        bodies = [o.features() for o in (*self.obstacles, *self.live)]
        object.__setattr__(self, "table", _table(bodies))
        object.__setattr__(self, "rest", _at_rest(bodies, len(self.obstacles)))

    def at(self, t: float, live: Sequence[Placement] = ()) -> Scenery:
        """The obstacles at time t, and the live bodies where they are."""
        motions = [o.motion for o in self.obstacles]
        if all(m is None for m in motions) and not live:
            return self.rest
        placed = [(m.pose(t), m.twist(t)) if isinstance(m, RigidMotion) else STILL for m in motions]
        return _moved(self.rest, [*placed, *live])


def _require_sharp(obstacle: Any, where: str) -> None:
    """Refuse obstacles without features by name, and motions that are not rigid."""
    if not isinstance(obstacle, Sharp):
        remedy = "use Box, Plane, Hull, Points or Wire, or cloth without eulerian="
        raise SceneError(f"{type(obstacle).__name__} has no sharp features", where=where, remedy=remedy)
    if obstacle.motion is not None and not isinstance(obstacle.motion, RigidMotion):
        what = f"{type(obstacle.motion).__name__} does not tell its pose and twist"
        raise SceneError(what, where=f"{where}.motion", remedy="use Keyframes, Phases, Shake or Track")


def _moved(rest: Scenery, placed: Sequence[Placement]) -> Scenery:
    """The scenery with every body at its pose."""
    R, p = np.array([pose.R for pose, _ in placed]), np.array([pose.origin for pose, _ in placed])
    pivot = np.array([pose.pivot for pose, _ in placed])

    def turn(n: Array, body: IntArray) -> Array:
        return np.asarray(np.einsum("kij,k...j->k...i", R[body], n))

    def move(x: Array, body: IntArray) -> Array:
        return turn(x - pivot[body], body) + p[body]

    edge, corner, soft, tips = rest.edge_body, rest.corner_body, rest.soft_body, rest.blunt
    plane = np.repeat(rest.plane_body, np.diff(rest.plane_start))
    n = turn(rest.planes[:, :3], plane)
    dot = lambda a, b: np.einsum("ij,ij->i", a, b)
    offsets = rest.planes[:, 3] - dot(rest.planes[:, :3], pivot[plane]) + dot(n, p[plane])
    return replace(
        rest,
        body_v=np.array([twist.velocity for _, twist in placed]),
        body_w=np.array([twist.spin for _, twist in placed]),
        body_p=np.array([twist.at for _, twist in placed]),
        planes=np.column_stack([n, offsets]),
        edge_a=move(rest.edge_a, edge),
        edge_b=move(rest.edge_b, edge),
        edge_n1=turn(rest.edge_n1, edge),
        edge_n2=turn(rest.edge_n2, edge),
        corner_x=move(rest.corner_x, corner),
        corner_n=turn(rest.corner_n, corner),
        corner_normals=turn(rest.corner_normals, corner),
        corner_inward=turn(rest.corner_inward, corner),
        soft_a=move(rest.soft_a, soft),
        soft_b=move(rest.soft_b, soft),
        soft_n1=turn(rest.soft_n1, soft),
        soft_n2=turn(rest.soft_n2, soft),
        blunt=Tips(move(tips.x, tips.body), turn(tips.up, tips.body), turn(tips.inward, tips.body), tips.body),
    )


def _at_rest(bodies: Sequence[Features], live: int) -> Scenery:
    """All bodies in their own frames."""
    widest = max([1] + [len(k) for f in bodies for k in f.faces])
    most = max([1] + [len(k) for f in bodies for k in f.blunt_inward])

    def stacked(parts: list[Array], *shape: int) -> Array:
        return np.concatenate([np.zeros((0, *shape)), *(np.reshape(p, (-1, *shape)) for p in parts)])

    def owners(counts: list[int]) -> IntArray:
        return np.repeat(np.arange(len(bodies)), counts).astype(np.int64)

    solid = [b for b, f in enumerate(bodies) if len(f.planes)]
    edges, sides = stacked([f.edges for f in bodies], 2, 3), stacked([f.sides for f in bodies], 2, 3)
    soft, soft_sides = stacked([f.soft for f in bodies], 2, 3), stacked([f.soft_sides for f in bodies], 2, 3)
    return Scenery(
        live=live,
        body_v=np.zeros((len(bodies), 3)),
        body_w=np.zeros((len(bodies), 3)),
        body_p=np.zeros((len(bodies), 3)),
        planes=stacked([f.planes for f in bodies], 4),
        plane_start=np.concatenate([[0], np.cumsum([len(bodies[b].planes) for b in solid])]).astype(np.int64),
        plane_body=np.array(solid, dtype=np.int64),
        edge_a=np.ascontiguousarray(edges[:, 0]),
        edge_b=np.ascontiguousarray(edges[:, 1]),
        edge_n1=np.ascontiguousarray(sides[:, 0]),
        edge_n2=np.ascontiguousarray(sides[:, 1]),
        edge_wire=np.all(sides[:, 0] == sides[:, 1], axis=1),
        edge_body=owners([len(f.edges) for f in bodies]),
        corner_x=stacked([f.corners for f in bodies], 3),
        corner_n=stacked([f.up for f in bodies], 3),
        corner_normals=stacked([_padded(k, widest) for f in bodies for k in f.faces], widest, 3),
        corner_inward=stacked([_padded(k, widest) for f in bodies for k in f.inward], widest, 3),
        corner_tip=np.array([not len(k) for f in bodies for k in f.spokes], dtype=bool),
        corner_body=owners([len(f.corners) for f in bodies]),
        soft_a=np.ascontiguousarray(soft[:, 0]),
        soft_b=np.ascontiguousarray(soft[:, 1]),
        soft_n1=np.ascontiguousarray(soft_sides[:, 0]),
        soft_n2=np.ascontiguousarray(soft_sides[:, 1]),
        soft_body=owners([len(f.soft) for f in bodies]),
        blunt=Tips(
            stacked([f.blunt for f in bodies], 3),
            stacked([f.blunt_up for f in bodies], 3),
            stacked([_padded(k, most) for f in bodies for k in f.blunt_inward], most, 3),
            owners([len(f.blunt) for f in bodies]),
        ),
    )


def _padded(rows: Array, width: int) -> Array:
    out = np.zeros((width, 3))
    out[: len(rows)] = rows
    return out


def _table(bodies: Sequence[Features]) -> FeatureTable:
    """Edge features of all bodies in order, then corner features with the edges that meet there."""
    first = np.concatenate([[0], np.cumsum([len(f.edges) for f in bodies])]).astype(np.int64)
    lists = [k + first[b] for b, f in enumerate(bodies) for k in f.spokes]
    padded = np.full((max(len(lists), 1), max([1] + [len(k) for k in lists])), -1, dtype=np.int64)
    for i, k in enumerate(lists):
        padded[i, : len(k)] = k
    return FeatureTable(int(first[-1]), padded)
