"""Several parts as one system, each of which answers for itself: q = (q_1, ..., q_k).

M = diag(M_1, ..., M_k)      x = (x_1, ..., x_k) all points
"""

from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.state import State
from pliant.systems.base import Part
from pliant.systems.joined import Restriction, SideBySide
from pliant.systems.observed import Jointed, Pullable, Working
from pliant.systems.points import PartPoints
from pliant.systems.stepped import Charted, Pointwise


class Parts:
    """``parts`` side by side; ``slices`` tell where each part's coordinates are."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        ends = np.cumsum([0, *(len(part.rest) for part in parts)])
        self.slices = tuple(slice(int(a), int(b)) for a, b in zip(ends[:-1], ends[1:], strict=True))
        self.free = np.concatenate([part.free + a for part, a in zip(parts, ends[:-1], strict=True)])
        self.size = int(ends[-1])
        self.join, self._restriction = SideBySide(), Restriction(self.free)
        self.scale = max(part.scale for part in parts)
        self.total_mass = sum(part.total_mass for part in parts)
        self.free_mass = sum(part.free_mass for part in parts)
        self.points = PartPoints(parts, self.slices)

    @property
    def symmetric(self) -> bool:
        return all(part.symmetric for part in self.parts)

    @cached_property
    def border(self) -> IntArray:
        """The free coordinates of parts that move on joints."""
        sizes = np.cumsum([0, *(len(part.free) for part in self.parts)])
        own = [np.arange(sizes[k], sizes[k + 1]) for k, part in enumerate(self.parts) if not part.symmetric]
        return np.concatenate([np.zeros(0, dtype=np.int64), *own])

    @property
    def rest(self) -> Array:
        return np.concatenate([part.rest for part in self.parts])

    def each(self, function: Callable[..., Any], *vectors: Array) -> list[Any]:
        """``function(part, q_part, ...)`` for every part, with its own piece of every vector."""
        return [function(part, *(x[s] for x in vectors)) for part, s in zip(self.parts, self.slices, strict=True)]

    def states(self, state: State) -> list[State]:
        return [State(state.q[s], state.v[s], state.t) for s in self.slices]

    def mass(self, q: Array) -> sp.csr_matrix:
        return self.join(self.each(lambda p, x: p.mass(x), q))

    def inertia(self, q: Array, a: Array) -> Array:
        return np.concatenate(self.each(lambda p, x, y: p.inertia(x, y), q, a))

    def weights(self, q: Array) -> Array:
        return np.concatenate(self.each(lambda p, x: p.weights(x), q))

    def accelerated(self, q: Array, f: Array) -> Array:
        """M^-1 f on the free coordinates, part by part."""
        return np.concatenate(self.each(lambda p, x, y: p.accelerated(x, y), q, f))

    def restrict(self, A: sp.csr_matrix) -> sp.csr_matrix:
        return self._restriction(A)

    def prescribe(self, q: Array, t: float) -> Array:
        return np.concatenate(self.each(lambda p, x: p.prescribe(x, t), q))

    def fitted(self, before: Array, q: Array, h: float) -> Array:
        own = lambda p, q0, q1: p.fitted(q0, q1, h) if able(p, Pointwise) else (q1 - q0) / h
        return np.concatenate(self.each(own, before, q))

    def rechart(self, state: State) -> State:
        """Every part in coordinates that are far from the end of their range."""
        own = lambda p, q, v: p.rechart(State(q, v, state.t)) if able(p, Charted) else State(q, v, state.t)
        each = self.each(own, state.q, state.v)
        q = np.concatenate([s.q for s in each])
        return state if np.array_equal(q, state.q) else State(q, np.concatenate([s.v for s in each]), state.t)

    def pulled(self, vertex: int, target: Array, k: float) -> Self:
        """The same system with a spring ``k`` [N/m] of zero length from a row of `positions` to a point (3,)."""
        held, first = copy(self), 0
        for i, part in enumerate(self.parts):
            count = len(part.positions(part.rest))
            if first <= vertex < first + count and able(part, Pullable):
                pulled = part.pulled(vertex - first, target, k)
                held.parts = (*self.parts[:i], pulled, *self.parts[i + 1 :])
            first += count
        return held

    @property
    def works(self) -> tuple[str, ...]:
        """Names of the works that parts tell by their power."""
        return tuple(dict.fromkeys(name for part in self.parts if able(part, Working) for name in part.works))

    def switched(self, q: Array, v: Array, times: tuple[float, float]) -> float:
        return sum(self.each(lambda p, x, u: p.switched(x, u, times) if able(p, Working) else 0.0, q, v))

    def momenta(self, q: Array, v: Array) -> tuple[Array, Array]:
        each = self.each(lambda p, x, u: p.momenta(x, u), q, v)
        return np.sum([p for p, _ in each], axis=0), np.sum([L for _, L in each], axis=0)

    def positions(self, q: Array) -> Array:
        return np.concatenate(self.each(lambda p, x: p.positions(x), q))

    def point_jacobian(self, q: Array) -> sp.csr_matrix:
        return self.points.jacobian(q)

    def curvature(self, q: Array, g: Array) -> sp.csr_matrix:
        return self.points.curvature(q, g)

    def cells(self) -> list[IntArray]:
        counts = [len(part.positions(part.rest)) for part in self.parts]
        first = np.cumsum([0, *counts])
        return [c + k for part, k in zip(self.parts, first, strict=False) for c in part.cells()]

    def joint_origins(self, x: Array) -> Array:
        """Where the joints of all parts are (k, 3) when the points are at x (p, 3)."""
        found, first = [np.zeros((0, 3))], 0
        for part in self.parts:
            count = len(part.positions(part.rest))
            if able(part, Jointed):
                found.append(part.joint_origins(x[first : first + count]))
            first += count
        return np.concatenate(found)
