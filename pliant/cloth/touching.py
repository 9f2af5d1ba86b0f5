"""What cloth touches at a moment: vertices on features and faces, edges across edges, faces on tips, with true gaps."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.cloth import _collide
from pliant.cloth.collide import LIFT, chosen, edge_hits, feature_body, tip_hits, tracked, untracked
from pliant.cloth.sheet import Sheet
from pliant.cloth.surroundings import Scenery
from pliant.systems.contact import Touch

if TYPE_CHECKING:
    from pliant.cloth.system import EolCloth

Found = tuple[Array, Array, Array, IntArray, IntArray]  # points, normals, gaps, bodies, vertices


def touching(cloth: "EolCloth", sheet: Sheet, scenery: Scenery) -> Touch:
    """Everything no further than LIFT thicknesses from a body or inside of it; forces are not known (NaN).

    What is touched is obstacle k as -1 - k, or live body k as k.
    """
    parts = [
        _on_edges(cloth, sheet, scenery),
        _on_corners(cloth, sheet, scenery),
        _on_faces(sheet, scenery, LIFT * cloth.around.thickness),
        _across_edges(cloth, sheet, scenery),
        _on_tips(cloth, sheet, scenery),
    ]
    points, normals, gaps, body, vertex = (np.concatenate(part) for part in zip(*parts, strict=True))
    near = gaps <= LIFT * cloth.around.thickness
    c = int(near.sum())
    other = np.where(body[near] < scenery.live, -1 - body[near], body[near] - scenery.live)
    bodies = np.column_stack([np.zeros(c, dtype=np.int64), other])
    unknown = np.full((c, 3), np.nan)
    return Touch(points[near], normals[near], gaps[near], unknown[:, 0], unknown, bodies, vertex[near])


def _on_edges(cloth: "EolCloth", sheet: Sheet, scenery: Scenery) -> Found:
    """Vertices on edge features; the gap is that to the outer one of the two faces."""
    v = np.flatnonzero((sheet.feature >= 0) & (sheet.feature < cloth.around.table.edges))
    e = sheet.feature[v]
    a, along = scenery.edge_a[e], scenery.edge_b[e] - scenery.edge_a[e]
    sides = np.stack([scenery.edge_n1[e], scenery.edge_n2[e]], axis=1)
    gap = np.einsum("ij,ikj->ik", sheet.x[v] - a, sides).max(axis=1, initial=-np.inf)
    mean = sides.sum(axis=1)
    unit = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    s = np.einsum("ij,ij->i", sheet.x[v] - a, along) / np.einsum("ij,ij->i", along, along)
    return a + s[:, None] * along, unit, gap, scenery.edge_body[e], v


def _on_corners(cloth: "EolCloth", sheet: Sheet, scenery: Scenery) -> Found:
    v = np.flatnonzero(sheet.feature >= cloth.around.table.edges)
    c = sheet.feature[v] - cloth.around.table.edges
    normals, x = scenery.corner_normals[c], scenery.corner_x[c]
    out = np.where(normals.any(axis=2), np.einsum("ij,ikj->ik", sheet.x[v] - x, normals), -np.inf)
    return x, scenery.corner_n[c], out.max(axis=1, initial=-np.inf), scenery.corner_body[c], v


def _on_faces(sheet: Sheet, scenery: Scenery, near: float) -> Found:
    """Vertices at or in convex bodies, however deep, but for those on a feature of the body."""
    pairs, gap = _collide.vertex_body(sheet.x, scenery.planes, scenery.plane_start, np.inf, near)
    vertex, plane = pairs[:, 0], pairs[:, 1]
    body = scenery.plane_body[np.searchsorted(scenery.plane_start, plane, side="right") - 1]
    k = np.flatnonzero(feature_body(sheet.feature, scenery)[vertex] != body)
    return sheet.x[vertex[k]], scenery.planes[plane[k], :3], gap[k], body[k], vertex[k]


def _across_edges(cloth: "EolCloth", sheet: Sheet, scenery: Scenery) -> Found:
    """Cloth edges across sharp edges that none of their ends lies on."""
    thickness = cloth.around.thickness
    hits = edge_hits(sheet, scenery, 2 * thickness, thickness, cloth.edges)
    hits = chosen(hits, np.flatnonzero(~tracked(hits, sheet.feature, cloth.around.table)))
    nearest = np.where(hits.s < 0.5, hits.ends[:, 0], hits.ends[:, 1])
    body = scenery.edge_body[hits.feature]
    return hits.point, hits.normal, _freed(hits.gap, sheet.x[hits.ends], body, scenery), body, nearest


def _on_tips(cloth: "EolCloth", sheet: Sheet, scenery: Scenery) -> Found:
    """Faces pierced or nearly so by corners that no vertex lies on."""
    thickness, edges = cloth.around.thickness, cloth.around.table.edges
    hits = tip_hits(sheet, scenery, scenery.tips, 5 * thickness, thickness, edges)
    hits = chosen(hits, untracked(hits, sheet))
    c = hits.feature - edges
    corners = sheet.faces[hits.face]
    nearest = corners[np.arange(len(c)), np.argmax(hits.weights, axis=1)]
    body = scenery.corner_body[c]
    return hits.point, scenery.corner_n[c], _freed(-hits.height, sheet.x[corners], body, scenery), body, nearest


def _freed(gap: Array, x: Array, body: IntArray, scenery: Scenery) -> Array:
    """Gaps (k,) of edges or faces of the cloth with corners ``x (k, r, 3)``, no deeper than the way out of the body.

    Near a corner a cloth edge that has sunk into one face by a hair crosses the edge between two others, too, and is as
    far from it as the crossing from the corner: it is freed through the first face, however far it is from that edge.
    """
    freed = gap.copy()
    for k in np.flatnonzero((gap < 0.0) & np.isin(body, scenery.plane_body)):
        piece = int(np.searchsorted(scenery.plane_body, body[k]))
        planes = scenery.planes[scenery.plane_start[piece] : scenery.plane_start[piece + 1]]
        out = (planes[:, 3, None] - planes[:, :3] @ x[k].T).max(axis=1)  # to bring it all before each face
        freed[k] = max(gap[k], -max(float(out.min()), 0.0))
    return freed
