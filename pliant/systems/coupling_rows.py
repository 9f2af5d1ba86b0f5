"""Rows between the points of coupled parts: attachments, contacts, the directions in which contacts slip; joined rows.

Relative positions are sums w_r x_r over a few points; the same weights carry the impulse to both sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import ContactForces, Contacts, shared_forces
from pliant.contact.setting import Setting
from pliant.contact.slip import Slips
from pliant.linear.staggered import Slip, coulomb
from pliant.pattern import csr, empty, product, sizes, stacked, times
from pliant.systems.ties import tie_jacobian
from pliant.velocity_programme import Rows
from pliant.velocity_step import Relief

ROUND_OFF = 1e-9  # of weights, which are at most 1
EMPTY = 1e-14  # of the terms of a row: what is left of them is round-off


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
    """Contacts as rows, with friction ``mu (c,)``; penetration is undone by the part ``gamma`` per step.

    ``owner`` are the bodies of ``setting`` that the points belong to; without them nobody knows who works on whom.
    """

    contacts: Contacts
    mu: Array
    gamma: float = 0.2
    setting: Setting | None = None
    owner: IntArray | None = None

    def renumbered(self, number: IntArray, count: int) -> "Touches":
        """The same where point k has the number ``number[k]`` of ``count``."""
        owner = np.full(count, -1)
        owner[number] = -1 if self.owner is None else self.owner
        return replace(self, contacts=self.contacts.renumbered(number), owner=owner)

    def among(self, J: sp.csr_matrix) -> "Touches":
        """The contacts that J lets open or close. Rows of others are empty, or round-off: those of a fixed base that
        stands on the floor, or of a slider that something meets from the side.
        """
        if not len(self.contacts):
            return self
        N, all_ones = _normal_rows(self.contacts, J.shape[0]), np.ones(J.shape[1])
        live = sizes(product(N, J), all_ones) > EMPTY * sizes(N, sizes(J, all_ones))
        return self if np.all(live) else replace(self, contacts=self.contacts.only(live), mu=self.mu[live])

    def apart(self, ties: Ties) -> "Touches":
        """The contacts that may open: panels that are sewn vertex to vertex touch along their seam for good."""
        sewn = (np.count_nonzero(ties.weights, axis=1) == 2) & (ties.weights[:, :2] == (1.0, -1.0)).all(axis=1)
        if not sewn.any() or not len(self.contacts):
            return self
        a, b = ties.nodes[sewn, :2].T
        n = int(max(ties.nodes.max(), self.contacts.nodes.max())) + 1
        _, place = connected_components(sp.csr_matrix((np.ones(len(a)), (a, b)), shape=(n, n)), directed=False)
        w, here = self.contacts.weights, place[self.contacts.nodes]
        total = np.einsum("cj,cij->ci", w, here[:, :, None] == here[:, None, :])
        live = (np.abs(total) > ROUND_OFF).any(axis=1)
        return self if live.all() else replace(self, contacts=self.contacts.only(live), mu=self.mu[live])

    def impulses(self, x: Array, pressed: Array, rubbed: Array) -> list[ContactForces]:
        """Impulses [N s] on the points at ``x (p, 3)``: ``pressed (c,)`` by rows, ``rubbed`` along `contact_slip`."""
        c = self.contacts
        found = [shared_forces(c, pressed[:, None] * c.normals)]
        chosen = c.only(np.flatnonzero(self.mu > 0.0))
        if len(rubbed):
            slips = Slips(chosen, x).at(x)
            found.append(ContactForces(chosen, slips.nodes, slips.forces(rubbed.reshape(-1, 2))))
        return found


def differences(nodes: IntArray, weights: Array, points: int, d: int = 3) -> sp.csr_matrix:
    """(d k, 3 points): sum_r w_r x_r of every row of ``nodes (k, r)``, for the first d coordinates."""
    k, r = nodes.shape
    columns = 3 * nodes[:, None, :] + np.arange(d)[:, None]  # (k, d, r)
    values = np.repeat(weights[:, None, :], d, axis=1)
    B = sp.csr_matrix((values.ravel(), columns.ravel(), r * np.arange(d * k + 1)), shape=(d * k, 3 * points))
    B.sum_duplicates()
    return B


def tie_rows(ties: Ties, J: sp.csr_matrix, w: Array, closing: float) -> tuple[sp.csr_matrix, Array]:
    """An equality per attachment and coordinate: gaps are closed in ``closing`` [s]."""
    d = ties.gap.shape[1]
    S = differences(ties.nodes, ties.weights, len(w) // 3, d)
    rate = -ties.gamma * ties.gap / closing + (0.0 if ties.drift is None else ties.drift)
    return tie_jacobian(S, J, d), rate.ravel() - S @ w


def contact_rows(touches: Touches, J: sp.csr_matrix, w: Array, h: float, closing: float) -> tuple[sp.csr_matrix, Array]:
    """One inequality per contact. Gaps are to where obstacles will be: open ones have their motion in them already.

    Of a penetration a part is undone, but the obstacle is followed in full: what rests on it goes as fast as it does.
    """
    c = touches.contacts
    N = _normal_rows(c, len(w))
    speed = np.einsum("ci,ci->c", c.normals, c.drift)
    now, relief = c.gaps + h * speed, Relief(h, closing, touches.gamma)
    return product(N, J), np.where(now < 0.0, speed + relief(now), -c.gaps / h) - times(N, w)


def contact_slip(touches: Touches, x: Array, J: sp.csr_matrix, w: Array, first: int) -> Slip:
    """Two directions per contact that rubs, points at ``x (p, 3)``; ``first`` is the number of the first contact row.

    Slip is that of `pliant.contact.slip`: bodies that move as one have none, and its impulses have no torque.
    """
    rubbing = np.flatnonzero(touches.mu > 0.0)
    c = touches.contacts.only(rubbing)
    slips = Slips(c, x).at(x)
    T = _over_points(slips.nodes, slips.B, len(w))
    drift = np.einsum("cij,cj->ci", slips.t, c.drift).ravel()
    return coulomb(product(T, J), drift - times(T, w), np.repeat(first + rubbing, 2), np.repeat(touches.mu[rubbing], 2))


def _normal_rows(c: Contacts, n: int) -> sp.csr_matrix:
    """(c, n): how the velocities of points open contacts."""
    return _over_points(c.nodes, c.weights[:, None, :, None] * c.normals[:, None, None, :], n)


def _over_points(nodes: IntArray, values: Array, n: int) -> sp.csr_matrix:
    """(k c, n): rows with ``values (c, k, r, 3)`` at the coordinates of the ``nodes (c, r)``, contact by contact.

    It is only multiplied: its indices are neither sorted nor without doubles.
    """
    c, k, r, _ = values.shape
    columns = np.broadcast_to((3 * nodes[:, :, None] + np.arange(3))[:, None], values.shape)
    indptr = 3 * r * np.arange(k * c + 1, dtype=np.int32)
    return csr(values.ravel(), columns.ravel().astype(np.int32), indptr, (k * c, n))


def rows_of_parts(rows: Sequence[Rows | None], sizes: Sequence[int]) -> tuple[sp.csr_matrix, Array]:
    """Rows of parts with so many velocities each, over those of all."""
    if not any(len(r[1]) for r in rows if r is not None):
        return empty(0, sum(sizes)), np.zeros(0)
    full = [(np.zeros((0, n)), np.zeros(0)) if r is None else r for r, n in zip(rows, sizes, strict=True)]
    return sp.csr_matrix(sp.block_diag([G for G, _ in full])), np.concatenate([e for _, e in full])


def joined_rows(a: Rows, b: Rows) -> tuple[sp.csr_matrix, Array]:
    """The rows of a, then those of b."""
    return stacked([a[0], b[0]]), np.concatenate([a[1], b[1]])


def less_in_rows(G: sp.csr_matrix, rows: IntArray, part: sp.csr_matrix) -> sp.csr_matrix:
    """G minus ``part (k, n)`` in its ``rows (k,)``."""
    P = sp.csr_matrix((np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(G.shape[0], len(rows)))
    return sp.csr_matrix(G - P @ part)


def joined_slips(slips: Sequence[Slip]) -> Slip | None:
    """Several sets of friction directions as one; None without any."""
    slips = [s for s in slips if len(s)]
    if not slips:
        return None
    T = stacked([s.T for s in slips])
    each = zip(*((s.drift, s.rows, s.mu, s.bound) for s in slips), strict=True)
    return Slip(T, *(np.concatenate(a) for a in each))
