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

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.contact import _formula_kernels as kernels
from pliant.contact._blocks import along
from pliant.contact.contacts import Contacts, Remembered, entries
from pliant.contact.formulas import tangent_pair
from pliant.contact.vectors import components, stacked
from pliant.pattern import summed


class Slips:
    """The slip of ``contacts`` with directions that lie in their surfaces when the vertices are at ``x (n, 3)``.

    ``at(x)`` is the `SlipMap` when they are elsewhere.
    """

    def __init__(self, contacts: Contacts, x: Array) -> None:
        self.contacts, self.at = contacts, Remembered(self._at)
        frame = np.ascontiguousarray(contacts.frame)
        self._parts, self._still, self._turns = kernels.slip_frames(x, contacts.normals, frame)
        self._turning = bool(self._turns.any())
        self._frame = np.where(self._turns[:, None], frame, contacts.nodes[:, :1])
        self._shared = np.array_equal(self._frame[self._turns], contacts.nodes[self._turns, 1:])

    def _at(self, x: Array) -> "SlipMap":
        """dU/dx when the vertices are at ``x (n, 3)``."""
        c = self.contacts
        if not self._turning:
            touching = slice(1 if not c.weights[:, 1:].any() else 4)
            return SlipMap(
                c.nodes[:, touching], c.weights[:, None, touching, None] * self._still[:, :, None], self._still
            )
        B, t = kernels.slip_map(x, c.nodes, c.weights, self._frame, self._still, self._parts, self._shared)
        return SlipMap(self._nodes(), B, t)

    def _nodes(self) -> IntArray:
        """Of each contact and its frame, where that is not the triangle it touches."""
        return self.contacts.nodes if self._shared else np.concatenate([self.contacts.nodes, self._frame], axis=1)

    def turning(self, x: Array, f: Array) -> tuple[IntArray, Array]:
        """sum_k f_k d^2 U_k/dx^2 (m, r, r, 3, 3) of ``f (c, 2)`` at ``x (n, 3)``, and its nodes (m, r).

        Of contacts that turn and have a force: U = y . (a e_1 + b e_2 + c e_1 x e_2) is linear in each of the three.
        """
        which, c = np.flatnonzero(self._turns & f.any(axis=1)), self.contacts
        nodes, weights, frame, parts = (a[which] for a in (c.nodes, c.weights, self._frame, self._parts))
        return self._nodes()[which], kernels.slip_turning(x, nodes, weights, frame, parts, f[which], self._shared)

    def rates(self, x: Array, v: Array, c: float = 0.0) -> Array:
        """u (c, 2) [m/s] at ``x (n, 3)`` with velocities ``v (n, 3)``, less the motion of obstacles."""
        k = self.contacts
        u: Array = kernels.slip_rates(x, v, c, k.nodes, k.weights, k.drift, self._frame, self._still, self._parts)
        return u


@dataclass(frozen=True, eq=False)
class SlipMap:
    """dU_k/dx over ``nodes (c, m)``: ``B (c, 2, m, 3)``; ``t (c, 2, 3)`` are the directions."""

    nodes: IntArray
    B: Array
    t: Array

    def forces(self, f: Array) -> Array:
        """The forces (c, m, 3) on the nodes of ``f (c, 2)`` along the directions."""
        return np.einsum("ckri,ck->cri", self.B, f)

    def rates(self, v: Array) -> Array:
        """The slip (c, 2) of velocities ``v (n, 3)``."""
        return np.einsum("ckri,cri->ck", self.B, v[self.nodes])

    def assemble(self, D: Array, n: int) -> sp.csr_matrix:
        """sum_c B^T D_c B over all coordinates for blocks ``D (c, 2, 2)``."""
        return summed(*entries(self.nodes, along(self.B, D)), n)


def tangents(normals: Array) -> Array:
    """Two unit vectors (c, 2, 3) at right angles to unit ``normals (c, 3)``."""
    return np.stack([stacked(t, (len(normals),)) for t in tangent_pair(components(normals))], axis=1)
