"""Conformal preprocessing: vertices are inserted where the cloth meets sharp features, the mesh is tidied there.

[Weidner2022, sec. 2.6.1]: insert at untracked features, connect, then merge short edges and split ill-conditioned faces
until nothing changes. Close to the border of the cloth nothing is inserted unless the crease crosses it steeply.
"""

from dataclasses import dataclass, replace

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.cloth import _conform
from pliant.cloth._topology import FIXED, Tri, find_edge, split_edge, split_face
from pliant.cloth.collide import EdgeHits, TipHits, chosen, tracked, untracked
from pliant.cloth.kinematics import material_directions, vertex_gradients
from pliant.cloth.remesh import FeatureTable
from pliant.cloth.sheet import BoolArray, Sheet
from pliant.cloth.surroundings import Scenery, Surroundings
from pliant.errors import SceneError
from pliant.kernels.bind import entry

GRAZE = 2e-3  # thr from a feature that count as having reached it: rows stop the cloth there, give or take rounding


@dataclass(frozen=True)
class Conformer:
    """``tau``: shortest edge at a feature and twice the least altitude; ``zone``: width of the border strip without new
    features, both as a fraction of the cloth's length; ``rounds`` caps the tidying loop."""

    tau: float = 0.01
    zone: float = 0.025
    rounds: int = 50

    def __post_init__(self) -> None:
        if not 0 < self.tau < 0.2:
            raise SceneError(f"tau = {self.tau}", where="Conformer", remedy="use a small positive fraction, e.g. 0.01")


@dataclass(frozen=True)
class Border:
    """Distances from the border of the material domain: segments ``a -> b (k, 2)``."""

    a: Array
    b: Array

    @staticmethod
    def of(sheet: Sheet, edges: IntArray) -> "Border":
        """From the border edges (k, 2) of the sheet."""
        return Border(sheet.X[edges[:, 0]], sheet.X[edges[:, 1]])

    def admits(self, X: Array, direction: Array, zone: float) -> BoolArray:
        """Whether feature vertices may be at X (k, 2): away from the border, or on a crease that meets one steeply.

        ``direction (k, 2)`` is that of the crease, zero for a feature that has none.
        """
        d = self.b - self.a
        along = d / np.linalg.norm(d, axis=1, keepdims=True)
        r = X[:, None] - self.a
        s = np.clip(np.einsum("kij,ij->ki", r, d) / np.einsum("ij,ij->i", d, d), 0, 1)
        near = np.linalg.norm(r - s[..., None] * d, axis=2) < zone
        length = np.linalg.norm(direction, axis=1)
        cosine = np.abs(direction @ along.T) / (length[:, None] + 1e-300)
        steep = np.where(near, cosine, 0.0).max(axis=1) < np.cos(0.2 * np.pi)
        first = along[np.argmax(near, axis=1)]
        single = np.where(near, np.abs(first @ along.T), 1.0).min(axis=1) >= 0.9  # not near two borders
        return np.asarray(~near.any(axis=1) | (steep & single & (length > 0)))


def keep_admitted(sheet: Sheet, scenery: Scenery, table: FeatureTable, border: Border, zone: float) -> Sheet:
    """Drop the features of vertices that drifted into the border strip (a fifth narrower than for new ones)."""
    on = np.flatnonzero(sheet.feature >= 0)
    if not len(on):
        return sheet
    direction, feature = np.zeros((len(on), 2)), sheet.feature.copy()
    lines = np.flatnonzero(feature[on] < table.edges)
    e = feature[on[lines]]
    if len(lines):
        F = vertex_gradients(sheet, on[lines])
        direction[lines] = material_directions(F, scenery.edge_b[e] - scenery.edge_a[e])
    feature[on[~border.admits(sheet.X[on], direction, 0.8 * zone)]] = -1
    return replace(sheet, feature=feature)


def fresh_edges(
    hits: EdgeHits, sheet: Sheet, scenery: Scenery, around: Surroundings, border: Border, sizes: tuple[float, float]
) -> IntArray:
    """Which hits ask for a new vertex: the cloth has reached the edge, no end is on it yet, the border admits it.

    ``sizes`` = (zone, tau) [m]. Closer than tau to a vertex on a feature nothing is inserted: it would be merged again,
    and what the cloth was strained by on its way to the edge would be left behind, anew in each step.
    """
    zone, tau = sizes
    touching = np.flatnonzero((hits.gap <= GRAZE * around.thickness) & (hits.gap >= -2 * around.thickness))
    (a, b), e = hits.ends[touching].T, hits.feature[touching]
    kept = np.flatnonzero(~tracked(chosen(hits, touching), sheet.feature, around.table))
    if not len(kept):
        return kept
    a, b, e, s = a[kept], b[kept], e[kept], hits.s[touching[kept]][:, None]
    F = 0.5 * (vertex_gradients(sheet, a) + vertex_gradients(sheet, b))
    direction = material_directions(F, scenery.edge_b[e] - scenery.edge_a[e])
    X, there = (1 - s) * sheet.X[a] + s * sheet.X[b], sheet.X[sheet.feature >= 0]
    apart = np.linalg.norm(X[:, None] - there, axis=2).min(axis=1, initial=np.inf) >= tau
    return touching[kept[border.admits(X, direction, zone) & apart]]


def fresh_tips(hits: TipHits, sheet: Sheet, border: Border, zone: float, thr: float) -> IntArray:
    """Which tips ask for a new vertex: they have reached the cloth, are not tracked yet, and away from the border."""
    new = untracked(hits, sheet)
    new = new[hits.height[new] >= -GRAZE * thr]
    X = np.einsum("ki,kij->kj", hits.weights[new], sheet.X[sheet.faces[hits.face[new]]])
    return new[border.admits(X, np.zeros_like(X), zone)]


def conform(tri: Tri, sheet: Sheet, hits: tuple[EdgeHits, TipHits], table: FeatureTable, conformer: Conformer) -> int:
    """Insert vertices at the hits into the opened ``sheet``, tidy around all feature vertices; the operations done."""
    edges, tips = hits
    for i in range(len(tips.feature)):
        _insert(tri, tips.weights[i] @ sheet.X[sheet.faces[tips.face[i]]], tips.point[i], int(tips.feature[i]))
    for i in range(len(edges.feature)):
        ends = (int(edges.ends[i, 0]), int(edges.ends[i, 1]))
        insert_on_edge(tri, ends, float(np.clip(edges.s[i], 0.01, 0.99)), edges.point[i], int(edges.feature[i]))
    length = float(np.ptp(sheet.X, axis=0).max())
    _, operations = _conform.settle(tri, conformer.tau * length, conformer.rounds, table.edges, table.corner_edges)
    return operations + len(edges.feature) + len(tips.feature)


def _insert(tri: Tri, X: Array, x: Array, feature: int) -> None:
    """A feature vertex at the material point X: splits the face there, or the edge it lies on."""
    f, w = entry(_conform.locate)(tri.X, tri.F, tri.count[1], X)
    k = int(np.argmin(w))
    if w[k] < 1e-3:
        s = float(np.clip(w[(k + 2) % 3] / (w[(k + 1) % 3] + w[(k + 2) % 3]), 0.01, 0.99))
        v = entry(split_edge)(tri, f, k, s, x)
    else:
        v = split_face(tri, f, w, x)
    tri.feature[v] = feature


def insert_on_edge(tri: Tri, ends: tuple[int, int], s: float, x: Array, feature: int) -> None:
    """A feature vertex at x, in the material at (1 - s) a + s b of the cloth edge a-b."""
    a, b = ends
    if tri.flags[a] & FIXED and tri.flags[b] & FIXED:
        return
    f, k = entry(find_edge)(tri, a, b)
    if f < 0:  # another feature has split this edge already
        _insert(tri, (1 - s) * tri.X[a] + s * tri.X[b], x, feature)
        return
    if tri.F[f, (k + 1) % 3] != a:
        s = 1 - s
    tri.feature[entry(split_edge)(tri, f, k, s, x)] = feature
