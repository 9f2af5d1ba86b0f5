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
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy import maximum, minimum, where

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Contacts, Remembered
from pliant.contact.vectors import Vector, components, cross, dot, length, scaled, stacked
from pliant.pattern import csr, pulled_back

FLAT = 1e-8  # frames with angles whose sine is smaller do not turn


class Slips:
    """The slip of ``contacts`` with directions that lie in their surfaces when the vertices are at ``x (n, 3)``.

    ``at(x)`` is the `SlipMap` when they are elsewhere.
    """

    def __init__(self, contacts: Contacts, x: Array) -> None:
        self.contacts, self._still = contacts, tangents(contacts.normals)
        self.at = Remembered(self._at)
        frame = contacts.frame
        self._turning = bool((frame[:, 0] >= 0).any())
        if not self._turning:
            return
        edges = _edges(x, frame)  # of no length where there is no frame
        self._turns = turns = np.asarray(bends(*edges))
        held = [attached(t, *edges) for t in _both(self._still)]
        self._parts, self._still = (np.stack([stacked(h[k], turns.shape) for h in held], axis=1) for k in (0, 1))
        self._frame = np.where(turns[:, None], frame, contacts.nodes[:, :1])

    def _at(self, x: Array) -> "SlipMap":
        """dU/dx when the vertices are at ``x (n, 3)``."""
        c = self.contacts
        if not self._turning:
            touching = slice(1 if not c.weights[:, 1:].any() else 4)
            return SlipMap(
                c.nodes[:, touching], c.weights[:, None, touching, None] * self._still[:, :, None], self._still
            )
        e1, e2, m = _edges(x, self._frame)
        y, shape = components(c.relative(x)), (len(c),)
        t, couple = [], []
        for still, a in zip(_both(self._still), _both(self._parts), strict=True):
            t.append(stacked(turned(still, a, e1, e2, m), shape))
            g1, g2 = (stacked(g, shape) for g in couples(a, e1, e2, y))
            couple.append(np.stack([-g1 - g2, g1, g2], axis=1))
        directions, more = np.stack(t, axis=1), np.stack(couple, axis=1)
        B = c.weights[:, None, :, None] * directions[:, :, None]
        if np.array_equal(self._frame[self._turns], c.nodes[self._turns, 1:]):
            B[:, :, 1:] += more
            return SlipMap(c.nodes, B, directions)
        return SlipMap(np.concatenate([c.nodes, self._frame], axis=1), np.concatenate([B, more], axis=2), directions)

    def turning(self, x: Array, f: Array) -> tuple[IntArray, Array]:
        """sum_k f_k d^2 U_k/dx^2 (m, r, 3, r, 3) of ``f (c, 2)`` at ``x (n, 3)``, and its nodes (m, r).

        Of contacts that turn and have a force: U = y . (a e_1 + b e_2 + c e_1 x e_2) is linear in each of the three.
        """
        which = np.flatnonzero(self._turns & f.any(axis=1)) if self._turning else np.zeros(0, dtype=np.int64)
        c = self.contacts.only(which)
        if not len(which):
            return c.nodes, np.zeros((0, 4, 3, 4, 3))
        frame, parts = self._frame[which], np.einsum("ck,ckr->cr", f[which], self._parts[which])
        e1, e2, _ = _edges(x, frame)
        H = np.zeros((len(which), 3, 3, 3, 3))  # over y, e_1, e_2
        second = second_derivatives(components(parts), e1, e2, components(c.relative(x)))
        for (p, q), entries in zip(((0, 1), (0, 2), (1, 2)), second, strict=True):
            H[:, p, q] = np.stack(entries, axis=-1).reshape(-1, 3, 3)
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
        back = x - c * v
        edges, speeds, was = _edges(x, self._frame), _edges(v, self._frame)[:2], _edges(back, self._frame)[0]
        y, u = components(self.contacts.relative(back)), components(moving)
        both = zip(_both(self._still), _both(self._parts), strict=True)
        return np.stack([slip_rate(still, a, edges, speeds, was, u, y) for still, a in both], axis=1)


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
    return np.stack([stacked(t, (len(normals),)) for t in tangent_pair(components(normals))], axis=1)


def _both(a: Array) -> tuple[Vector, Vector]:
    """The components of the two vectors of every contact (c, 2, 3)."""
    return components(a[:, 0]), components(a[:, 1])


def _edges(x: Array, frame: IntArray) -> tuple[Vector, Vector, Vector]:
    """Two edges of every frame and their product."""
    o = x[frame[:, 0]]
    e1, e2 = components(x[frame[:, 1]] - o), components(x[frame[:, 2]] - o)
    return e1, e2, cross(e1, e2)


# ------------------------------------------------------------------------- formulas (see `pliant.contact.vectors`)


def tangent_pair(n: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors at right angles to the unit vector n and each other, the first to an axis, too."""
    a, b, c = abs(n[0]), abs(n[1]), abs(n[2])
    first = where(a <= minimum(b, c), 1.0, 0.0)
    second = where(b <= c, 1.0 - first, 0.0)
    t = cross(n, (first, second, 1.0 - first - second))
    t = scaled(1.0 / length(t), t)
    return t, cross(n, t)


def bends(e1: Vector, e2: Vector, m: Vector) -> Any:
    """Whether edges e_1, e_2 with m = e_1 x e_2 tell how a frame turns."""
    return length(m) > FLAT * length(e1) * length(e2)


def attached(t: Vector, e1: Vector, e2: Vector, m: Vector) -> tuple[Vector, Vector]:
    """The parts (a, b, c) of t = a e_1 + b e_2 + c m, and what stays as it is: all of t where the frame is flat."""
    turns = bends(e1, e2, m)
    s, rest = where(turns, 1.0, 0.0) / maximum(dot(m, m), 1e-300), where(turns, 0.0, 1.0)
    return (s * dot(cross(t, e2), m), s * dot(cross(e1, t), m), s * dot(t, m)), scaled(rest, t)


def turned(still: Vector, a: Vector, e1: Vector, e2: Vector, m: Vector) -> Vector:
    """The direction t with its parts a over a frame that has turned."""
    return (
        still[0] + a[0] * e1[0] + a[1] * e2[0] + a[2] * m[0],
        still[1] + a[0] * e1[1] + a[1] * e2[1] + a[2] * m[1],
        still[2] + a[0] * e1[2] + a[1] * e2[2] + a[2] * m[2],
    )


def couples(a: Vector, e1: Vector, e2: Vector, y: Vector) -> tuple[Vector, Vector]:
    """y . dt/de_1 and y . dt/de_2"""
    p, q = cross(e2, y), cross(y, e1)
    return (
        (a[0] * y[0] + a[2] * p[0], a[0] * y[1] + a[2] * p[1], a[0] * y[2] + a[2] * p[2]),
        (a[1] * y[0] + a[2] * q[0], a[1] * y[1] + a[2] * q[1], a[1] * y[2] + a[2] * q[2]),
    )


def slip_rate(still: Vector, a: Vector, edges: Any, speeds: Any, was: Vector, u: Vector, y: Vector) -> Any:
    """t . u + y . dt/dt for the relative velocity u, with ``speeds`` of the edges and y and e_1 (``was``) of before."""
    e1, e2, m = edges
    d1, d2 = speeds
    bent = cross(d1, e2), cross(was, d2)
    zero = (0.0, 0.0, 0.0)
    m_rate = (bent[0][0] + bent[1][0], bent[0][1] + bent[1][1], bent[0][2] + bent[1][2])
    return dot(turned(still, a, e1, e2, m), u) + dot(turned(zero, a, d1, d2, m_rate), y)


def tilted(s: Any, d: Any, w: Vector) -> tuple[Any, ...]:
    """The matrix s I + d [w]x, [w]x u = w x u, row by row."""
    one = s + 0.0 * w[0]
    return one, -d * w[2], d * w[1], d * w[2], one, -d * w[0], -d * w[1], d * w[0], one


def second_derivatives(a: Vector, e1: Vector, e2: Vector, y: Vector) -> tuple[Any, Any, Any]:
    """d^2 U over (y, e_1), (y, e_2) and (e_1, e_2) of U = y . (a e_1 + b e_2 + c e_1 x e_2), row by row."""
    return tilted(a[0], -a[2], e2), tilted(a[1], a[2], e1), tilted(0.0, -a[2], y)
