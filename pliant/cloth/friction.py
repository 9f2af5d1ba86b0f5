"""Coulomb friction of cloth [Weidner2022, sec. 2.7, but found in the solve].

The material at a contact slips with  t . (xdot - F Xdot - v_body)  along two directions t across the normal. At a
vertex on a feature, where several rows push, that is the mean of their normals: each row adds mu times its impulse, so
a crease of a right angle holds sqrt(2) mu times the tension of the cloth; a round edge would hold exp(mu pi / 2) - 1
times it.

The thesis scales velocities after the solve, by impulse over mass. There the inertia of a vertex is that of M - h^2 K,
tens of times its mass, so friction stopped what it could not hold; and the neighbours, whose velocities were found with
a vertex that gives way, stretched the cloth without resistance: energy from nowhere.
"""

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.cloth.constraints import RowBuilder
from pliant.cloth.kinematics import vertex_gradients
from pliant.cloth.sheet import Sheet
from pliant.cloth.surroundings import Scenery
from pliant.contact.slip import tangents
from pliant.linear.staggered import Slip, coulomb
from pliant.velocity_step import Live

if TYPE_CHECKING:
    from pliant.cloth.system import EolCloth


def slipping(cloth: "EolCloth", sheet: Sheet, scenery: Scenery, bound: RowBuilder) -> tuple[Slip | None, Live | None]:
    """The directions in which cloth slips at its contacts, and which of them live bodies move; None without any."""
    pushes, mu = bound.pushes, cloth.around.mu
    k = len(pushes.body)
    if not mu or not k:
        return None, None
    size = 3 * len(sheet.X) + 2 * len(cloth.eol)
    t = tangents(_mean_normals(sheet, pushes.vertex, pushes.normal))
    T = _along(sp.csr_matrix(bound.matrix(size)[0]), pushes.normal, t) - _flowing(cloth, sheet, pushes.vertex, t, size)
    drift = np.einsum("kij,kj->ki", t, scenery.scripted(pushes.body, pushes.point)).ravel()
    slip = coulomb(sp.csr_matrix(T), drift, np.repeat(np.arange(k), 2), np.full(2 * k, mu))
    body, x = np.repeat(pushes.body - scenery.live, 2), np.repeat(pushes.point, 2, axis=0)
    live = np.flatnonzero(body >= 0)
    return slip, Live(live, body[live], x[live], t.reshape(-1, 3)[live]) if len(live) else None


def _mean_normals(sheet: Sheet, vertex: IntArray, normal: Array) -> Array:
    """Normals (k, 3) of rows: on features the mean of all rows of the vertex at that body."""
    total = np.zeros((len(sheet.X), 3))
    on = np.flatnonzero(sheet.feature[vertex] >= 0)
    np.add.at(total, vertex[on], normal[on])
    out = normal.copy()
    out[on] = total[vertex[on]]
    return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True))


def _along(C: sp.csr_matrix, normal: Array, t: Array) -> sp.csr_matrix:
    """Rows (2 k, n) like those of C (k, n), which are weights times normals, with t (k, 2, 3) for the normals."""
    width = np.diff(C.indptr)
    row = np.repeat(np.arange(C.shape[0]), width)
    vertex, axis = C.indices // 3, C.indices % 3
    weights = sp.csr_matrix(
        (C.data * normal[row, axis], (row, vertex)), shape=(C.shape[0], -(-C.shape[1] // 3))
    ).tocoo()
    columns = 3 * weights.col[:, None, None] + np.arange(3) + np.zeros((1, 2, 1), dtype=np.int64)
    rows = 2 * weights.row[:, None, None] + np.arange(2)[None, :, None] + np.zeros((1, 1, 3), dtype=np.int64)
    values = weights.data[:, None, None] * t[weights.row]
    shape = (2 * C.shape[0], C.shape[1])
    return sp.csr_matrix((values.ravel(), (rows.ravel(), columns.ravel())), shape=shape)


def _flowing(cloth: "EolCloth", sheet: Sheet, vertex: IntArray, t: Array, size: int) -> sp.csr_matrix:
    """Rows (2 k, n) of t . F Xdot at the vertices (k,) that move in the material."""
    number = np.full(len(sheet.X), -1)
    number[cloth.eol] = np.arange(len(cloth.eol))
    at = np.flatnonzero(number[vertex] >= 0)
    if not len(at):
        return sp.csr_matrix((2 * len(vertex), size))
    values = np.einsum("kai,kij->kaj", t[at], vertex_gradients(sheet, vertex[at]))
    columns = 3 * len(sheet.X) + 2 * number[vertex[at]][:, None, None] + np.arange(2) + np.zeros((1, 2, 1), np.int64)
    rows = 2 * at[:, None, None] + np.arange(2)[None, :, None] + np.zeros((1, 1, 2), dtype=np.int64)
    shape = (2 * len(vertex), size)
    return sp.csr_matrix((values.ravel(), (rows.ravel(), columns.ravel())), shape=shape)
