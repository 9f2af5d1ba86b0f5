"""Collision detection of a sheet with what is around: features it lies on, has just met, bodies it touches.

Deterministic: positions are perturbed by a fixed pattern of 1e-3 thicknesses so that no crossing hits a vertex exactly.
"""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.cloth import _collide
from pliant.cloth._sweeps import shared_edge
from pliant.cloth.remesh import FeatureTable
from pliant.cloth.sheet import BoolArray, Sheet
from pliant.cloth.surroundings import Scenery, Surroundings, Tips
from pliant.kernels.bind import entry

LIFT = 0.1  # a vertex this many thr above its feature has left it; less would flicker while the cloth is slack


@dataclass(frozen=True)
class EdgeHits:
    """Cloth edges ``ends (k, 2)`` that cross edge features: at (1 - s) a + s b, at ``point`` of the feature, with the
    ``gap`` [m] (negative: inside) along the mutual ``normal``."""

    ends: IntArray
    feature: IntArray
    s: Array
    point: Array
    gap: Array
    normal: Array


@dataclass(frozen=True)
class TipHits:
    """Corner features that poke through ``face (k,)`` at barycentric ``weights (k, 3)`` by ``height`` [m]."""

    face: IntArray
    feature: IntArray
    weights: Array
    point: Array
    height: Array


@dataclass(frozen=True)
class FaceContacts:
    """Vertices within reach of the plane of a body's face: outward ``normal (k, 3)``, signed ``gap`` [m]."""

    vertex: IntArray
    normal: Array
    gap: Array
    body: IntArray


def chosen(hits: Any, which: IntArray) -> Any:
    """The same record with only the entries ``which`` of all its arrays."""
    return type(hits)(*(getattr(hits, f.name)[which] for f in fields(hits)))


def mesh_edges(faces: IntArray) -> IntArray:
    """(k, 2) all edges, each once, smaller vertex first, sorted."""
    pairs = np.sort(faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    n = int(faces.max(initial=0)) + 1
    keys = np.unique(pairs[:, 0] * n + pairs[:, 1])
    return np.stack([keys // n, keys % n], axis=1)


def perturbed(x: Array, thr: float) -> Array:
    """x shifted by up to 1e-3 thr toward or away from the center by a fixed pattern; mirroring commutes with it."""
    r = 2 * np.modf(0.6180339887 * np.arange(1, len(x) + 1))[0][:, None] - 1
    arm = x - x.mean(axis=0)
    return x + 1e-3 * thr * r * arm / (np.abs(arm).max() + 1e-300)


NO_EDGE_HITS = EdgeHits(
    *(np.zeros((0, 2), np.int64), np.zeros(0, np.int64), np.zeros(0), np.zeros((0, 3))),
    *(np.zeros(0), np.zeros((0, 3))),
)
NO_TIP_HITS = TipHits(*2 * (np.zeros(0, np.int64),), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0))


def edge_hits(sheet: Sheet, scenery: Scenery, reach: float, thr: float, edges: IntArray | None = None) -> EdgeHits:
    """Crossings of cloth edges (those given, or all) with sharp edges within ``reach``."""
    if not len(scenery.edge_a):
        return NO_EDGE_HITS
    cloth = mesh_edges(sheet.faces) if edges is None else edges
    lines = (scenery.edge_a, scenery.edge_b, scenery.edge_n1, scenery.edge_n2)
    return _line_hits(perturbed(sheet.x, thr), cloth, lines, reach)


def soft_hits(sheet: Sheet, scenery: Scenery, reach: float, thr: float, edges: IntArray) -> EdgeHits:
    """Crossings of the cloth edges given with soft edges within ``reach``; ``feature`` counts these."""
    if not len(scenery.soft_a):
        return NO_EDGE_HITS
    lines = (scenery.soft_a, scenery.soft_b, scenery.soft_n1, scenery.soft_n2)
    return _line_hits(perturbed(sheet.x, thr), edges, lines, reach)


def _line_hits(x: Array, cloth: IntArray, lines: tuple[Array, Array, Array, Array], reach: float) -> EdgeHits:
    """Crossings of cloth edges with lines a -> b that have two normals."""
    a, b = lines[:2]
    pairs, values = _collide.edge_edge(x, cloth, *lines, reach)
    e, t = pairs[:, 1], values[:, 1]
    point = a[e] + t[:, None] * (b[e] - a[e])
    return EdgeHits(cloth[pairs[:, 0]], e, values[:, 0], point, values[:, 2], values[:, 3:])


def tip_hits(sheet: Sheet, scenery: Scenery, tips: Tips, reach: float, thr: float, first: int = 0) -> TipHits:
    """Corners and nails near a face, one face of each layer of the cloth; ``feature`` counts them from ``first`` on.

    The first layer of a tip is the one that is closest to it; the others count where they are inside of its body.
    """
    if not len(tips.x):
        return NO_TIP_HITS
    x = perturbed(sheet.x, thr)
    pairs, values = _collide.tip_faces(x, sheet.faces, tips.x, tips.up, tips.inward, reach)
    order = np.lexsort((pairs[:, 1], np.abs(values[:, 3]), pairs[:, 0]))
    k, last, taken = [], -1, set[int]()
    for i in order.tolist():
        c, f = pairs[i].tolist()
        around = set(sheet.faces[f].tolist())
        if c != last or (not around & taken and _inside(values[i, :3] @ x[sheet.faces[f]], int(tips.body[c]), scenery)):
            k.append(i)
            taken, last = around | (taken if c == last else set()), c
    c, f = pairs[k].T.reshape(2, -1)
    return TipHits(f, first + c, values[k, :3], tips.x[c], values[k, 3])


def _inside(p: Array, body: int, scenery: Scenery) -> bool:
    """Whether the point p is inside of the body; wires and nails have no inside."""
    piece = int(np.searchsorted(scenery.plane_body, body))
    if piece == len(scenery.plane_body) or scenery.plane_body[piece] != body:
        return False
    planes = scenery.planes[scenery.plane_start[piece] : scenery.plane_start[piece + 1]]
    return bool(np.all(planes[:, :3] @ p < planes[:, 3]))


def untracked(hits: TipHits, sheet: Sheet) -> IntArray:
    """The hits of layers that have no vertex on the tip: neither their face nor one beside it."""
    k = []
    for i, (f, c) in enumerate(zip(hits.face.tolist(), hits.feature.tolist(), strict=True)):
        on = np.flatnonzero(sheet.feature == c)
        beside = sheet.faces[np.isin(sheet.faces, on).any(axis=1)] if len(on) else on
        if not np.isin(sheet.faces[f], beside).any():
            k.append(i)
    return np.array(k, dtype=np.int64)


def face_contacts(sheet: Sheet, scenery: Scenery, around: Surroundings, h: float) -> FaceContacts:
    """Vertices at most 5 thr inside of a convex body, or outside but able to reach it in the time h.

    A vertex on a feature of a body is not also in contact with its faces.
    """
    reach = around.thickness + 2 * h * (np.abs(sheet.v).max(initial=0.0) + np.abs(scenery.body_v).max(initial=0.0))
    pairs, gap = _collide.vertex_body(sheet.x, scenery.planes, scenery.plane_start, 5 * around.thickness, reach)
    vertex, plane = pairs[:, 0], pairs[:, 1]
    body = scenery.plane_body[np.searchsorted(scenery.plane_start, plane, side="right") - 1]
    own = feature_body(sheet.feature, scenery)[vertex] == body
    keep = ~own
    return FaceContacts(vertex[keep], scenery.planes[plane[keep], :3], gap[keep], body[keep])


def face_depths(x: Array, faces: IntArray, scenery: Scenery, least: float) -> Array:
    """(m,) how deep [m] faces with vertices x are in convex bodies; ``least`` for those that are not deeper."""
    deepest = np.full(len(faces), least)
    for first, last in zip(scenery.plane_start[:-1], scenery.plane_start[1:], strict=True):
        deepest = np.maximum(deepest, _collide.face_depths(x, faces, scenery.planes[first:last], least))
    return deepest


def feature_body(feature: IntArray, scenery: Scenery) -> IntArray:
    """The obstacle each feature belongs to, -1 for none."""
    bodies = np.concatenate([scenery.edge_body, scenery.corner_body, [-1]]).astype(np.int64)
    return bodies[feature]


def tracked(hits: EdgeHits, feature: IntArray, table: FeatureTable) -> BoolArray:
    """Whether an end of the cloth edge lies on the edge it crosses, or on a corner of that; ``feature (n,)`` are those
    of all vertices."""
    pairs = zip(feature[hits.ends].tolist(), hits.feature.tolist(), strict=True)
    found = [any(entry(shared_edge)(f, e, table.edges, table.corner_edges) >= 0 for f in ends) for ends, e in pairs]
    return np.array(found, dtype=bool)


def confirmed(sheet: Sheet, scenery: Scenery, around: Surroundings, h: float, *, snap: bool) -> Sheet:
    """Features kept by the vertices that still touch them.

    With ``snap`` (EOL) a vertex that moved outward by more than LIFT thr has lifted off, the others are put exactly
    onto the (moved) feature; without (Lagrangian) a vertex keeps its feature up to half a thr away. One beyond the
    end of its edge has slipped off. On a turning body the tangential step of time h leads outward by (w h)^2 r / 2,
    which is no lift.
    """
    feature, x = sheet.feature.copy(), sheet.x.copy()
    edges = around.table.edges
    v = np.flatnonzero((feature >= 0) & (feature < edges))
    e = feature[v]
    along = scenery.edge_b[e] - scenery.edge_a[e]
    t = np.einsum("ij,ij->i", x[v] - scenery.edge_a[e], along) / np.einsum("ij,ij->i", along, along)
    foot = scenery.edge_a[e] + t[:, None] * along
    normals = np.stack([scenery.edge_n1[e], scenery.edge_n2[e]], axis=1)
    near = _tolerance(x, feature, scenery, around.thickness, h) if snap else np.full(len(x), 0.5 * around.thickness)
    stays = (t >= 0) & (t <= 1) & _touching(x[v] - foot, normals, near[v], snap)
    x[v[stays]] = foot[stays] if snap else x[v[stays]]
    feature[v[~stays]] = -1
    v = np.flatnonzero(feature >= edges)
    c = feature[v] - edges
    stays = _touching(x[v] - scenery.corner_x[c], scenery.corner_normals[c], near[v], snap)
    x[v[stays]] = scenery.corner_x[c[stays]] if snap else x[v[stays]]
    feature[v[~stays]] = -1
    return replace(sheet, x=x, feature=feature)


def _tolerance(x: Array, feature: IntArray, scenery: Scenery, thr: float, h: float) -> Array:
    """How far (n,) [m] a vertex may be outside of its feature without having left it."""
    if not len(scenery.body_w):
        return np.full(len(x), LIFT * thr)
    body = feature_body(feature, scenery)
    angle = h * np.linalg.norm(scenery.body_w[body], axis=1)
    return LIFT * thr + angle**2 * np.linalg.norm(x - scenery.body_p[body], axis=1)


def _touching(offset: Array, normals: Array, near: Array, snap: bool) -> BoolArray:
    """Whether vertices at ``offset (k, 3)`` from their feature with outward ``normals (k, j, 3)`` still touch it."""
    if snap:
        return np.asarray(np.einsum("ij,ikj->ik", offset, normals).max(axis=1, initial=-np.inf) <= near)
    return np.asarray(np.linalg.norm(offset, axis=1) <= near)
