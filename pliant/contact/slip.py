"""How the two sides of contacts slip, and how what rubs them reaches the vertices.

    U_k(x) = t_k(x) . y(x),      y = sum_r w_r x_r,      u_k = dU_k/dt = t_k . sum_r w_r v_r + y . dt_k/dt

The sides of a contact are apart by y. Equal and opposite forces f at both would turn the bodies by y x f; so slip is
measured along directions t_k (k = 1, 2) that turn with three vertices of the touched side, its `Contacts.frame`:
t = a e_1 + b e_2 + c e_1 x e_2 over the edges of the frame. U does not change when all turns together: bodies that move
as one do not slip, and forces that act through dU/dx have neither force nor torque in total; the couple y x f lies on
the frame. Against obstacles, which take what they get, and between wires t_k stay as they are.

Over a stage of length c that comes from x - c v the slip is u = (U(x) - U(x - c v))/c; the same for c = 0.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray, cross
from pliant.contact.contacts import Contacts
from pliant.pattern import csr, pulled_back

FLAT = 1e-8  # frames with angles whose sine is smaller do not turn


class Slips:
    """The slip of ``contacts`` with directions that lie in their surfaces when the vertices are at ``x (n, 3)``."""

    def __init__(self, contacts: Contacts, x: Array) -> None:
        self.contacts, self._still = contacts, tangents(contacts.normals)
        frame = contacts.frame
        self._turning = bool((frame[:, 0] >= 0).any())
        if not self._turning:
            return
        e1, e2, m = _edges(x, frame)
        size = np.linalg.norm(e1, axis=1) * np.linalg.norm(e2, axis=1)
        area = np.linalg.norm(m, axis=1)
        self._turns = turns = (frame[:, 0] >= 0) & (area > FLAT * size)
        basis = np.stack([e1, e2, m], axis=2)
        inverse = np.linalg.inv(np.where(turns[:, None, None], basis, np.eye(3)))
        self._parts = np.where(turns[:, None, None], np.einsum("cij,ckj->cki", inverse, self._still), 0.0)
        self._still = np.where(turns[:, None, None], 0.0, self._still)
        self._frame = np.where(turns[:, None], frame, contacts.nodes[:, :1])

    def at(self, x: Array) -> "SlipMap":
        """dU/dx when the vertices are at ``x (n, 3)``."""
        c = self.contacts
        if not self._turning:
            touching = slice(1 if not c.weights[:, 1:].any() else 4)
            return SlipMap(
                c.nodes[:, touching], c.weights[:, None, touching, None] * self._still[:, :, None], self._still
            )
        a = self._parts[..., None]
        e1, e2, m = (e[:, None] for e in _edges(x, self._frame))
        t = self._still + a[:, :, 0] * e1 + a[:, :, 1] * e2 + a[:, :, 2] * m
        y = c.relative(x)[:, None]
        g1 = a[:, :, 0] * y + a[:, :, 2] * cross(e2, y)
        g2 = a[:, :, 1] * y + a[:, :, 2] * cross(y, e1)
        B = c.weights[:, None, :, None] * t[:, :, None]
        couple = np.stack([-g1 - g2, g1, g2], axis=2)
        if np.array_equal(self._frame[self._turns], c.nodes[self._turns, 1:]):
            B[:, :, 1:] += couple
            return SlipMap(c.nodes, B, t)
        return SlipMap(np.concatenate([c.nodes, self._frame], axis=1), np.concatenate([B, couple], axis=2), t)

    def turning(self, x: Array, f: Array) -> tuple[IntArray, Array]:
        """sum_k f_k d^2 U_k/dx^2 (m, r, 3, r, 3) of ``f (c, 2)`` at ``x (n, 3)``, and its nodes (m, r).

        Of contacts that turn and have a force: U = y . (a e_1 + b e_2 + c e_1 x e_2) is linear in each of the three.
        """
        which = np.flatnonzero(self._turns & f.any(axis=1)) if self._turning else np.zeros(0, dtype=np.int64)
        c = self.contacts.only(which)
        if not len(which):
            return c.nodes, np.zeros((0, 4, 3, 4, 3))
        a, b, d = np.einsum("ck,ckr->rc", f[which], self._parts[which])[:, :, None, None]
        frame, one = self._frame[which], np.eye(3)
        e1, e2, _ = _edges(x, frame)
        H = np.zeros((len(which), 3, 3, 3, 3))  # over y, e_1, e_2
        H[:, 0, 1], H[:, 0, 2], H[:, 1, 2] = a * one - d * skew(e2), b * one + d * skew(e1), -d * skew(c.relative(x))
        H = H + H.transpose(0, 2, 1, 4, 3)
        shared = np.array_equal(frame, c.nodes[:, 1:])
        nodes = c.nodes if shared else np.concatenate([c.nodes, frame], axis=1)
        S = np.zeros((len(which), 3, nodes.shape[1]))
        S[:, 0, :4] = c.weights
        S[:, 1:, -3] = -1.0
        S[:, 1, -2] = S[:, 2, -1] = 1.0
        return nodes, np.einsum("cpr,cpqij,cqs->crisj", S, H, S, optimize=True)

    def rates(self, x: Array, v: Array, c: float = 0.0) -> Array:
        """u (c, 2) [m/s] at ``x (n, 3)`` with velocities ``v (n, 3)``, less the motion of obstacles."""
        moving = self.contacts.relative(v) - self.contacts.drift
        if not self._turning:
            return np.einsum("cki,ci->ck", self._still, moving)
        a, back = self._parts[..., None], x - c * v
        e1, e2, m = (e[:, None] for e in _edges(x, self._frame))
        d1, d2, _ = (e[:, None] for e in _edges(v, self._frame))
        was = _edges(back, self._frame)[0][:, None]
        t = self._still + a[:, :, 0] * e1 + a[:, :, 1] * e2 + a[:, :, 2] * m
        dt = a[:, :, 0] * d1 + a[:, :, 1] * d2 + a[:, :, 2] * (cross(d1, e2) + cross(was, d2))
        return np.einsum("cki,ci->ck", t, moving) + np.einsum("cki,ci->ck", dt, self.contacts.relative(back))


@dataclass(frozen=True, eq=False)
class SlipMap:
    """dU_k/dx over ``nodes (c, m)``: ``B (c, 2, m, 3)``; ``t (c, 2, 3)`` are the directions."""

    nodes: IntArray
    B: Array
    t: Array

    def forces(self, f: Array) -> Array:
        """The forces (c, m, 3) on the nodes of ``f (c, 2)`` along the directions."""
        return np.einsum("ckri,ck->cri", self.B, f)

    def rows(self, n: int) -> sp.csr_matrix:
        """dU/dx (2 c, 3 n) over all vertices."""
        columns = np.broadcast_to(self._columns[:, None], self.B.shape)
        rows = np.broadcast_to(np.arange(2 * len(self.B)).reshape(-1, 2, 1, 1), self.B.shape)
        return sp.csr_matrix((self.B.ravel(), (rows.ravel(), columns.ravel())), shape=(2 * len(self.B), 3 * n))

    def assemble(self, D: Array, n: int) -> sp.csr_matrix:
        """sum_c B^T D_c B over all coordinates for blocks ``D (c, 2, 2)``."""
        c, _, m, _ = self.B.shape
        columns = np.repeat(self._columns.reshape(c, 1, 3 * m), 2, axis=1).ravel().astype(np.int32)
        rows = csr(self.B.ravel(), columns, 3 * m * np.arange(2 * c + 1, dtype=np.int32), (2 * c, 3 * n))
        pairs = np.repeat(np.arange(2 * c, dtype=np.int32).reshape(c, 1, 2), 2, axis=1).ravel()
        return pulled_back(rows, csr(D.ravel(), pairs, 2 * np.arange(2 * c + 1, dtype=np.int32), (2 * c, 2 * c)))

    @cached_property
    def _columns(self) -> IntArray:
        return 3 * self.nodes[:, :, None] + np.arange(3)


def tangents(normals: Array) -> Array:
    """Two unit vectors (c, 2, 3) at right angles to unit ``normals (c, 3)``."""
    e = np.eye(3)[np.argmin(np.abs(normals), axis=1)]
    t = cross(normals, e)
    t = t / np.linalg.norm(t, axis=1, keepdims=True)
    return np.stack([t, cross(normals, t)], axis=1)


def skew(w: Array) -> Array:
    """Matrices (c, 3, 3) with ``skew(w) u = w x u`` of ``w (c, 3)``."""
    S = np.zeros((len(w), 3, 3))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        S[:, j, k], S[:, k, j] = -w[:, i], w[:, i]
    return S


def _edges(x: Array, frame: IntArray) -> tuple[Array, Array, Array]:
    """Two edges of every frame and their product."""
    p = x[frame]
    e1, e2 = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    return e1, e2, cross(e1, e2)
