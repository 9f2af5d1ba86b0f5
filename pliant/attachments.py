"""Attachments: vertices of one body tied to points of another, exactly or by springs; seams of cloth."""

import warnings
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.arrays import Array, IntArray, indices, require_among
from pliant.errors import SceneError, require_flag
from pliant.maps.points import TieSprings
from pliant.parts import Place
from pliant.units import read_fields

if TYPE_CHECKING:
    from pliant.scene import Scene

WIDE = 1e-2  # of the size of the tied body: a gap that nobody means to be closed at once


@dataclass(frozen=True, eq=False)
class Attachment:
    """Ties the ``vertices`` of a ``body`` (its name or index) to the material of another body, ``to``.

    The tied points are those at the same place when the scene starts: of the ``link``, of the nearest element of a soft
    body, or the nearest point of a sheet, towards which the vertices are then pulled. ``others`` makes it a seam: the
    vertices of ``to``, one for each of ``vertices``, however far apart they start; a panel may be sewn to itself. With
    a ``stiffness`` [N/m] each tie is a spring per vertex; with None it is exact, and a warning tells where it starts
    wide open. With ``contact=False`` the body never touches the ``link`` or the body that it is tied to, which may lie
    inside it: a bone in flesh.
    """

    body: int | str
    vertices: IntArray
    to: int | str
    link: int | str | None = None
    stiffness: float | None = None
    others: IntArray | None = None
    contact: bool = True
    masks: tuple[int | None, int | None] = field(default=(None, None), init=False, repr=False)  # lengths, where given
    units: ClassVar[dict[str, str]] = {"stiffness": "N/m"}

    def __post_init__(self) -> None:
        read_fields(self)
        require_flag(self.contact, "Attachment.contact")
        if self.stiffness is not None and not self.stiffness > 0.0:
            remedy = "give a positive number [N/m], or None for points that stay together"
            raise SceneError(f"stiffness is {self.stiffness}", where="Attachment.stiffness", remedy=remedy)
        vertices, mask = indices(self.vertices, "Attachment.vertices")
        if not len(vertices):
            raise SceneError("no vertices", where="Attachment.vertices", remedy="choose some of the body's")
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "masks", (mask, None))
        if self.others is None:
            return
        others, other_mask = indices(self.others, "Attachment.others")
        object.__setattr__(self, "masks", (mask, other_mask))
        if len(others) != len(vertices) or self.link is not None:
            sewn = f"{len(vertices)} vertices are sewn to {len(others)}"
            what = sewn if self.link is None else f"link is {self.link!r}"
            remedy = "a seam needs as many vertices on both sides, and no link"
            raise SceneError(what, where="Attachment.others", remedy=remedy)
        object.__setattr__(self, "others", others)

    @property
    def sewn_by_springs(self) -> bool:
        """Whether it is a seam that gives way: at the corner of a panel several of them meet."""
        return self.others is not None and self.stiffness is not None

    def ends(self, scene: "Scene", places: list["Place"]) -> tuple["Place", "Place"]:
        """The places of the body and of what it is tied to, of those of all bodies."""
        body, to = (scene.number(b, f"Attachment.{n}") for b, n in ((self.body, "body"), (self.to, "to")))
        return places[body], places[to]

    def tie(self, scene: "Scene", places: list["Place"]) -> tuple[IntArray, Array]:
        """Points (m, r) of the whole scene and their weights (m, r): sum_r w_r x_r = 0."""
        mine, other = self.ends(scene, places)
        if mine is other and self.others is None:
            raise SceneError("a body is attached to itself", where="Attachment.to", remedy="name another body")
        require_among(self.vertices, self.masks[0], len(mine.x), f"Attachment.vertices of {mine.name!r}")
        if self.others is None:
            nodes, weights = other.holding(mine.x[self.vertices], self.link)
        else:
            require_among(self.others, self.masks[1], len(other.x), f"Attachment.others of {other.name!r}")
            nodes, weights = (self.others + other.first)[:, None], np.ones((len(self.others), 1))
        own = (self.vertices + mine.first)[:, None]
        return np.hstack([own, nodes]), np.hstack([np.ones((len(own), 1)), -weights])

    def spread(self, near: list[IntArray], far: list[IntArray]) -> list["Attachment"]:
        """The same ties between copies: of the vertex of each, ``near``, and of what it is tied to, ``far``.

        Each copy is tied to each of the other end, and they share the stiffness: the energy of the tie is the same.
        """
        made, count = [], np.array([len(a) * len(b) for a, b in zip(near, far, strict=True)])
        for c in np.unique(count).tolist():
            pairs = [list(product(near[i], far[i])) for i in np.flatnonzero(count == c)]
            a, b = np.concatenate(pairs).T
            k = None if self.stiffness is None else self.stiffness / c
            made.append(replace(self, vertices=a, others=None if self.others is None else b, stiffness=k))
        return made


def after_cut(scene: "Scene", cut: int, origin: IntArray) -> list[Attachment]:
    """The attachments of a scene once body number ``cut`` has the vertices ``origin (n,)`` of before: copies stay tied.

    An exact tie holds every vertex once. So where the vertex that it is tied to has copies, these are tied to it in
    their turn, unless a tie of their own holds them already.
    """
    alone = [np.array([v]) for v in range(int(origin.max()) + 1)]
    copies = [np.flatnonzero(origin == v) if c > 1 else alone[v] for v, c in enumerate(np.bincount(origin))]
    exact = [a for a in scene.attachments if a.stiffness is None and scene.number(a.body, "Attachment.body") == cut]
    held = {v for a in exact for v in a.vertices.tolist()}
    made: list[Attachment] = []
    for a in scene.attachments:
        mine, other = (scene.number(body, "scene.attachments") == cut for body in (a.body, a.to))
        near = [copies[v] if mine else np.array([v]) for v in a.vertices.tolist()]
        if a.others is None:
            made += a.spread(near, [alone[0]] * len(near)) if mine else [a]
            continue
        far = [copies[v] if other else np.array([v]) for v in a.others.tolist()]
        if a.stiffness is None:
            back = [(new, v[0]) for v, o in zip(near, far, strict=True) if not _held(held, o) for new in o[1:]]
            if back:
                new, old = np.array(back).T
                made.append(Attachment(a.to, new, a.body, others=old))
            far = [o[:1] for o in far]
        made += a.spread(near, far)
    return made


def _held(held: set[int], copies: IntArray) -> bool:
    """Whether a tie holds the copies of a vertex already; from now on one does."""
    known = int(copies[0]) in held
    held |= {int(copies[0])} if len(copies) > 1 else set()
    return known


def tied(scene: "Scene", places: list[Place], n: int) -> tuple[list[TieSprings], tuple[IntArray, Array] | None]:
    """The springs among the attachments as energies over n points, and the others as points and weights (k, r)."""
    springs: list[TieSprings] = []
    rows: list[tuple[IntArray, Array]] = []
    taken: set[int] = set()
    for attachment in scene.attachments:
        nodes, weights = attachment.tie(scene, places)
        if attachment.sewn_by_springs:
            springs.append(TieSprings(n, nodes, weights, np.full(len(nodes), attachment.stiffness)))
            continue
        for vertex, point in zip(attachment.vertices, nodes[:, 0].tolist(), strict=True):
            if point in taken:
                body = scene.bodies[scene.number(attachment.body, "Attachment.body")].name
                what = f"vertex {vertex} of body {body!r} is in two attachments"
                raise SceneError(what, where="scene.attachments", remedy="attach every vertex once")
            taken.add(point)
        if attachment.stiffness is None:
            _tell_of_gap(*attachment.ends(scene, places), nodes, weights)
            rows.append((nodes, weights))
        else:
            springs.append(TieSprings(n, nodes, weights, np.full(len(nodes), attachment.stiffness)))
    if not rows:
        return springs, None
    width = max(nodes.shape[1] for nodes, _ in rows)
    pad = lambda a: np.pad(a, ((0, 0), (0, width - a.shape[1])))  # to node 0 with weight 0
    return springs, (np.concatenate([pad(a) for a, _ in rows]), np.concatenate([pad(w) for _, w in rows]))


def _tell_of_gap(mine: Place, other: Place, nodes: IntArray, weights: Array) -> None:
    """A warning where an exact tie starts wide open: most methods close it in a step, explicit ones never."""
    held = np.einsum("kr,krd->kd", weights[:, 1:], other.x[nodes[:, 1:] - other.first])
    gap = float(np.linalg.norm(mine.x[nodes[:, 0] - mine.first] + held, axis=1).max())
    if gap > WIDE * float(np.linalg.norm(np.ptp(mine.x, axis=0))):
        warnings.warn(
            f"vertices of {mine.name!r} start up to {gap:.2g} m from where {other.name!r} holds them exactly: such a"
            " gap closes in a step, which throws them, or never (explicit methods); start where they touch, or give a"
            " stiffness [N/m]",
            stacklevel=2,
        )
