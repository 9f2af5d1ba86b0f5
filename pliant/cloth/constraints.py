"""Rows on the velocities of cloth in contact [Weidner2022, Alg. 2.2, with the flat rule it lacks].

    box corner, folded        n_k . xdot >= n_k . v_obs for its faces
    corner on flat cloth, tip n . xdot >= ..., and no sliding of xdot across n
    box edge, folded          n_1 . xdot >= ..., n_2 . xdot >= ...           t . Xdot = 0  (border: b . Xdot = 0)
    box edge, flat cloth      n_c . xdot >= ..., (n_c x e) . xdot = ...      the same
    vertex at a face          n . xdot >= n . v_obs - gap / h
    crossed edge, face at tip the same for the interpolated point, with the averaged normal (Lagrangian cloth)

t is the material direction of the crease, b the material normal of the border, n_c the normal of the cloth. Without the
flat rule one direction per vertex would move neither the cloth nor the energy.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.cloth._metric import crease_sums, folds
from pliant.cloth.collide import EdgeHits, FaceContacts, TipHits, feature_body
from pliant.cloth.kinematics import material_directions, vertex_gradients
from pliant.cloth.remesh import creases
from pliant.cloth.sheet import Sheet
from pliant.cloth.surroundings import Scenery, Tips
from pliant.velocity_step import Relief

if TYPE_CHECKING:
    from pliant.cloth.system import EolCloth

PUSHES = 4  # rows per vertex whose impulses are remembered
FLAT_EDGE, FLAT_CORNER = 0.1, 0.5  # largest angle between faces at a vertex that counts as flat [rad]


@dataclass(frozen=True)
class Pushes:
    """Whom rows push: vertices (k,), along unit normals (k, 3), by obstacles (k,) (-1: by a hand), at points (k, 3)."""

    vertex: IntArray
    normal: Array
    body: IntArray
    point: Array

    @property
    def ordinals(self) -> IntArray:
        """For each push how many earlier ones its vertex has, at most PUSHES - 1."""
        order = np.argsort(self.vertex, kind="stable")
        v = self.vertex[order]
        starts = np.flatnonzero(np.concatenate([[True], v[1:] != v[:-1]])) if len(v) else np.zeros(0, np.int64)
        within = np.arange(len(v)) - np.repeat(starts, np.diff(np.concatenate([starts, [len(v)]])))
        out = np.empty(len(v), dtype=np.int64)
        out[order] = np.minimum(within, PUSHES - 1)
        return out


@dataclass
class RowBuilder:
    """Sparse rows ``A u = right`` or ``C u >= right`` under construction, in blocks of rows of equal width.

    Blocks with ``pushes`` come before those without.
    """

    columns: list[IntArray] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)
    rights: list[Array] = field(default_factory=list)
    described: list[Pushes] = field(default_factory=list)

    def add(self, columns: IntArray, values: Array, right: Array, pushes: Pushes | None = None) -> None:
        """Rows (k, w) of columns and values with right-hand sides (k,)."""
        self.columns.append(columns)
        self.values.append(values)
        self.rights.append(right)
        if pushes is not None:
            self.described.append(pushes)

    def matrix(self, size: int) -> tuple[sp.csc_matrix, Array]:
        if not self.rights:
            return sp.csc_matrix((0, size)), np.zeros(0)
        width = np.concatenate([np.full(len(c), c.shape[1]) for c in self.columns])
        rows = np.repeat(np.arange(len(width)), width)
        columns = np.concatenate([c.ravel() for c in self.columns])
        values = np.concatenate([v.ravel() for v in self.values])
        return sp.csc_matrix((values, (rows, columns)), shape=(len(width), size)), self.right

    @property
    def right(self) -> Array:
        return np.concatenate([np.zeros(0), *self.rights])

    @property
    def pushes(self) -> Pushes:
        """Of all blocks that have them."""
        vertex, body = ([np.zeros(0, np.int64), *(getattr(p, k) for p in self.described)] for k in ("vertex", "body"))
        normal, point = ([np.zeros((0, 3)), *(getattr(p, k) for p in self.described)] for k in ("normal", "point"))
        return Pushes(*(np.concatenate(part) for part in (vertex, normal, body, point)))


@dataclass(frozen=True)
class Cone:
    """Both face normals at an edge: right for cloth that can slide through its mesh, locking for cloth that cannot."""

    def normals(self, n1: Array, n2: Array) -> list[Array]:
        return [n1, n2]


@dataclass(frozen=True)
class Averaged:
    """One averaged normal at an edge, the usual choice of Lagrangian cloth: it slides, but lifts off."""

    def normals(self, n1: Array, n2: Array) -> list[Array]:
        return [(n1 + n2) / np.linalg.norm(n1 + n2)]


EdgeRule = Cone | Averaged


@dataclass(frozen=True)
class Corners:
    """Local geometry at the vertices on features: their cloth normal, how far from flat, and the row for Xdot."""

    normal: Array
    bend: Array
    slide: Array

    @staticmethod
    def of(sheet: Sheet, cloth: "EolCloth", scenery: Scenery) -> "Corners":
        on = sheet.feature >= 0
        total, cosine = folds(sheet.x, sheet.faces, on)
        slide = np.zeros((len(sheet.X), 2))
        _border_directions(sheet, cloth.border, slide)
        _crease_directions(sheet, cloth, scenery, slide)
        unit = total / (np.linalg.norm(total, axis=1, keepdims=True) + 1e-300)
        return Corners(unit, np.arccos(np.clip(cosine, -1, 1)), slide)


def _border_directions(sheet: Sheet, border: IntArray, slide: Array) -> None:
    a, b = border[sheet.feature[border[:, 0]] >= 0].T
    d = sheet.X[b] - sheet.X[a]
    slide[a] = np.column_stack([-d[:, 1], d[:, 0]]) / np.linalg.norm(d, axis=1, keepdims=True)


def _crease_directions(sheet: Sheet, cloth: "EolCloth", scenery: Scenery, slide: Array) -> None:
    """Unit mean of the material directions of the crease edges at each inner vertex; F^+ e where there is none.

    At a corner creases of several directions meet, and the material may slide in all of them.
    """
    inner = (sheet.feature >= 0) & (sheet.feature < cloth.around.table.edges) & ~slide.any(axis=1)
    if not inner.any():
        return
    f, k = np.nonzero(creases(sheet, cloth.around.table))
    sums = crease_sums(sheet.X, sheet.faces[f, (k + 1) % 3], sheet.faces[f, (k + 2) % 3])
    lone = np.flatnonzero(inner & ~sums.any(axis=1))
    if len(lone):
        e = sheet.feature[lone]
        sums[lone] = material_directions(vertex_gradients(sheet, lone), scenery.edge_b[e] - scenery.edge_a[e])
    chosen = np.flatnonzero(inner & sums.any(axis=1))
    slide[chosen] = sums[chosen] / np.linalg.norm(sums[chosen], axis=1, keepdims=True)


def feature_rows(
    cloth: "EolCloth",
    sheet: Sheet,
    scenery: Scenery,
    rule: EdgeRule,
    corners: Corners,
    rows: tuple[RowBuilder, RowBuilder],
) -> None:
    """Rows of all vertices on features, added to ``rows`` = (equalities, inequalities)."""
    equal, bound = rows
    edges = cloth.around.table.edges
    number = np.full(len(sheet.X), -1)
    number[cloth.eol] = np.arange(len(cloth.eol))
    on = np.flatnonzero(sheet.feature >= 0)
    bodies = feature_body(sheet.feature[on], scenery)
    speeds = scenery.scripted(bodies, sheet.x[on])
    outer = np.isin(on, cloth.border)
    pushed, held, slides = [], [], []
    for i, v in enumerate(on.tolist()):
        feature = int(sheet.feature[v])
        if feature < edges:
            push, hold = _edge_directions(cloth, scenery, rule, corners, v, feature)
        else:
            push, hold = _corner_directions(scenery, corners, v, feature - edges)
        pushed += [(i, d) for d in push]
        held += [(i, d) for d in hold]
        if number[v] >= 0 and (feature < edges or outer[i] and corners.slide[v].any()):
            slides.append(v)
    for pairs, target in ((pushed, bound), (held, equal)):
        if pairs:
            at, d = np.array([i for i, _ in pairs]), np.array([d for _, d in pairs])
            who = Pushes(on[at], d, bodies[at], sheet.x[on[at]])
            target.add(3 * on[at][:, None] + np.arange(3), d, np.einsum("ij,ij->i", d, speeds[at]), who)
    if slides:
        columns = 3 * len(sheet.X) + 2 * number[slides][:, None] + np.arange(2)
        equal.add(columns, corners.slide[slides], np.zeros(len(slides)))


def cross(a: Array, b: Array) -> Array:
    """a x b of two vectors (3,); NumPy's own takes ten times as long for one pair."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _edge_directions(
    cloth: "EolCloth", scenery: Scenery, rule: EdgeRule, corners: Corners, v: int, e: int
) -> tuple[list[Array], list[Array]]:
    """Directions to push along and to hold at a vertex on an edge feature."""
    n1, n2 = scenery.edge_n1[e], scenery.edge_n2[e]
    along = scenery.edge_b[e] - scenery.edge_a[e]
    along = along / np.linalg.norm(along)
    if scenery.edge_wire[e]:
        return [n1], [cross(n1, along)] if cloth.method.slides else []
    if cloth.method.slides and corners.bend[v] < FLAT_EDGE:
        n = corners.normal[v] if corners.normal[v] @ (n1 + n2) > 0 else -corners.normal[v]
        across = cross(n, along)
        return [n], [across / np.linalg.norm(across)]
    return rule.normals(n1, n2), []


def _corner_directions(scenery: Scenery, corners: Corners, v: int, c: int) -> tuple[list[Array], list[Array]]:
    if scenery.corner_tip[c] or corners.bend[v] < FLAT_CORNER:
        n = scenery.corner_n[c]
        p = cross(n, np.eye(3)[np.argmin(np.abs(n))])
        p /= np.linalg.norm(p)
        return [n], [p, cross(n, p)]
    normals = scenery.corner_normals[c]
    return [d for d in normals if d.any()], []


class Lines(NamedTuple):
    """The outward normals (e, 3) of the two faces at edges, and the bodies (e,) they belong to."""

    n1: Array
    n2: Array
    body: IntArray


def face_rows(contacts: FaceContacts, sheet: Sheet, scenery: Scenery, relief: Relief, bound: RowBuilder) -> None:
    """Vertices at body faces; a positive gap may close within the step, a negative one opens slowly."""
    speed = np.einsum("ij,ij->i", contacts.normal, scenery.scripted(contacts.body, sheet.x[contacts.vertex]))
    who = Pushes(contacts.vertex, contacts.normal, contacts.body, sheet.x[contacts.vertex])
    bound.add(3 * contacts.vertex[:, None] + np.arange(3), contacts.normal, speed + relief(contacts.gap), who)


def crossing_rows(
    hits: EdgeHits, sheet: Sheet, scenery: Scenery, lines: Lines, relief: Relief, bound: RowBuilder, sunk: float = 0.0
) -> None:
    """Lagrangian contact of cloth edges with edges: the crossing point is pushed along the averaged normal.

    It may be ``sunk`` [m] below the edge.
    """
    (a, b), e, s = hits.ends.T, hits.feature, hits.s[:, None]
    body, n = lines.body[e], lines.n1[e] + lines.n2[e]
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    gap = np.einsum("ij,ij->i", n, (1 - s) * sheet.x[a] + s * sheet.x[b] - hits.point) + sunk
    speed = np.einsum("ij,ij->i", n, scenery.scripted(body, hits.point))
    columns = (3 * hits.ends[:, :, None] + np.arange(3)).reshape(-1, 6)
    who = Pushes(np.where(hits.s < 0.5, a, b), n, body, hits.point)
    bound.add(columns, np.hstack([(1 - s) * n, s * n]), speed + relief(gap), who)


def tip_rows(
    hits: TipHits, sheet: Sheet, scenery: Scenery, tips: Tips, relief: Relief, bound: RowBuilder, sunk: float = 0.0
) -> None:
    """Lagrangian contact of faces with tips: the point of the face at the tip is pushed along the tip's normal.

    ``hits.feature`` counts ``tips``; the point may be ``sunk`` [m] below its tip.
    """
    c = hits.feature
    corners, w, n, body = sheet.faces[hits.face], hits.weights, tips.up[c], tips.body[c]
    gap = np.einsum("ij,ij->i", n, np.einsum("ki,kij->kj", w, sheet.x[corners]) - hits.point) + sunk
    speed = np.einsum("ij,ij->i", n, scenery.scripted(body, hits.point))
    columns = (3 * corners[:, :, None] + np.arange(3)).reshape(-1, 9)
    nearest = corners[np.arange(len(c)), np.argmax(w, axis=1)]
    values = (w[:, :, None] * n[:, None, :]).reshape(-1, 9)
    bound.add(columns, values, speed + relief(gap), Pushes(nearest, n, body, hits.point))
