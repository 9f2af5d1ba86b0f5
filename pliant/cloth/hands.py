"""What holds points of cloth: pins with a scripted motion, and hands that pull at a velocity."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from pliant.arrays import Array
from pliant.maps.motions import Motion, Vector


class Hold(Protocol):
    """Something that prescribes the velocity of the material points ``X (k, 2)`` along the ``axes`` of the world."""

    @property
    def X(self) -> Array: ...

    @property
    def axes(self) -> tuple[int, ...]: ...

    def holds(self, t: float) -> bool: ...

    def pull(self, x: Array, v: Array, t: float, h: float) -> Array:
        """Their velocities (k, 3) [m/s] in the step from t to t + h, given where they are and how they move (k, 3)."""
        ...


@dataclass(frozen=True, eq=False)
class Handle:
    """Material points ``X (k, 2)`` pulled at ``velocity`` [m/s] from ``start`` to ``stop`` [s], held still outside.

    The velocity follows its target with the time constant ``lag`` [s]; before ``grip`` and after ``let_go`` [s] the
    points are free.
    """

    X: Array
    velocity: Vector = (0.0, 0.0, 0.0)
    start: float = 0.0
    stop: float = np.inf
    lag: float = 0.05
    grip: float = 0.0
    let_go: float = np.inf
    axes: tuple[int, ...] = (0, 1, 2)

    def holds(self, t: float) -> bool:
        return self.grip <= t < self.let_go

    def target(self, t: float) -> Array:
        return np.asarray(self.velocity) if self.start <= t < self.stop else np.zeros(3)

    def pull(self, x: Array, v: Array, t: float, h: float) -> Array:
        blend = 1 - np.exp(-h / self.lag)
        return (1 - blend) * v + blend * self.target(t)


@dataclass(frozen=True, eq=False)
class Tied:
    """Material points ``X (k, 2)`` that attachments hold: their velocities are found with what they are tied to."""

    X: Array
    axes: ClassVar[tuple[int, ...]] = ()

    def holds(self, t: float) -> bool:
        return True

    def pull(self, x: Array, v: Array, t: float, h: float) -> Array:
        return v


@dataclass(frozen=True, eq=False)
class Pinned:
    """A `Pin` of cloth: material points ``X (k, 2)`` that start at ``x (k, 3)`` [m] and follow a motion exactly."""

    X: Array
    x: Array
    motion: Motion | None
    axes: tuple[int, ...]

    def holds(self, t: float) -> bool:
        return True

    def pull(self, x: Array, v: Array, t: float, h: float) -> Array:
        there = self.x if self.motion is None else self.motion.positions(self.x, t + h)
        return (there - x) / h
