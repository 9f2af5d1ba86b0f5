"""Names of energies in the ledger."""

from collections.abc import Sequence
from functools import lru_cache

from pliant.abilities import able
from pliant.energies.base import ConstantLoad, Energy, Pressing
from pliant.systems.base import distinct


def labels(energies: Sequence[Energy]) -> list[str]:
    """A name for every energy: loads and contacts keep theirs and are summed, other equal names are numbered."""
    return list(_named(tuple((e.name, able(e, ConstantLoad) or able(e, Pressing)) for e in energies)))


@lru_cache(maxsize=64)
def _named(energies: tuple[tuple[str, bool], ...]) -> tuple[str, ...]:
    """`labels` of energies given by their names and whether equal ones are summed."""
    first = list(dict.fromkeys(name for name, alike in energies if alike))
    named = distinct(["kinetic", *first, *(name for name, alike in energies if not alike)])[1:]
    shared, rest = dict(zip(first, named, strict=False)), iter(named[len(first) :])
    return tuple(shared[name] if alike else next(rest) for name, alike in energies)
