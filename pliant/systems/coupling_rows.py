"""Rows between the points of coupled parts: attachments, contacts, and the directions in which contacts slip.

Relative positions are sums w_r x_r over a few points; the same weights carry the impulse to both sides.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Contacts
from pliant.linear.staggered import Slip


@dataclass(frozen=True, eq=False)
class Ties:
    """k places that keep together: sum_r w_r x_r = 0 up to ``gap (k, d)`` [m] now, over ``nodes``, ``weights`` (k, r).

    ``gamma`` is the part of the gap that one step closes, ``drift (k, d)`` [m/s] how fast the other side moves by
    itself (None: it does not). Only the first d coordinates are tied: d = 2 in the plane, where z is nobody's.
    """

    nodes: IntArray
    weights: Array
    gap: Array
    gamma: float = 1.0
    drift: Array | None = None


@dataclass(frozen=True, eq=False)
class Touches:
    """Contacts as rows, with friction ``mu (c,)``; penetration is undone by the part ``gamma`` per step."""

    contacts: Contacts
    mu: Array
    gamma: float = 0.2


def differences(nodes: IntArray, weights: Array, points: int, d: int = 3) -> sp.csr_matrix:
    """(d k, 3 points): sum_r w_r x_r of every row of ``nodes (k, r)``, for the first d coordinates."""
    k, r = nodes.shape
    rows = np.repeat(np.arange(k), r)
    picks = sp.csr_matrix((weights.ravel(), (rows, nodes.ravel())), shape=(k, points))
    return sp.csr_matrix(sp.kron(picks, sp.eye(d, 3)))


def tie_rows(ties: Ties, J: sp.csr_matrix, w: Array, h: float) -> tuple[sp.csr_matrix, Array]:
    """An equality per attachment and coordinate."""
    S = differences(ties.nodes, ties.weights, len(w) // 3, ties.gap.shape[1])
    rate = -ties.gamma * ties.gap / h + (0.0 if ties.drift is None else ties.drift)
    return sp.csr_matrix(S @ J), rate.ravel() - S @ w


def contact_rows(touches: Touches, J: sp.csr_matrix, w: Array, h: float) -> tuple[sp.csr_matrix, Array]:
    """One inequality per contact. Gaps are to where obstacles will be, so their own motion is in them already."""
    c = touches.contacts
    N = _over_points(c.nodes, c.weights[:, None, :, None] * c.normals[:, None, None, :], len(w))
    gaps = np.where(c.gaps < 0.0, touches.gamma * c.gaps, c.gaps)
    return sp.csr_matrix(N @ J), -gaps / h - N @ w


def contact_slip(touches: Touches, x: Array, J: sp.csr_matrix, w: Array, first: int) -> Slip:
    """Two directions per contact that rubs, points at ``x (p, 3)``; ``first`` is the number of the first contact row.

    Sides that are apart by g n would turn each other by g n x f. The slip is that beside the normal as it turns,
    t . (d/dt sum_r w_r x_r - g dn/dt), which bodies that turn together do not have, and which has no torque.
    """
    rubbing = np.flatnonzero(touches.mu > 0.0)
    c = touches.contacts.only(rubbing)
    t = tangents(c.normals)
    values = c.weights[:, None, :, None] * t[:, :, None, :]
    values[:, :, 1:] -= _turning(c, x, t)
    T = _over_points(c.nodes, values, len(w))
    drift = np.einsum("cij,cj->ci", t, c.drift).ravel()
    return Slip(sp.csr_matrix(T @ J), drift - T @ w, np.repeat(first + rubbing, 2), np.repeat(touches.mu[rubbing], 2))


def _turning(c: Contacts, x: Array, t: Array) -> Array:
    """(c, 2, 3, 3): g t . dn/dt of normals n = e1 x e2 / |e1 x e2| over the triangles' nodes, the contacts' last three.

    Zero against obstacles, and where the normal is not that of the triangle (edges, corners).
    """
    y = x[c.nodes]
    e1, e2 = y[:, 2] - y[:, 1], y[:, 3] - y[:, 1]
    m = np.cross(e1, e2)
    area = np.linalg.norm(m, axis=1)
    side = (m * c.normals).sum(axis=1)
    flat = (area > 0.0) & (np.abs(side) >= (1.0 - 1e-9) * area)
    g = np.where(flat, (c.relative(x) * c.normals).sum(axis=1) * np.sign(side) / np.maximum(area, 1e-300), 0.0)
    d1, d2 = np.cross(e2[:, None], t) * g[:, None, None], np.cross(t, e1[:, None]) * g[:, None, None]
    return np.stack([-d1 - d2, d1, d2], axis=2)


def tangents(normals: Array) -> Array:
    """Two unit vectors (c, 2, 3) at right angles to unit ``normals (c, 3)``."""
    e = np.eye(3)[np.argmin(np.abs(normals), axis=1)]
    t = np.cross(normals, e)
    t = t / np.linalg.norm(t, axis=1, keepdims=True)
    return np.stack([t, np.cross(normals, t)], axis=1)


def _over_points(nodes: IntArray, values: Array, n: int) -> sp.csr_matrix:
    """(k c, n): rows with ``values (c, k, r, 3)`` at the coordinates of the ``nodes (c, r)``, contact by contact."""
    c, k, r, _ = values.shape
    columns = np.broadcast_to((3 * nodes[:, :, None] + np.arange(3))[:, None], values.shape)
    indptr = 3 * r * np.arange(k * c + 1)
    return sp.csr_matrix((values.ravel(), columns.ravel(), indptr), shape=(k * c, n))
