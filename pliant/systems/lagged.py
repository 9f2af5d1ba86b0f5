"""Lagged friction: its normal forces come from where a stage starts, and from its own root where that is asked for.

With the forces of the start a stage has a potential to descend on, and over many steps friction gets all it should: the
root of one step is the start of the next. Only where a scene starts was there no step before; the first stage is solved
without friction to learn what presses, and then again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.contact.contacts import Contacts, joined
from pliant.errors import SceneError
from pliant.state import State
from pliant.systems.contact import Terms

AGREED = 1e-3  # part of themselves by which normal forces may differ from those at the root

Loads = tuple[Contacts, Array]  # contacts and their normal forces (c,) [N]


@dataclass(frozen=True, eq=False)
class LaggedTerms:
    """The terms of a stage whose ``friction(loads, x)`` has the normal forces that energies have at some x.

    ``energies`` are those of the stage, ``others`` forces besides friction. The stage is solved again ``rounds`` times
    at most, with the normal forces of the last root, until they agree with those of the next; None: once and for all.
    ``find(energies, x)`` are the loads at x, ``push(loads)`` the normal forces as they act on all vertices, flat.
    """

    energies: Sequence[Any]
    friction: Callable[[Any, Any], Any]
    others: tuple[Any, ...]
    rounds: int | None
    find: Callable[[Sequence[Any], Any], Any]
    push: Callable[[Any], Any]

    def starting(self, start: State, t: float, before: Sequence[Any]) -> Terms:
        """From ``start`` to t; ``before`` are the energies as they are where it starts."""
        return self._terms(None, start.q) if start.t == 0.0 < t else self._terms(self.find(before, start.q), start.q)

    def _terms(self, loads: Any, x: Array) -> Terms:
        forces = self.others if loads is None else (self.friction(loads, x), *self.others)
        again = None if loads is not None and self.rounds is None else lambda q: self._again(loads, q)
        return Terms(tuple(self.energies), forces, again)

    def _again(self, loads: Any, q: Array) -> tuple[float | None, Terms | None]:
        found = self.find(self.energies, q)
        if loads is None:
            return None, self._terms(found, q) if self.push(found).any() else None
        change = self._change(loads, found)
        if self.rounds is None or self.rounds == 0 or change <= AGREED:
            return change, None
        return change, replace(self, rounds=self.rounds - 1)._terms(found, q)

    def _change(self, old: Any, new: Any) -> float:
        a, b = self.push(old), self.push(new)
        return float(np.linalg.norm(b - a)) / max(float(np.linalg.norm(b)), float(np.linalg.norm(a)), 1e-300)


def loads_of(energies: Sequence[Any], x: Array) -> Loads:
    """What ``energies`` press with at x."""
    found = [energy.loads(x) for energy in energies]
    return joined([contacts for contacts, _ in found]), np.concatenate([f for _, f in found])


def push_of(loads: Loads, n: int) -> Array:
    """Normal forces as they act on n vertices, flat (3 n,) [N]."""
    contacts, f_n = loads
    return contacts.spread(f_n[:, None] * contacts.normals, n)


def read_solves(solves: int, where: str) -> None:
    """Refuse what is no number of solves."""
    if isinstance(solves, bool) or not isinstance(solves, int) or solves < 1:
        raise SceneError(f"it is {solves!r}", where=where, remedy="give a whole number >= 1")


def rounds_of(solves: int) -> int | None:
    """How often a stage that may be solved ``solves`` times is solved again."""
    return None if solves == 1 else solves - 1
