"""Names of energies in the ledger."""

from collections.abc import Sequence

from pliant.abilities import able
from pliant.energies.base import ConstantLoad, Energy, Pressing
from pliant.systems.base import distinct


def labels(energies: Sequence[Energy]) -> list[str]:
    """A name for every energy: loads and contacts keep theirs and are summed, other equal names are numbered."""
    common = [able(e, ConstantLoad) or able(e, Pressing) for e in energies]
    first = list(dict.fromkeys(e.name for e, alike in zip(energies, common, strict=True) if alike))
    own = [e.name for e, alike in zip(energies, common, strict=True) if not alike]
    named = distinct(["kinetic", *first, *own])[1:]
    shared, rest = dict(zip(first, named, strict=False)), iter(named[len(first) :])
    return [shared[e.name] if alike else next(rest) for e, alike in zip(energies, common, strict=True)]
