"""The state a scene starts from: what already overlaps is named, shown, and moved apart on request."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray
from pliant.contact.intersect import intersections
from pliant.contact.pairs import PairDetector
from pliant.contact.pose import pose_at
from pliant.contact.setting import Setting
from pliant.errors import SceneError
from pliant.mesh.topology import edges


@dataclass(frozen=True, eq=False)
class Overlap:
    """One body that overlaps another (or obstacle -1 - k): ``depth`` [m], ``direction (3,)`` in which it should leave.

    ``faces (f, 3)`` are triangles involved, in the scene's numbering.
    """

    body: int
    other: int
    depth: float
    direction: Array
    faces: IntArray


class OverlapError(SceneError):
    """A scene that starts with bodies inside each other or inside obstacles, or stays so when ``pushed`` apart.

    ``movable``: whether at least one body of every overlap could be pushed.
    """

    def __init__(
        self,
        setting: Setting,
        x: Array,
        overlaps: list[Overlap],
        file: Path | None = None,
        *,
        pushed: bool = False,
        movable: bool = True,
    ) -> None:
        self.setting, self.x, self.overlaps, self.pushed, self.movable = setting, x, overlaps, pushed, movable
        named = [
            f"{_name(setting, o.body)} and {_name(setting, o.other)} ({o.depth:.3g} m{_place(x, o.faces)})"
            for o in overlaps[:4]
        ]
        more = f" and {len(overlaps) - 4} more" if len(overlaps) > 4 else ""
        shown = "" if file is None else f" (shown in {file})"
        advice = ", or set resolve_initial=True on the contact" if movable else ""
        if pushed:
            advice = ": those with pins stay where they are, as do robots on the ground and what is attached to either"
        super().__init__(
            f"bodies overlap {'even when pushed apart' if pushed else 'at the start'}: {', '.join(named)}{more}{shown}",
            where="scene.bodies",
            remedy=f"move them apart{advice}; what grows around another body is attached to it with contact=False",
        )

    def write(self, path: str | Path) -> Path:
        """The triangles involved as a VTK file."""
        import meshio

        F = np.concatenate([o.faces for o in self.overlaps])
        number = np.concatenate([np.full(len(o.faces), i) for i, o in enumerate(self.overlaps)])
        used, T = np.unique(F, return_inverse=True)
        meshio.Mesh(self.x[used], [("triangle", T.reshape(-1, 3))], cell_data={"overlap": [number]}).write(path)
        return Path(path)

    def shown_in(self, path: Path) -> "OverlapError":
        """The same error, naming the VTK file that was written for it."""
        return OverlapError(
            self.setting, self.x, self.overlaps, self.write(path), pushed=self.pushed, movable=self.movable
        )


def admissible(setting: Setting, x: Array, *, gap: float, resolve: bool, fixed: IntArray, bodies: bool = True) -> Array:
    """The positions ``x (n, 3)`` to start from at t = 0: as given, or with bodies moved apart if ``resolve``.

    Vertices must keep ``gap`` [m] from obstacles (a small negative one tolerates resting contact). Bodies with
    prescribed vertices ``fixed`` never move. Without ``bodies``, these may overlap each other: they never touch.
    """
    eaten = swallowed(setting, x)
    if eaten is not None:
        remedy = "move the obstacle out of the body"
        raise SceneError(f"obstacle {eaten[0]!r} lies inside body {eaten[1]!r}", where="scene.obstacles", remedy=remedy)
    found = overlaps(setting, x, gap, bodies=bodies)
    if not found:
        return x
    if not resolve:
        held = _held(setting, fixed)
        movable = all(any(not held[b] for b in _shares(setting, o)) for o in found)
        raise OverlapError(setting, x, found, movable=movable)
    return pushed_apart(setting, x, gap=gap, fixed=fixed, bodies=bodies)


def overlaps(
    setting: Setting, x: Array, gap: float = 0.0, detector: PairDetector | None = None, *, bodies: bool = True
) -> list[Overlap]:
    """Overlaps of bodies with obstacles (closer than ``gap``) and, with ``bodies``, each other at ``x (n, 3)``."""
    found = _with_obstacles(setting, x, gap)
    return found + _between_bodies(setting, x, min(gap, 0.0), detector) if bodies else found


def _with_obstacles(setting: Setting, x: Array, gap: float) -> list[Overlap]:
    found, places = [], setting.places
    owner, y = setting.body[places.first], places.at(x)
    for k, obstacle in enumerate(setting.obstacles):
        pose = pose_at(obstacle.motion, 0.0)
        g, n = obstacle.distance(pose.local(y))
        for body in np.unique(owner[g < gap]):
            own = owner == body
            deepest = np.flatnonzero(own)[np.argmin(g[own])]
            inside = places.nodes[own & (g < gap)]
            direction = pose.turn(n[deepest][None])[0]
            found.append(
                Overlap(int(body), -1 - k, float(gap - g[deepest]), direction, _faces(setting, int(body), inside))
            )
    return found


def _between_bodies(setting: Setting, x: Array, gap: float, detector: PairDetector | None) -> list[Overlap]:
    finder = detector or setting.detector(self_contact=False)
    pairs = finder.detect(x)
    contacts = pairs.contacts(x)
    body = setting.body[pairs.nodes[:, 0]]
    keys = np.unique(np.column_stack([body, pairs.body])[contacts.gaps < gap], axis=0)
    found = []
    for a, b in keys:
        chosen = np.flatnonzero((body == a) & (pairs.body == b) & (contacts.gaps < gap))
        deepest = chosen[np.argmin(contacts.gaps[chosen])]
        faces = np.vstack([pairs.nodes[chosen, 1:], _faces(setting, int(a), pairs.nodes[chosen, 0])])
        found.append(Overlap(int(a), int(b), float(-contacts.gaps[deepest]), contacts.normals[deepest], faces))
    known = {(o.body, o.other) for o in found} | {(o.other, o.body) for o in found}
    return found + [o for o in _pierced(setting, x) if (o.body, o.other) not in known]


def _pierced(setting: Setting, x: Array) -> list[Overlap]:
    """Surfaces that cross without a vertex inside: edge through triangle, sheets."""
    faces = [m.surface() + o for m, o in zip(setting.meshes, setting.offsets, strict=False) if m.kind != "springs"]
    if not faces:
        return []
    F = np.concatenate(faces)
    E = edges(F)
    found = []
    hits = intersections(x, E, F)
    pairs = np.column_stack([setting.body[E[hits[:, 0], 0]], setting.body[F[hits[:, 1], 0]]])
    kin = setting.never(pairs[:, 0], pairs[:, 1])
    hits, pairs = hits[~kin], pairs[~kin]
    for a, b in np.unique(np.sort(pairs, axis=1), axis=0):
        chosen = hits[(np.sort(pairs, axis=1) == (a, b)).all(axis=1), 1]
        apart = x[setting.body == a].mean(axis=0) - x[setting.body == b].mean(axis=0)
        size = max(float(np.linalg.norm(apart)), 1e-300)
        depth = 0.1 * float(min(setting.edge_length[a], setting.edge_length[b]))
        found.append(Overlap(int(a), int(b), depth, apart / size, F[np.unique(chosen)]))
    return found


def swallowed(setting: Setting, x: Array) -> tuple[str, str] | None:
    """The first obstacle with a point of its own inside a solid body, and that body."""
    finder = PairDetector(setting.meshes, setting.offsets)
    for obstacle in setting.obstacles:
        points = pose_at(obstacle.motion, 0.0).world(obstacle.inner_points())
        for p in points:
            body = finder.body_at(x, p)
            if body >= 0:
                return obstacle.name, setting.names[body]
    return None


def pushed_apart(setting: Setting, x: Array, *, gap: float, fixed: IntArray, bodies: bool = True) -> Array:
    """Positions with whole bodies moved until none overlap; what has prescribed vertices ``fixed`` stays."""
    finder = setting.detector(self_contact=False)
    x = x.copy()
    edge = float(setting.edge_length.min())
    held, whole = _held(setting, fixed), setting.whole[setting.body]
    for _ in range(200):
        found = overlaps(setting, x, gap, finder, bodies=bodies)
        if not found:
            return x
        for o in _deepest(setting, found):
            shares = _shares(setting, o)
            movable = [b for b in shares if not held[b]]
            for b in movable:
                x[whole == b] += shares[b] * (o.depth + 0.01 * edge) / len(movable) * o.direction
    raise OverlapError(setting, x, overlaps(setting, x, gap, finder, bodies=bodies), pushed=True)


def _held(setting: Setting, fixed: IntArray) -> NDArray[np.bool_]:
    """Whether what moves together (by its number) has vertices that do not move."""
    return np.isin(np.arange(int(setting.whole.max(initial=-1)) + 1), setting.whole[setting.body[fixed]])


def _deepest(setting: Setting, found: list[Overlap]) -> list[Overlap]:
    """One overlap of each two that move against each other: the deepest, so that none of them goes its way twice."""
    kept: dict[frozenset[int], Overlap] = {}
    for o in found:
        pair = frozenset((int(setting.whole[o.body]), o.other if o.other < 0 else int(setting.whole[o.other])))
        if pair not in kept or o.depth > kept[pair].depth:
            kept[pair] = o
    return list(kept.values())


def _shares(setting: Setting, o: Overlap) -> dict[int, float]:
    """What could be moved to undo an overlap, and which way; nothing if both sides move together."""
    a, b = int(setting.whole[o.body]), -1 if o.other < 0 else int(setting.whole[o.other])
    return {} if a == b else {a: 1.0} if b < 0 else {a: 1.0, b: -1.0}


def _faces(setting: Setting, body: int, vertices: IntArray) -> IntArray:
    mesh = setting.meshes[body]
    if mesh.kind == "springs":
        return np.zeros((0, 3), dtype=np.int64)
    F = mesh.surface() + setting.offsets[body]
    return F[np.isin(F, vertices).any(axis=1)]


def _place(x: Array, F: IntArray) -> str:
    """Where an overlap is: the middle of its triangles."""
    if not len(F):
        return ""
    middle = x[np.unique(F)].mean(axis=0)
    return " at " + ", ".join(f"{p:.3g}" for p in middle)


def _name(setting: Setting, k: int) -> str:
    return f"obstacle {setting.obstacles[-1 - k].name!r}" if k < 0 else f"body {k} ({setting.names[k]!r})"
