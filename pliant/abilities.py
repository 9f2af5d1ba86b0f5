"""Whether something has an ability, asked once per type: a question to a runtime protocol takes microseconds."""

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing_extensions import TypeIs

T = TypeVar("T")
_known: dict[tuple[type, Any], bool] = {}


def able(thing: object, ability: type[T]) -> "TypeIs[T]":
    """``isinstance(thing, ability)`` for a protocol whose members all things of this type have, or none."""
    key = (type(thing), ability)
    found = _known.get(key)
    if found is None:
        found = _known[key] = isinstance(thing, ability)
    return found
