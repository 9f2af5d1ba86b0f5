"""What a step did, as linear algebra: every state a sum of earlier vectors and of what was solved for.

A time stepping method adds and scales vectors, and in between it solves stages and evaluates accelerations. The tape
keeps both: a `Vector` is a sum over slots, and an operation makes a new slot from vectors. Tangents go through the tape
forwards, adjoints backwards; neither knows which method wrote it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from pliant.adjoint.parameters import Parameters
from pliant.arrays import Array


@dataclass(frozen=True)
class Vector:
    """sum_k weight_k slot_k."""

    weights: dict[int, float]

    def __add__(self, other: "Vector") -> "Vector":
        keys = {**self.weights, **other.weights}
        return Vector({k: self.weights.get(k, 0.0) + other.weights.get(k, 0.0) for k in keys})

    def __sub__(self, other: "Vector") -> "Vector":
        return self + (-1.0) * other

    def __rmul__(self, factor: float) -> "Vector":
        return Vector({k: factor * w for k, w in self.weights.items()})

    def of(self, slots: Sequence[Array]) -> Array:
        """The sum for slots that hold these arrays."""
        return sum((w * slots[k] for k, w in self.weights.items()), np.zeros_like(slots[0]))

    def spread(self, bar: Array, bars: list[Array]) -> None:
        """The adjoint of the sum: each slot receives its contribution."""
        for k, w in self.weights.items():
            bars[k] += w * bar


class Operation(Protocol):
    """Makes the array of one slot; ``inputs`` are the vectors that it depends on."""

    inputs: tuple[Vector, ...]

    def tangent(self, changes: Sequence[Array], parameters: Parameters, rates: Array) -> Array:
        """Its changes (N, k) when the inputs change by ``changes`` (N, k) and the parameters by ``rates`` (size, k)."""
        ...

    def adjoint(self, bar: Array, parameters: Parameters, into: Array) -> Sequence[Array]:
        """The adjoints of its inputs; what belongs to the parameters is added to ``into``."""
        ...


@dataclass(eq=False)
class Tape:
    """One step: slots 0 .. 3 are q and v where it begins and one step earlier, each later one an operation makes.

    ``end`` are q and v after the step; ``began`` those that it set out from, as the next step remembers them.
    """

    values: list[Array]
    operations: list[Operation] = field(default_factory=list)
    end: tuple[Vector, Vector] = (Vector({0: 1.0}), Vector({1: 1.0}))
    began: tuple[Vector, Vector] = (Vector({0: 1.0}), Vector({1: 1.0}))

    def given(self, k: int) -> Vector:
        return Vector({k: 1.0})

    def add(self, operation: Operation, value: Array) -> Vector:
        """The vector that an operation makes."""
        self.operations.append(operation)
        self.values.append(value)
        return Vector({len(self.values) - 1: 1.0})

    def forwards(self, given: Sequence[Array], parameters: Parameters, rates: Array) -> list[Array]:
        """The changes (N, k) of q and v at the end, and where it began, from those of the given slots.

        They are along the k columns of ``rates``.
        """
        changes = list(given)
        for operation in self.operations:
            changes.append(operation.tangent([x.of(changes) for x in operation.inputs], parameters, rates))
        return [x.of(changes) for x in (*self.end, *self.began)]

    def backwards(self, after: Sequence[Array], parameters: Parameters, into: Array) -> list[Array]:
        """The adjoints of the given slots, from those of q and v at the end and, two more, where the step began."""
        bars = [np.zeros_like(after[0]) for _ in self.values]
        for x, bar in zip((*self.end, *self.began), after, strict=True):
            x.spread(bar, bars)
        for operation in reversed(self.operations):
            bar = bars.pop()
            if bar.any():
                for x, share in zip(operation.inputs, operation.adjoint(bar, parameters, into), strict=True):
                    x.spread(share, bars)
        return bars
