"""Whether something has an ability, and how a thing that is made around another passes on what that one has."""

from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import TypeIs

T = TypeVar("T")
_known: dict[tuple[type, Any], bool] = {}


def able(thing: object, ability: type[T]) -> "TypeIs[T]":
    """``isinstance(thing, ability)`` for a protocol whose members all things of this type have, or none.

    Asked once per type: a question to a runtime protocol takes microseconds.
    """
    key = (type(thing), ability)
    found = _known.get(key)
    if found is None:
        found = _known[key] = isinstance(thing, ability)
    return found


def read_out(path: str) -> Any:
    """A property that passes on what lies at ``path``, such as "body.pins", in the thing its object is made around."""
    return property(attrgetter(path))
