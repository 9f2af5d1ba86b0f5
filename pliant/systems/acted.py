"""Contact forces of a step: those at the solutions of its solves, with the contacts used there.

Detected again at the end of the step they would differ: pairs that met during the step are missing, friction has other
normal forces, and an adaptive barrier has the stiffness of the next step.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.contact.contacts import ContactForces
from pliant.contact.setting import Setting
from pliant.energies.base import LinearPressing, Pressing
from pliant.forces.base import Braking, Force, LinearRubbing, Rubbing
from pliant.pattern import added
from pliant.systems import exchange
from pliant.systems.base import System

Pairs = dict[tuple[str, str], Array]


class Acted:
    """Contact forces [N] on the points of a system: ``contact (p, 3)`` normal to surfaces, ``friction (p, 3)``
    tangential.

    ``x (p, 3)`` are the positions of the points: at the solution of a stage, or where a velocity step was linearised.
    ``pairs`` are the forces of a on b (3,), by the names of bodies and obstacles; None where they are not known
    separately. Everything is computed on demand. ``during`` is the system of the stage, with its contacts and the
    lagged friction of its last solve; None where there was no stage.
    """

    def __init__(self, find: Callable[[], tuple[Array, Array, Pairs | None]], x: Array, during: Any = None) -> None:
        self._find, self.x, self.during = find, x, during

    def within(self, system: System) -> "Acted":
        """The same, found in a stage of ``system``."""
        return Acted(self._find, self.x, system)

    def torques(self) -> tuple[Array, Array]:
        """The torques (3,) [N m] of all contact forces and of all friction about the origin."""
        return np.cross(self.x, self.contact).sum(axis=0), np.cross(self.x, self.friction).sum(axis=0)

    @cached_property
    def _found(self) -> tuple[Array, Array, Pairs | None]:
        return self._find()

    @property
    def contact(self) -> Array:
        return self._found[0]

    @property
    def friction(self) -> Array:
        return self._found[1]

    @property
    def pairs(self) -> Pairs | None:
        return self._found[2]


class Later(Acted):
    """Forces whose places are known only when they are asked for, as on a device."""

    def __init__(self, make: Callable[[], Acted], during: Any = None) -> None:
        self._make, self.during = make, during

    @cached_property
    def _made(self) -> Acted:
        return self._make()

    @property
    def x(self) -> Array:  # type: ignore[override]
        return self._made.x

    @property
    def _found(self) -> tuple[Array, Array, Pairs | None]:  # type: ignore[override]
        return self._made._found

    def torques(self) -> tuple[Array, Array]:
        return self._made.torques()

    def within(self, system: System) -> "Acted":
        return Later(self._make, system)


class Mean(Acted):
    """Forces of several stages with their weights: ``x`` are the points of the last one, torques those of each."""

    def __init__(self, stages: Sequence[tuple[float, Acted]]) -> None:
        self._stages = stages
        super().__init__(self._weighted, stages[-1][1].x, stages[-1][1].during)

    def _weighted(self) -> tuple[Array, Array, Pairs | None]:
        contact = np.sum([weight * acted.contact for weight, acted in self._stages], axis=0)
        friction = np.sum([weight * acted.friction for weight, acted in self._stages], axis=0)
        pairs: Pairs | None = {}
        for weight, acted in self._stages:
            pairs = None if pairs is None or acted.pairs is None else _plus(pairs, acted.pairs, weight)
        return contact, friction, pairs

    def torques(self) -> tuple[Array, Array]:
        each = [(weight, *acted.torques()) for weight, acted in self._stages]
        return np.sum([w * a for w, a, _ in each], axis=0), np.sum([w * b for w, _, b in each], axis=0)


def mean(*parts: tuple[float, Acted | None]) -> Acted | None:
    """The mean over a step of several stages with their weights: h times it is the impulse of the step.

    None where not all are known.
    """
    known = [(weight, acted) for weight, acted in parts if acted is not None]
    return Mean(known) if len(known) == len(parts) else None


def _plus(pairs: Pairs, more: Pairs, weight: float) -> Pairs:
    names = dict.fromkeys([*pairs, *more])
    return {k: pairs.get(k, np.zeros(3)) + weight * more.get(k, np.zeros(3)) for k in names}


def of_contacts(
    setting: Setting,
    pressing: Sequence[ContactForces],
    rubbing: Sequence[ContactForces],
    n: int,
    owner: IntArray | None = None,
) -> tuple[Array, Array, Pairs]:
    """Forces of contacts on n points, and of everybody on everybody; ``owner (n,)`` None: points are contact's own."""
    both = [sum((f.spread(n) for f in forces), np.zeros(3 * n)).reshape(-1, 3) for forces in (pressing, rubbing)]
    total = np.zeros((len(setting.meshes) + len(setting.obstacles),) * 2 + (3,))
    for forces in (*pressing, *rubbing):
        for axis, way in enumerate(np.eye(3)):  # the work of a unit way along every axis
            ways = np.broadcast_to(way, (n, 3)), np.broadcast_to(way, (len(forces.contacts), 3))
            total[..., axis] += exchange.works(setting, setting.body if owner is None else owner, forces, *ways)
    names = exchange.parties(setting)
    met = np.argwhere(total.any(axis=2))
    return both[0], both[1], {(names[i], names[j]): total[i, j] for i, j in met if i != j}


def of_terms(setting: Setting, energies: Sequence[Any], forces: Sequence[Any], x: Array, v: Array) -> Acted:
    """Of the contact terms among ``energies`` and ``forces`` at x with velocities v of contact's own points."""

    def find() -> tuple[Array, Array, Pairs]:
        pressing = [e.pushes(x) for e in energies if able(e, Pressing)]
        others = [(f.normal, f.pushes(x, v)) for f in forces if able(f, Rubbing)]
        pressing += [pushes for normal, pushes in others if normal]
        return of_contacts(setting, pressing, [pushes for normal, pushes in others if not normal], len(x) // 3)

    return Acted(find, x.reshape(-1, 3))


def linear_damping(force: Force, x: Array, v: Array, t: float) -> sp.csr_matrix:
    """df/dv as a step that is linearised once uses it: with what brakes a slip."""
    D = force.damping(x, v, t)
    return added(D, force.braking(x, v, t)) if able(force, Braking) else D


def linearised(
    setting: Setting | None,
    energies: Sequence[Any],
    forces: Sequence[Any],
    old: tuple[Array, Array, float],
    new: Array,
    way: Array,
) -> Acted:
    """Of contact terms in a velocity step: -g - H ``way`` and f + D (``new`` - v) at ``old`` = (x, v, t)."""
    x, v, t = old
    pressing = [energy for energy in energies if able(energy, Pressing)]
    rubbing = [force for force in forces if able(force, Rubbing)]

    def find() -> tuple[Array, Array, Pairs | None]:
        contact, friction = np.zeros_like(x), np.zeros_like(x)
        for energy in pressing:
            contact -= energy.gradient(x) + energy.hessian(x, psd=True) @ way
        for force in rubbing:
            f = force.force(x, v, t) + linear_damping(force, x, v, t) @ (new - v)
            contact, friction = (contact + f, friction) if force.normal else (contact, friction + f)
        return contact.reshape(-1, 3), friction.reshape(-1, 3), pairs()

    def pairs() -> Pairs | None:
        if setting is None:
            return None
        known = [e.linear_pushes(x, way) for e in pressing if able(e, LinearPressing)]
        known += [f.linear_pushes(x, v, new - v) for f in rubbing if able(f, LinearRubbing)]
        whole = len(known) == len(pressing) + len(rubbing)
        return of_contacts(setting, known, [], len(x) // 3)[2] if whole else None

    return Acted(find, x.reshape(-1, 3))


def placed(acted: Acted, rows: IntArray | None, x: Array) -> Acted:
    """The same over all points at ``x (p, 3)``, of which contact's own are ``rows`` (None: all)."""
    if rows is None:
        return acted

    def find() -> tuple[Array, Array, Pairs | None]:
        both = np.zeros((2, *x.shape))
        both[0, rows], both[1, rows] = acted.contact, acted.friction
        return both[0], both[1], acted.pairs

    return Acted(find, x)
