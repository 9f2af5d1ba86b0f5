"""Coefficients of friction: one number for all contacts, or a table of pairs by name.

    mu = 0.3                                                  everything
    mu = {"pad, block": 0.9, "floor": 0.5, "default": 0.3}    a pair; whatever touches the floor; the rest
    mu = {"pad *, block": 0.9}                                a group: all whose names begin with "pad "

Names are those of bodies and obstacles; an articulated body stands for all of its links, "arm/lower" for one of them.
A star stands for any letters. Pairs count before single names, and what is written later before what is earlier.
"""

import difflib
import re
from collections.abc import Mapping

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Contacts
from pliant.contact.setting import Setting
from pliant.errors import SceneError
from pliant.units import quantity

DEFAULT = "default"
Mu = float | Mapping[str, float]


def read_mu(mu: Mu, where: str) -> Mu:
    """The coefficients as finite numbers >= 0."""
    if isinstance(mu, Mapping):
        return {str(name): _number(value, f"{where}.{name}") for name, value in mu.items()}
    return _number(mu, where)


def single(mu: Mu, where: str) -> float:
    """The one coefficient of those who know no pairs."""
    if isinstance(mu, Mapping):
        raise SceneError(
            "a table of pairs", where=where, remedy="give one number: Eulerian cloth rubs alike everywhere"
        )
    return mu


def _number(value: float, where: str) -> float:
    number = quantity(value, "1", where)
    if not (isinstance(number, float) and np.isfinite(number) and number >= 0.0):
        raise SceneError(f"it is {value}", where=where, remedy="give a number >= 0")
    return number


class Coefficients:
    """The coefficients ``mu`` of one scene; ``rest`` where a table says nothing, ``within`` bodies or not there."""

    def __init__(self, mu: Mu, rest: Mu, setting: Setting, where: str, *, within: bool = False) -> None:
        self._body = setting.body
        names = [*setting.names, *(obstacle.name for obstacle in setting.obstacles)]
        self._count = len(setting.names)
        table = mu if isinstance(mu, Mapping) else {DEFAULT: mu}
        found = np.full((len(names), len(names)), table.get(DEFAULT, single(rest, where)))
        for key in sorted(table, key=lambda key: "," in key):  # pairs have the last word
            if key == DEFAULT:
                continue
            sides = [_named(name.strip(), names, f"{where}.{key}") for name in key.split(",")]
            if len(sides) > 2:
                raise SceneError(f"{len(sides)} names", where=f"{where}.{key}", remedy='write "a, b", or one name')
            a, b = sides[0], sides[-1] if len(sides) == 2 else np.arange(len(names))
            found[np.ix_(a, b)] = found[np.ix_(b, a)] = table[key]
        if not within:
            own = np.arange(self._count)
            found[own, own] = 0.0
        self.table = found
        self.largest = float(found.max(initial=0.0))

    def __call__(self, contacts: Contacts) -> Array:
        """Per contact (c,)."""
        second = np.where(contacts.other >= 0, contacts.other, self._count - 1 - contacts.other)
        return self.table[self._body[contacts.nodes[:, 0]], second]


def _named(name: str, names: list[str], where: str) -> IntArray:
    """The numbers of a body, all links of an articulated one, an obstacle, or a group by a name with stars."""
    like = "*".join(re.escape(piece) for piece in name.split("*")).replace("*", ".*")
    found = np.flatnonzero([re.fullmatch(f"{like}(/.*)?", known) is not None for known in names])
    if not len(found):
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        remedy = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names[:12])}, and {DEFAULT}"
        raise SceneError(f"nothing is called {name!r}", where=where, remedy=remedy)
    return found
