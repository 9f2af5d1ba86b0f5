"""What a map is: how the velocities that are really free move the material."""

from typing import Any, Protocol

from pliant.arrays import Array


class Map(Protocol):
    """Material positions x = lift(q, t), velocities xdot = J(q) u + bias; J = ``jacobian``, bias = prescribed part."""

    def lift(self, q: Array, t: float) -> Array: ...

    def jacobian(self, q: Array) -> Any: ...

    def bias(self, q: Array, v: Array) -> Array: ...
