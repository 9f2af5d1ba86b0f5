"""What every method solves, as a function of the system: g = c^2 f - M d at a moment, and who leaves the rest alone."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.state import State
from pliant.systems.stepped import Contacting


@dataclass(frozen=True, eq=False)
class Moment:
    """Where g = c2 f(q, v, t) - M d is asked for; contacts are those that a stage from ``start`` found.

    With closures g has G^T ``multipliers`` in it, and their gaps with the sign turned behind it.
    """

    start: State
    q: Array
    v: Array
    t: float
    c2: float
    d: Array
    multipliers: Array | None = None

    def g(self, system: Any) -> Array:
        """g of a system."""
        live = system.at(self.start, self.t, np.sqrt(self.c2)) if isinstance(system, Contacting) else system
        out = np.asarray(self.c2 * live.force(self.q, self.v, self.t))
        if self.d.any():
            out = out - live.inertia(self.q, self.d)
        if self.multipliers is None:
            return out
        rows = live.closures(self.q, self.v, self.t)
        lengths = np.where(rows.positional, 1.0, np.sqrt(self.c2))  # as stages scale them
        return np.concatenate([out + rows.G.T @ self.multipliers, -lengths * rows.gap])

    def loose(self, dofs: IntArray) -> "Moment":
        """The same moment for loose elements with these coordinates (m, k), each on its own."""
        q, v, d = (a[dofs].ravel() for a in (self.q, self.v, self.d))
        start = State(self.start.q[dofs].ravel(), self.start.v[dofs].ravel(), self.start.t)
        return replace(self, start=start, q=q, v=v, d=d, multipliers=None)

    @property
    def size(self) -> int:
        return len(self.q) + (0 if self.multipliers is None else len(self.multipliers))


class Still:
    """A parameter that neither places nor starts anything."""

    moves = False
    value: Array

    def gather_placed(self, t: float, y: Array) -> Array:
        return np.zeros(self.value.size)

    def placed(self, t: float, rates: Array) -> Any:
        return 0.0

    def start(self, rates: Array) -> tuple[Any, Any]:
        return 0.0, 0.0

    def gather_start(self, q: Array, v: Array) -> Array:
        return np.zeros(self.value.size)
