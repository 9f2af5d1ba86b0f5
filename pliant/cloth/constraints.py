"""Rows on the velocities of cloth in contact [Weidner2022, Alg. 2.2, with the flat rule it lacks].

    box corner, folded        n_k . xdot >= n_k . v_obs for its faces
    corner on flat cloth, tip n . xdot >= ..., and no sliding of xdot across n
    box edge, folded          n_1 . xdot >= ..., n_2 . xdot >= ...           t . Xdot = 0  (border: b . Xdot = 0)
    box edge, flat cloth      n_c . xdot >= ..., (n_c x e) . xdot = ...      the same
    vertex at a face          n . xdot >= n . v_obs - gap / h

t is the material direction of the crease, b the material normal of the border, n_c the normal of the cloth. Without the
flat rule one direction per vertex would move neither the cloth nor the energy.
"""

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.cloth._metric import crease_sums, folds
from pliant.cloth.collide import EdgeHits, FaceContacts, feature_body
from pliant.cloth.kinematics import material_directions, vertex_gradients
from pliant.cloth.remesh import creases
from pliant.cloth.sheet import Sheet
from pliant.cloth.system import EolCloth
from pliant.cloth.world import Scenery

PUSHES = 4  # rows per vertex whose impulses are remembered
FLAT_EDGE, FLAT_CORNER = 0.1, 0.5  # largest angle between faces at a vertex that counts as flat [rad]


@dataclass(frozen=True)
class Push:
    """Whom an inequality row pushes: a vertex, along a unit normal, by an obstacle."""

    vertex: int
    normal: Array
    body: int


@dataclass
class Rows:
    """Sparse rows ``A u = right`` or ``C u >= right`` under construction; ``pushes`` describes inequality rows."""

    entries: list[tuple[IntArray, Array]] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    pushes: list[Push] = field(default_factory=list)

    def add(self, columns: IntArray, values: Array, right: float, push: Push | None = None) -> None:
        self.entries.append((columns, values))
        self.right.append(float(right))
        if push is not None:
            self.pushes.append(push)

    def matrix(self, size: int) -> tuple[sp.csc_matrix, Array]:
        if not self.entries:
            return sp.csc_matrix((0, size)), np.zeros(0)
        rows = np.repeat(np.arange(len(self.entries)), [len(c) for c, _ in self.entries])
        columns = np.concatenate([c for c, _ in self.entries])
        values = np.concatenate([v for _, v in self.entries])
        return sp.csc_matrix((values, (rows, columns)), shape=(len(self.entries), size)), np.array(self.right)

    @property
    def vertices(self) -> IntArray:
        return np.array([p.vertex for p in self.pushes], dtype=np.int64)

    @property
    def ordinals(self) -> IntArray:
        """For each push how many earlier ones its vertex has, at most PUSHES - 1."""
        seen: dict[int, int] = {}
        out = np.zeros(len(self.pushes), dtype=np.int64)
        for i, p in enumerate(self.pushes):
            out[i] = min(seen.get(p.vertex, 0), PUSHES - 1)
            seen[p.vertex] = seen.get(p.vertex, 0) + 1
        return out


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
    def of(sheet: Sheet, cloth: EolCloth, scenery: Scenery) -> "Corners":
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


def _crease_directions(sheet: Sheet, cloth: EolCloth, scenery: Scenery, slide: Array) -> None:
    """Unit mean of the material directions of the crease edges at each inner vertex; F^+ e where there is none."""
    inner = (sheet.feature >= 0) & ~slide.any(axis=1)
    if not inner.any():
        return
    f, k = np.nonzero(creases(sheet, cloth.world.table))
    sums = crease_sums(sheet.X, sheet.faces[f, (k + 1) % 3], sheet.faces[f, (k + 2) % 3])
    lone = np.flatnonzero(inner & ~sums.any(axis=1) & (sheet.feature < cloth.world.table.edges))
    if len(lone):
        e = sheet.feature[lone]
        sums[lone] = material_directions(vertex_gradients(sheet)[lone], scenery.edge_b[e] - scenery.edge_a[e])
    chosen = np.flatnonzero(inner & sums.any(axis=1))
    slide[chosen] = sums[chosen] / np.linalg.norm(sums[chosen], axis=1, keepdims=True)


def feature_rows(
    cloth: EolCloth, sheet: Sheet, scenery: Scenery, rule: EdgeRule, corners: Corners, rows: tuple[Rows, Rows]
) -> None:
    """Rows of all vertices on features, added to ``rows`` = (equalities, inequalities)."""
    equal, bound = rows
    edges = cloth.world.table.edges
    number = np.full(len(sheet.X), -1)
    number[cloth.eol] = np.arange(len(cloth.eol))
    n = len(sheet.X)
    on = np.flatnonzero(sheet.feature >= 0)
    speeds = scenery.velocity(feature_body(sheet.feature[on], scenery), sheet.x[on])
    outer = np.isin(on, cloth.border)
    for v, speed, border in zip(on.tolist(), speeds, outer, strict=True):
        feature = int(sheet.feature[v])
        at = 3 * v + np.arange(3)
        if feature < edges:
            push, hold, body = _edge_directions(cloth, scenery, rule, corners, v, feature)
        else:
            push, hold, body = _corner_directions(scenery, corners, v, feature - edges)
        for d in push:
            bound.add(at, d, d @ speed, Push(v, d, body))
        for d in hold:
            equal.add(at, d, d @ speed)
        if number[v] >= 0 and (feature < edges or border and corners.slide[v].any()):
            equal.add(3 * n + 2 * number[v] + np.arange(2), corners.slide[v], 0.0)


def _edge_directions(
    cloth: EolCloth, scenery: Scenery, rule: EdgeRule, corners: Corners, v: int, e: int
) -> tuple[list[Array], list[Array], int]:
    """Directions to push along and to hold at a vertex on an edge feature, and the obstacle."""
    n1, n2 = scenery.edge_n1[e], scenery.edge_n2[e]
    along = scenery.edge_b[e] - scenery.edge_a[e]
    along = along / np.linalg.norm(along)
    body = int(scenery.edge_body[e])
    if scenery.edge_wire[e]:
        return [n1], [np.cross(n1, along)] if cloth.eulerian else [], body
    if cloth.eulerian and corners.bend[v] < FLAT_EDGE:
        n = corners.normal[v] if corners.normal[v] @ (n1 + n2) > 0 else -corners.normal[v]
        across = np.cross(n, along)
        return [n], [across / np.linalg.norm(across)], body
    return rule.normals(n1, n2), [], body


def _corner_directions(scenery: Scenery, corners: Corners, v: int, c: int) -> tuple[list[Array], list[Array], int]:
    body = int(scenery.corner_body[c])
    if scenery.corner_tip[c] or corners.bend[v] < FLAT_CORNER:
        n = scenery.corner_n[c]
        p = np.cross(n, np.eye(3)[np.argmin(np.abs(n))])
        p /= np.linalg.norm(p)
        return [n], [p, np.cross(n, p)], body
    normals = scenery.corner_normals[c]
    return [d for d in normals if d.any()], [], body


def face_rows(contacts: FaceContacts, sheet: Sheet, scenery: Scenery, h: float, bound: Rows) -> None:
    """Vertices at body faces; a positive gap may close within the step, a negative one opens slowly."""
    speed = np.einsum("ij,ij->i", contacts.normal, scenery.velocity(contacts.body, sheet.x[contacts.vertex]))
    right = speed + relief(contacts.gap, h)
    for v, d, r, body in zip(contacts.vertex, contacts.normal, right, contacts.body, strict=True):
        bound.add(3 * v + np.arange(3), d, r, Push(int(v), d, int(body)))


def crossing_rows(hits: EdgeHits, sheet: Sheet, scenery: Scenery, h: float, bound: Rows) -> None:
    """Lagrangian contact of cloth edges with sharp edges: the crossing point is pushed along the averaged normal."""
    speeds = scenery.velocity(scenery.edge_body[hits.feature], hits.point)
    for (a, b), e, s, p, speed in zip(hits.ends, hits.feature, hits.s, hits.point, speeds, strict=True):
        n = scenery.edge_n1[e] + scenery.edge_n2[e]
        n /= np.linalg.norm(n)
        gap = n @ ((1 - s) * sheet.x[a] + s * sheet.x[b] - p)
        columns = np.concatenate([3 * a + np.arange(3), 3 * b + np.arange(3)])
        right = n @ speed + relief(np.array([gap]), h)[0]
        push = Push(int(a if s < 0.5 else b), n, int(scenery.edge_body[e]))
        bound.add(columns, np.concatenate([(1 - s) * n, s * n]), right, push)


def relief(gap: Array, h: float) -> Array:
    """Smallest normal velocity [m/s] for a signed gap: -gap / h outside; inside, a tenth of the depth per step."""
    return np.where(gap > 0, -gap / h, np.minimum(-0.1 * gap / h, 0.1))
