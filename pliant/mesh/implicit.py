"""Tetrahedra that fill an implicit body {phi < 0}: a lattice, its vertices snapped to the surface, then cut.

The idea of isosurface stuffing [Labelle2007]: a lattice vertex that the surface passes closely moves onto it, all other
crossings cut their lattice edge well inside, so every piece keeps a positive volume and a bounded shape.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from pliant.arrays import Array, IntArray
from pliant.errors import MeshError
from pliant.mesh.measures import measures
from pliant.mesh.mesh import Mesh
from pliant.mesh.topology import edges, facet_neighbours, non_manifold

Implicit = Callable[[Array], Array]  # (n, 3) points [m] -> (n,) values, negative inside

# A vertex snaps when a crossing is nearer than this part of the edge: the published pair for the best angles.
SNAP_LONG, SNAP_SHORT = 0.24999, 0.41189


def fill(phi: Implicit, bounds: Array, spacing: float) -> Mesh:
    """A connected tet mesh of {phi < 0} inside ``bounds (2, 3)`` [m] with lattice cells of width ``spacing`` [m].

    Deterministic; all volumes positive; the surface is a closed manifold. Features thinner than a cell may vanish.
    """
    if not (np.isfinite(spacing) and spacing > 0):
        raise MeshError(f"spacing is {spacing}", where="fill", remedy="use a positive cell width in metres")
    X, T = _lattice(np.asarray(bounds, dtype=np.float64), spacing)
    value = phi(X)
    _check_values(X, value, spacing)
    X, T = _compact(X, T[(value < 0)[T].any(axis=1)])
    sign = np.where(phi(X) < 0, -1, 1)
    E, cut = _crossings(phi, X, edges(T), sign)
    X, sign = _snap(X, sign, E, cut)
    X, T = _clip(X, T, sign, E, cut)
    X, T = _compact(X, _manifold_part(T))
    return Mesh(X=X, T=T)


def _check_values(X: Array, value: Array, spacing: float) -> None:
    if value.shape != (len(X),) or not np.isfinite(value).all():
        what = f"phi returned shape {value.shape}, {np.count_nonzero(~np.isfinite(value))} values not finite"
        raise MeshError(what, where="fill", remedy="return one finite value per point")
    if not (value < 0).any():
        what = f"no lattice point is inside the body at spacing {spacing:.3g} m"
        raise MeshError(what, where="fill", remedy="use a smaller spacing, or bounds around the body")
    rim = ((X.min(axis=0) == X) | (X.max(axis=0) == X)).any(axis=1)
    if (value[rim] < 0).any():
        at = X[rim][np.argmin(value[rim])].tolist()
        raise MeshError(f"the body reaches {at}", where="fill", remedy="give bounds around the whole body")


def _lattice(bounds: Array, h: float) -> tuple[Array, IntArray]:
    """Body-centered cubic lattice around ``bounds``: four tets around the segments between neighbouring centers."""
    cells = np.ceil((bounds[1] - bounds[0]) / h).astype(np.int64) + 2
    low = (bounds[0] + bounds[1]) / 2 - h * cells / 2
    corner = np.indices(tuple(cells + 1)).reshape(3, -1).T
    center = np.indices(tuple(cells)).reshape(3, -1).T
    corner_number = np.arange(len(corner)).reshape(tuple(cells + 1))
    center_number = len(corner) + np.arange(len(center)).reshape(tuple(cells))
    tets = []
    for axis in range(3):
        to_front = (axis, (axis + 1) % 3, (axis + 2) % 3)
        c, v = np.transpose(center_number, to_front), np.transpose(corner_number, to_front)
        a, b = c[:-1].ravel(), c[1:].ravel()
        ring = [v[1:-1, :-1, :-1], v[1:-1, 1:, :-1], v[1:-1, 1:, 1:], v[1:-1, :-1, 1:]]
        p = [r.ravel() for r in ring]
        tets += [np.stack((a, b, p[k], p[(k + 1) % 4]), axis=1) for k in range(4)]
    return low + h * np.concatenate((corner, center + 0.5)), np.concatenate(tets)


def _crossings(phi: Implicit, X: Array, E: IntArray, sign: IntArray) -> tuple[IntArray, Array]:
    """Edges that the surface crosses, from their inside vertex, and the crossing as a part (0 ... 1) of the edge."""
    E = E[sign[E[:, 0]] != sign[E[:, 1]]]
    E = np.where(sign[E[:, :1]] < 0, E, E[:, ::-1])
    low, high = np.zeros(len(E)), np.ones(len(E))
    for _ in range(40):
        middle = (low + high) / 2
        within = phi(X[E[:, 0]] + middle[:, None] * (X[E[:, 1]] - X[E[:, 0]])) < 0
        low, high = np.where(within, middle, low), np.where(within, high, middle)
    return E, (low + high) / 2


def _snap(X: Array, sign: IntArray, E: IntArray, cut: Array) -> tuple[Array, IntArray]:
    """Move every vertex with a crossing nearby onto the nearest one; its sign becomes 0."""
    X, sign = X.copy(), sign.copy()
    step = X[E[:, 1]] - X[E[:, 0]]
    length = np.linalg.norm(step, axis=1)
    limit = np.where(length > 0.95 * length.max(), SNAP_LONG, SNAP_SHORT)
    at = X[E[:, 0]] + cut[:, None] * step
    vertex = np.concatenate((E[cut < limit, 0], E[cut > 1 - limit, 1]))
    distance = np.concatenate(((cut * length)[cut < limit], ((1 - cut) * length)[cut > 1 - limit]))
    target = np.concatenate((at[cut < limit], at[cut > 1 - limit]))
    order = np.lexsort((distance, vertex))
    nearest = order[np.unique(vertex[order], return_index=True)[1]]
    X[vertex[nearest]] = target[nearest]
    sign[vertex[nearest]] = 0
    return X, sign


def _clip(X: Array, T: IntArray, sign: IntArray, E: IntArray, cut: Array) -> tuple[Array, IntArray]:
    """The part of every tet on the inside, as tets; crossings whose ends did not snap become vertices."""
    open_ = (sign[E] != 0).all(axis=1)
    E, cut = E[open_], cut[open_]
    points = X[E[:, 0]] + cut[:, None] * (X[E[:, 1]] - X[E[:, 0]])
    key = E[:, 0] * len(X) + E[:, 1]
    order = np.argsort(key)

    def on_edge(a: IntArray, b: IntArray) -> IntArray:
        """The vertex on the edge from inside a to outside b (any number where the surface does not cross it)."""
        found = np.searchsorted(key, a * len(X) + b, sorter=order)
        return len(X) + order[np.minimum(found, len(order) - 1)]

    T = T[(sign[T] < 0).any(axis=1)]
    # Inside vertices first in rising order, then those on the surface, then outside: five cases are left.
    T = np.take_along_axis(T, np.argsort(T, axis=1), axis=1)
    T = np.take_along_axis(T, np.argsort(sign[T], axis=1, kind="stable"), axis=1)
    inside, outside = (sign[T] < 0).sum(axis=1), (sign[T] > 0).sum(axis=1)
    pieces = [T[outside == 0]]
    one = T[(inside == 1) & (outside > 0)]
    ends = [np.where(sign[v] > 0, on_edge(one[:, 0], v), v) for v in one[:, 1:].T]
    pieces.append(np.stack((one[:, 0], *ends), axis=1))
    # The sides shared with neighbours are quads a, b, bp, ap with a < b inside: all are cut from a to bp.
    a, b, c, d = T[(inside == 2) & (outside == 1)].T
    pieces += [np.stack((a, b, c, on_edge(b, d)), axis=1), np.stack((a, on_edge(b, d), c, on_edge(a, d)), axis=1)]
    a, b, c, d = T[(inside == 3) & (outside == 1)].T
    pieces += _prism(a, b, c, on_edge(a, d), on_edge(b, d), on_edge(c, d))
    a, b, c, d = T[(inside == 2) & (outside == 2)].T
    pieces += _prism(a, on_edge(a, c), on_edge(a, d), b, on_edge(b, c), on_edge(b, d))
    X, T = np.concatenate((X, points)), np.concatenate(pieces)
    return X, np.where((measures(X, T) < 0)[:, None], T[:, [0, 1, 3, 2]], T)


def _prism(a: IntArray, b: IntArray, c: IntArray, A: IntArray, B: IntArray, C: IntArray) -> list[IntArray]:
    """Three tets of the prisms abc-ABC whose sides are cut along aB, aC and bC."""
    return [np.stack(tet, axis=1) for tet in ((a, b, c, C), (a, b, B, C), (a, A, B, C))]


def _manifold_part(T: IntArray) -> IntArray:
    """The largest piece joined through faces, without the tets around places where its surface touches itself."""
    while True:
        a, b = facet_neighbours(T)
        graph = sp.coo_matrix((np.ones(len(a)), (a, b)), shape=(len(T), len(T)))
        label = connected_components(graph, directed=False)[1]
        T = T[label == np.bincount(label).argmax()]
        bad = non_manifold(T)
        if not bad:
            return T
        T = T[~np.isin(T, np.append(bad.vertices, bad.edges)).any(axis=1)]
        if not len(T):
            raise MeshError("nothing is left of the body", where="fill", remedy="use a smaller spacing")


def _compact(X: Array, T: IntArray) -> tuple[Array, IntArray]:
    used, index = np.unique(T, return_inverse=True)
    return X[used], index.reshape(T.shape)
