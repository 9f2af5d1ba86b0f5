"""Contact as a choice of a scene, and what a system does with it.

A contact model makes the energies and forces of one stage: contacts are detected at the state it sets out from,
obstacles stand where they are at its end. Everything is a function of that state, so nothing needs to be remembered
from one step to the next, and a restarted run goes on bit for bit.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Contacts
from pliant.contact.setting import Setting
from pliant.energies.base import Energy
from pliant.forces.base import Force
from pliant.state import State


@dataclass(frozen=True, eq=False)
class Touch:
    """The contacts of one moment: points (c, 3) [m], unit normals (c, 3) towards the first body, gaps (c,) [m]
    (negative: penetration), normal force (c,) and friction force (c, 3) on the first body [N].

    ``bodies (c, 2)``: the touching body and the one touched; obstacle k is -1 - k. ``vertex (c,)`` is the first vertex.
    """

    points: Array
    normals: Array
    gaps: Array
    normal_force: Array
    friction_force: Array
    bodies: IntArray
    vertex: IntArray

    def __len__(self) -> int:
        return len(self.gaps)

    def placed(self, first: int, bodies: IntArray) -> "Touch":
        """The same where the touching body is number ``first``, and those it touches have the numbers ``bodies (k,)``.

        Obstacles stay what they are.
        """
        other = self.bodies[:, 1].copy()
        other[other >= 0] = bodies[other[other >= 0]]
        return replace(self, bodies=np.column_stack([np.full(len(self), first), other]))

    @staticmethod
    def joined(parts: Sequence["Touch"]) -> "Touch":
        """Several sets of contacts as one."""
        return Touch(*(np.concatenate([vars(p)[f.name] for p in parts]) for f in fields(Touch)))

    def between(self, a: int, b: int) -> tuple[Array, Array]:
        """Total normal and friction force (3,) [N] that b exerts on a, over their contacts in both directions."""
        total, rubbing = np.zeros(3), np.zeros(3)
        for first, second, sign in ((a, b, 1.0), (b, a, -1.0)):
            chosen = (self.bodies[:, 0] == first) & (self.bodies[:, 1] == second)
            total += sign * (self.normal_force[chosen, None] * self.normals[chosen]).sum(axis=0)
            rubbing += sign * self.friction_force[chosen].sum(axis=0)
        return total, rubbing


@dataclass(frozen=True, eq=False)
class Terms:
    """What acts during one stage; ``again`` finds lagged friction anew at a root (`pliant.systems.stepped.Lagging`)."""

    energies: tuple[Energy, ...]
    forces: tuple[Force, ...]
    again: "Callable[[Array], tuple[float | None, Terms | None] | None] | None" = None

    def lasting(self, c: float) -> "Terms":
        """Those of a stage of velocities (q - base)/c; without velocities (c = inf) nothing rubs or damps.

        An obstacle that moves would rub on bodies all the same, as if they stood still while it presses them aside.
        """
        return Terms(self.energies, ()) if c == np.inf else self


class Moments:
    """The terms of the last two moments, functions of q and t: energies, works and certificates ask again."""

    def __init__(self) -> None:
        self._last: list[tuple[Array, float, Terms]] = []

    def at(self, q: Array, t: float, make: Callable[[], Terms]) -> Terms:
        """The terms at q and t, which ``make`` makes where they are not known."""
        for known, then, terms in self._last:
            if then == t and np.array_equal(known, q):
                return terms
        found = make()
        self._last = [(q.copy(), t, found), *self._last[:1]]
        return found


class ContactModel(Protocol):
    """Contact for the bodies of one scene."""

    setting: Setting  # bodies and obstacles
    force_names: tuple[str, ...]  # of the forces that `at` makes

    def initial(self, q: Array, fixed: IntArray) -> Array:
        """The coordinates to start from, given those wanted and the prescribed ones; refuses overlaps."""
        ...

    def at(self, start: State, t: float, c: float = 0.0) -> Terms:
        """What acts in a stage from ``start`` to t whose velocities are (q - base)/c; 0: at a moment."""
        ...

    def touch(self, q: Array, v: Array, t: float) -> Touch: ...

    def distance(self, q: Array, t: float) -> float:
        """The smallest gap [m]; negative where bodies or obstacles overlap, inf when nothing is near."""
        ...


class ContactChoice(Protocol):
    """A choice of contact as a frozen dataclass; ``model`` makes it for a scene.

    ``safe`` contact lets nothing cross, ever, and needs integrators whose states are solved stages.
    """

    @property
    def safe(self) -> bool: ...

    def model(self, setting: Setting) -> ContactModel: ...


class LiveForce:
    """A contact force outside any stage: contacts are detected where it is evaluated. Used for the ledger."""

    def __init__(self, model: ContactModel, name: str, n: int) -> None:
        self.name, self._model = name, model
        self._zero = sp.csr_matrix((3 * n, 3 * n))

    def _parts(self, x: Array, v: Array, t: float) -> list[Force]:
        return [f for f in self._model.at(State(x, v, t), t).forces if f.name == self.name]

    def force(self, x: Array, v: Array, t: float) -> Array:
        return sum((f.force(x, v, t) for f in self._parts(x, v, t)), np.zeros_like(x))

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return sum((f.stiffness(x, v, t) for f in self._parts(x, v, t)), self._zero)

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return sum((f.damping(x, v, t) for f in self._parts(x, v, t)), self._zero)


def touch_of(setting: Setting, x: Array, contacts: Contacts, f_n: Array, f_t: Array) -> Touch:
    """The read-out of contacts that press."""
    pressing = np.flatnonzero(f_n > 0.0)
    c = contacts.only(pressing)
    first = c.nodes[:, 0]
    weights = np.maximum(c.weights, 0.0)
    points = np.einsum("cr,crd->cd", weights, x.reshape(-1, 3)[c.nodes])
    bodies = np.column_stack([setting.body[first], c.other])
    return Touch(points, c.normals, c.gaps, f_n[pressing], f_t[pressing], bodies, first)


def block_diagonal(vertices: IntArray, n: int) -> sp.csr_matrix:
    """The pattern of one 3 x 3 block per vertex, which every contact needs."""
    rows = (3 * vertices[:, None, None] + np.arange(3)[None, :, None]).repeat(3, axis=2).ravel()
    columns = (3 * vertices[:, None, None] + np.arange(3)[None, None, :]).repeat(3, axis=1).ravel()
    A: Any = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(3 * n, 3 * n))
    A.sort_indices()
    return A
