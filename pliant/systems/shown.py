"""Rigid bodies of some parts that others are shown: links that crease the cloth they swing into.

What is shown keeps its own frame; where it is and how it moves is told anew for every step, and its velocity is found
together with that of whoever it is shown to.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from pliant.arrays import Array
from pliant.contact.sharp import Sharp
from pliant.maps.motions import Placement
from pliant.state import State
from pliant.systems.contact import Touch
from pliant.velocity_step import Linearisation, Prepared


@runtime_checkable
class Carrier(Protocol):
    """A part with rigid bodies."""

    def placements(self, q: Array, v: Array) -> Sequence[Placement]:
        """Where every body's own frame is, and how it moves."""
        ...


@runtime_checkable
class Watching(Protocol):
    """A part that meets the sharp features of rigid bodies of other parts, once they are ``shown``."""

    def shown(self, bodies: Sequence[Sharp]) -> Any: ...

    def prepare(
        self, state: State, h: float, memory: Any, how: Linearisation, live: Sequence[Placement]
    ) -> Prepared: ...

    def contacts(self, q: Array, v: Array, t: float, live: Sequence[Placement]) -> Touch | None: ...


@dataclass(frozen=True)
class Shown:
    """The rigid bodies of all parts, as (part, body of it, name), and the names of the parts they are shown to."""

    bodies: tuple[tuple[int, int, str], ...] = ()
    watchers: dict[int, str] = field(default_factory=dict)

    def pairs(self) -> list[tuple[str, str]]:
        """Who can push whom, in both orders."""
        found = [(watcher, name) for watcher in self.watchers.values() for *_, name in self.bodies]
        return [*found, *((b, a) for a, b in found)]

    def placements(self, parts: Sequence[Any], states: Sequence[State]) -> list[Placement]:
        """Where the bodies are, given the states of all parts."""
        told: dict[int, Sequence[Placement]] = {}
        for k in {part for part, *_ in self.bodies}:
            part = parts[k]
            assert isinstance(part, Carrier)
            told[k] = part.placements(states[k].q, states[k].v)
        return [told[part][body] for part, body, _ in self.bodies]
