"""Cutting a mesh along facets between its elements: vertices are duplicated, elements stay what and where they were."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from pliant.arrays import Array, IntArray
from pliant.errors import MeshError
from pliant.mesh.mesh import Mesh
from pliant.mesh.topology import facets, group_rows

Predicate = Callable[[Array], NDArray[np.bool_]]


@dataclass(frozen=True, eq=False)
class CutMesh:
    """The mesh after a cut; ``origin (n_new,)`` is the old vertex of every new one, the first n are themselves."""

    mesh: Mesh
    origin: IntArray


def cut(mesh: Mesh, sides: ArrayLike, *, within: Predicate | None = None) -> CutMesh:
    """Open all facets between elements of different ``sides (m,)`` (booleans, or one number per part).

    ``within`` limits the cut to facets whose centroids (f, dim) it accepts: a cut that ends inside the body has a front
    where vertices stay single. A vertex is duplicated as often as its elements fall apart; the group of its first
    element keeps the old number.
    """
    label = _labels(mesh, sides)
    m, k = mesh.T.shape
    order, paired = _facing(mesh, label)
    a, b = order[:-1][paired], order[1:][paired]  # facets e k + j that lie on each other, seen from both elements
    open_ = label[a // k] != label[b // k]
    if within is not None:
        open_ &= np.asarray(within(mesh.X[facets(mesh.T)[a]].mean(axis=1)))
    torn = np.zeros(len(mesh.X), dtype=bool)
    torn[facets(mesh.T)[a[open_]].ravel()] = True
    i, j = _joined_corners(mesh.T, a[~open_] // k, b[~open_] // k)
    graph = sp.coo_matrix((np.ones(len(i)), (i, j)), shape=(m * k, m * k))
    fan = connected_components(graph, directed=False)[1]
    vertex = mesh.T.ravel()
    corners = np.flatnonzero(torn[vertex])
    first, group, _ = group_rows(np.stack((vertex[corners], fan[corners]), axis=1))
    owner = vertex[corners[first]]  # vertex of every group; groups of a vertex follow each other
    keeps = np.zeros(len(owner), dtype=bool)
    by_element = np.lexsort((first, owner))
    keeps[by_element[np.flatnonzero(np.diff(owner[by_element], prepend=-1))]] = True
    number = owner.copy()
    number[~keeps] = len(mesh.X) + np.arange(int((~keeps).sum()))
    T = vertex.copy()
    T[corners] = number[group]
    origin = np.concatenate([np.arange(len(mesh.X)), owner[~keeps]])
    return CutMesh(Mesh(mesh.X[origin], T.reshape(m, k), mesh.region), origin)


def plane_sides(mesh: Mesh, point: ArrayLike, normal: ArrayLike) -> NDArray[np.bool_]:
    """Which elements (m,) have their centroid on the side of the plane that ``normal`` points to."""
    n, p = np.asarray(normal, dtype=np.float64), np.asarray(point, dtype=np.float64)
    if n.shape != (mesh.dim,) or p.shape != (mesh.dim,) or not np.linalg.norm(n) > 0.0:
        what = f"point {p.tolist()}, normal {n.tolist()}"
        raise MeshError(what, where="plane_sides", remedy=f"give {mesh.dim} numbers each, and a normal that is not 0")
    return np.asarray((mesh.X[mesh.T].mean(axis=1) - p) @ n > 0.0)


def _labels(mesh: Mesh, sides: ArrayLike) -> IntArray:
    label = np.asarray(sides)
    if label.shape != (len(mesh.T),) or label.dtype.kind not in "biu":
        what = f"sides has shape {label.shape} and type {label.dtype}"
        raise MeshError(what, where="cut", remedy=f"give one boolean or integer per element, shape ({len(mesh.T)},)")
    return label.astype(np.int64)


def _facing(mesh: Mesh, label: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
    """Facets in an order where equal ones are neighbours (same sides first), and which successive two are equal."""
    _, group, _ = group_rows(np.sort(facets(mesh.T), axis=1))
    order = np.lexsort((np.repeat(label, mesh.T.shape[1]), group))
    return order, np.asarray(group[order[1:]] == group[order[:-1]])


def _joined_corners(T: IntArray, a: IntArray, b: IntArray) -> tuple[IntArray, IntArray]:
    """Corners e k + j of the elements a and b that are the same vertex."""
    k = T.shape[1]
    same, at, bt = np.nonzero(T[a][:, :, None] == T[b][:, None, :])
    return a[same] * k + at, b[same] * k + bt
