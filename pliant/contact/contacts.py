"""Contacts as arrays: who touches what, where, with which normal and gap; and how forces on them reach the vertices.

A contact has up to four vertices with weights w: the one that touches (+1) and the triangle it touches (minus its
barycentric weights); an obstacle has no vertices. Relative position, velocity and force all use the same weights, so
pair forces sum to zero.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.contact._blocks import gathered, shared_blocks, spread
from pliant.pattern import empty, summed


@dataclass(frozen=True, eq=False)
class Contacts:
    """c contacts at one configuration; unused node slots have weight 0.

    ``drift`` is the velocity of the obstacle (zero for pairs), ``curvature`` the Hessian of its distance. ``other`` is
    the body touched, or -1 - k for obstacle k. ``frame`` are three vertices of a body that touches, which tell how it
    turns and take the couples of friction (`pliant.contact.slip`); -1 where there are none.
    """

    nodes: IntArray  # (c, 4)
    weights: Array  # (c, 4)
    normals: Array  # (c, 3) unit, pointing to the side of the first vertex
    gaps: Array  # (c,) [m], negative: penetration
    drift: Array  # (c, 3) [m/s]
    curvature: Array  # (c, 3, 3) [1/m]
    other: IntArray  # (c,)
    frame: IntArray  # (c, 3)

    def __len__(self) -> int:
        return len(self.gaps)

    def some(self, which: Any) -> "Contacts":
        """Those chosen by a mask (c,) or by their numbers."""
        return Contacts(*(getattr(self, f.name)[which] for f in fields(Contacts)))

    def relative(self, x: Array) -> Array:
        """sum_r w_r x_r (c, 3) for vertex values ``x (n, 3)``."""
        return np.einsum("cr,crd->cd", self.weights, x[self.nodes])

    def spread(self, f: Array, n: int) -> Array:
        """Contact forces (c, 3) on the vertices, flat (3 n,)."""
        return spread(self.nodes, self.weights, f, n)

    def assemble(
        self, B: Array, n: int, *, coupled: bool = True, besides: tuple[IntArray, IntArray, Array] | None = None
    ) -> sp.csr_matrix:
        """sum_c (w w^T) kron B_c over all coordinates for blocks ``B (c, 3, 3)``.

        ``coupled=False`` leaves out the blocks between the two sides of a pair: what remains lies within the pattern of
        the meshes and stays positive semidefinite [QLB2021, sec. 3.3]. ``besides`` are blocks to add, as of `entries`.
        """
        if not len(self):
            return empty(3 * n, 3 * n)
        blocks = shared_blocks(self.nodes, self.weights, np.ascontiguousarray(B), coupled)
        if besides is not None:
            blocks = tuple(np.concatenate(pair) for pair in zip(blocks, besides, strict=True))
        rows, columns, values = blocks
        return summed(rows, columns, values, n)

    def only(self, chosen: Any) -> "Contacts":
        """The chosen contacts (indices or a mask)."""
        return Contacts(*(getattr(self, f.name)[chosen] for f in fields(self)))

    def renumbered(self, number: IntArray) -> "Contacts":
        """The same contacts where vertex k has the number ``number[k]``."""
        return replace(self, nodes=number[self.nodes], frame=np.where(self.frame < 0, -1, number[self.frame]))

    def shifted(self, by: float) -> "Contacts":
        """The same contacts with all gaps larger by ``by`` [m]."""
        return replace(self, gaps=self.gaps + by)


def joined(parts: Sequence[Contacts]) -> Contacts:
    """Several sets of contacts as one."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return nothing()
    return Contacts(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Contacts)))


def nothing() -> Contacts:
    """No contacts."""
    return obstacle_contacts(np.zeros(0, np.int64), np.zeros((0, 3)), np.zeros(0), np.zeros((0, 3)), None, -1)


def obstacle_contacts(
    vertices: IntArray, normals: Array, gaps: Array, drift: Array, curvature: Array | None, other: int
) -> Contacts:
    """Contacts of single vertices with an obstacle."""
    c = len(vertices)
    weights = np.zeros((c, 4))
    weights[:, 0] = 1.0
    bend = np.zeros((c, 3, 3)) if curvature is None else curvature
    nodes = np.repeat(np.asarray(vertices, dtype=np.int64)[:, None], 4, axis=1)
    return Contacts(nodes, weights, np.asarray(normals), gaps, drift, bend, np.full(c, other), np.full((c, 3), -1))


@dataclass(frozen=True, eq=False)
class ContactForces:
    """The ``forces (c, m, 3)`` [N] that contacts exert on their ``nodes (c, m)``."""

    contacts: Contacts
    nodes: IntArray
    forces: Array

    def spread(self, n: int) -> Array:
        """On all n vertices, flat (3 n,)."""
        return gathered(self.nodes, self.forces, n)


def shared_forces(contacts: Contacts, f: Array) -> ContactForces:
    """Forces ``f (c, 3)`` on the first sides of contacts, shared out by their weights."""
    return ContactForces(contacts, contacts.nodes, contacts.weights[:, :, None] * f[:, None, :])


def entries(nodes: IntArray, blocks: Array) -> tuple[IntArray, IntArray, Array]:
    """Block rows, block columns and blocks (k, 3, 3) of ``blocks (c, r, r, 3, 3)`` over ``nodes (c, r)``."""
    at = np.broadcast_to(nodes[:, :, None], blocks.shape[:3])
    return at.ravel(), at.transpose(0, 2, 1).ravel(), blocks.reshape(-1, 3, 3)


class Remembered:
    """A function of arrays that keeps its last answers: value, gradient and friction ask for the same x in turn.

    Two of them: a line search goes to and fro between the iterate and a trial, books between both ends of a step.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._known: list[tuple[Any, Any]] = []

    def __call__(self, *x: Array) -> Any:
        key = [(a.shape, a.tobytes()) for a in x]  # compared faster than few numbers are by NumPy
        for known, answer in self._known:
            if known == key:
                return answer
        found = self._function(*x)
        self._known = [(key, found), *self._known[:1]]
        return found
