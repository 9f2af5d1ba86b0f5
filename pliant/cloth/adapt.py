"""The mesh of a step: features that are kept, features just met, conformal and adaptive remeshing."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.arrays import Array
from pliant.cloth.collide import (
    NO_EDGE_HITS,
    NO_TIP_HITS,
    EdgeHits,
    TipHits,
    chosen,
    confirmed,
    edge_hits,
    face_depths,
    mesh_edges,
    tip_hits,
)
from pliant.cloth.conform import Border, conform, fresh_edges, fresh_tips, keep_admitted
from pliant.cloth.own_contact import ClothSkin
from pliant.cloth.remesh import Edited, Solids, closed, opened, refined
from pliant.cloth.sheet import Sheet, signed_areas
from pliant.cloth.surroundings import SINK, SUNK, Scenery
from pliant.cloth.transfer import released

if TYPE_CHECKING:
    from pliant.cloth.system import EolCloth


Hits = tuple[EdgeHits, TipHits]

NO_HITS: Hits = (NO_EDGE_HITS, NO_TIP_HITS)
DEPTHS = (1.0, 0.5)  # thr past a feature to which new vertices are limited when all of them would strain the cloth
LOST = 1.0  # thr past a single point: no vertex waits beyond, since little else would keep the cloth from passing it
NEEDLE = 1e-9  # of the mean area of a face
HARDLY = 0.05  # of the kinetic and stored energy; most of it is given back in the step


def hold(cloth: "EolCloth", sheet: Sheet, scenery: Scenery, h: float) -> Sheet:
    """Which vertices still lie on their feature; the others become Lagrangian with the velocity of the material."""
    conformer = cloth.method.conformer
    if conformer is None:
        return sheet
    kept = confirmed(sheet, scenery, cloth.around, h, snap=cloth.method.slides)
    zone = conformer.zone * cloth.scale
    kept = keep_admitted(kept, scenery, cloth.around.table, Border.of(sheet, cloth.border), zone)
    return released(sheet, kept)


def detect(cloth: "EolCloth", sheet: Sheet, scenery: Scenery) -> Hits:
    """New vertices asked for by features that the cloth has met."""
    thickness, edges, conformer = cloth.around.thickness, cloth.around.table.edges, cloth.method.conformer
    if conformer is None:
        return NO_HITS
    hits = edge_hits(sheet, scenery, 2 * thickness, thickness, cloth.edges)
    tips = tip_hits(sheet, scenery, scenery.tips, 5 * thickness, thickness, edges)
    border, sizes = Border.of(sheet, cloth.border), (conformer.zone * cloth.scale, conformer.tau * cloth.scale)
    return (
        chosen(hits, fresh_edges(hits, sheet, scenery, cloth.around, border, sizes)),
        chosen(tips, fresh_tips(tips, sheet, border, sizes[0], thickness)),
    )


def remeshed(cloth: "EolCloth", sheet: Sheet, scenery: Scenery, hits: Hits, *, adaptive: bool = True) -> Edited:
    """The sheet remeshed with vertices at the hits, or, where these would strain it, at those that are close to it.

    A new vertex is put on its feature. Where the cloth has got far past the feature, as at a border that admits no
    vertex until the material has moved on, that strains the faces around: rows push the cloth back first. Where a whole
    row of new vertices leaves a face without area, they wait for the next step, too, and so does everything that would
    sink the cloth into a body.
    """
    best = edit(cloth, sheet, scenery, hits, adaptive=adaptive)
    count = _count(hits)
    if count:
        least, most = _stored(cloth, best), (1 + HARDLY) * cloth.stored(sheet) + HARDLY * cloth.kinetic(sheet)
        for depth in DEPTHS:
            hits = _close(hits, scenery, cloth.around.thickness, depth)
            if least > most and _count(hits) < count:
                edited = edit(cloth, sheet, scenery, hits, adaptive=adaptive)
                best = min(best, edited, key=lambda e: _stored(cloth, e))
                least, count = _stored(cloth, best), _count(hits)
        best = best if np.isfinite(least) else edit(cloth, sheet, scenery, NO_HITS, adaptive=adaptive)
    if count and _sinks(cloth, sheet, best.sheet, scenery):
        best = edit(cloth, sheet, scenery, NO_HITS, adaptive=adaptive)
    fit = _upright(best.sheet) and not _sinks(cloth, sheet, best.sheet, scenery)
    return best if fit else Edited(sheet, np.arange(len(sheet.X)), 0)


def _sinks(cloth: "EolCloth", before: Sheet, after: Sheet, scenery: Scenery) -> bool:
    """Whether the deepest face is deeper in a body than the deepest one was, by more than a step may sink it."""
    least, more = SUNK * cloth.around.thickness, SINK * cloth.around.thickness
    deep = face_depths(after.x, after.faces, scenery, least).max(initial=least)
    return bool(deep > least + more and deep > face_depths(before.x, before.faces, scenery, least).max() + more)


def _stored(cloth: "EolCloth", edited: Edited) -> float:
    """The membrane energy [J] of an edited sheet; inf where a face has no area."""
    return cloth.stored(edited.sheet) if _upright(edited.sheet) else np.inf


def _upright(sheet: Sheet) -> bool:
    """Whether every face has an area in the material."""
    A = signed_areas(sheet.X, sheet.faces)
    return bool(A.min() > NEEDLE * A.mean())


def _count(hits: Hits) -> int:
    return len(hits[0].feature) + len(hits[1].feature)


def _close(hits: Hits, scenery: Scenery, thr: float, depth: float) -> Hits:
    """The hits at which the cloth is at most ``depth`` thr past the feature, or about to be lost."""
    edges, tips = hits
    point = scenery.corner_tip[tips.feature - len(scenery.edge_wire)]
    low = np.logical_or(tips.height <= depth * thr, np.logical_and(point, tips.height > LOST * thr))
    return chosen(edges, np.flatnonzero(edges.gap >= -depth * thr)), chosen(tips, np.flatnonzero(low))


def edit(cloth: "EolCloth", sheet: Sheet, scenery: Scenery, hits: Hits, *, adaptive: bool = True) -> Edited:
    """Preprocess for conformity, then remesh adaptively [Weidner2022, sec. 2.6]; no new edge cuts through a body."""
    table, conformer, remesher = cloth.around.table, cloth.method.conformer, cloth.method.remesher
    remesher = remesher if adaptive else None
    features = conformer is not None and ((sheet.feature >= 0).any() or any(len(k.feature) for k in hits))
    if not features and remesher is None:
        return Edited(sheet, np.arange(len(sheet.X)), 0)
    N = cloth.neighbours
    S = remesher.sizing(sheet, table, N) if remesher else uniform_sizing(sheet)
    solids = Solids(scenery.planes, scenery.plane_start, SUNK * cloth.around.thickness)
    tri = opened(sheet, S, N, solids)
    operations = 0
    if features and conformer is not None:
        operations += conform(tri, sheet, hits, table, conformer)
    if remesher is not None:
        tri, more = refined(tri, remesher, table)
        operations += more
    return closed(tri, sheet, operations)


def untangled(cloth: "EolCloth", sheet: Sheet, scenery: Scenery, hits: Hits) -> Edited:
    """The sheet remeshed as far as it does not pass through itself by that: all of it, for conformity only, not."""
    for adaptive in (True, False):
        edited = remeshed(cloth, sheet, scenery, hits, adaptive=adaptive)
        if not ClothSkin(edited.sheet, mesh_edges(edited.sheet.faces), cloth.around.clearance).crossed():
            return edited
    return Edited(sheet, np.arange(len(sheet.X)), 0)


def uniform_sizing(sheet: Sheet) -> Array:
    """The isotropic sizing field of the mean edge length: flips toward Delaunay and nothing else."""
    edges = mesh_edges(sheet.faces)
    size = float(np.linalg.norm(sheet.X[edges[:, 0]] - sheet.X[edges[:, 1]], axis=1).mean())
    return np.tile([size**-2, 0.0, size**-2], (len(sheet.X), 1))


def same_mesh(sheet: Sheet, edited: Edited) -> bool:
    """Whether nothing was edited and every vertex kept its feature."""
    return edited.operations == 0 and np.array_equal(sheet.feature, edited.sheet.feature)
