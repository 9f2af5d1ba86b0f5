"""Constraints as rows on velocities, stabilised after Baumgarte."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.articulated.quirks import Quirks
from pliant.articulated.tree import Kinematics, Tree


@dataclass(frozen=True)
class Tangents:
    """Friction directions T (s, 6n) of the contacts behind the rows: s/k directions per row, with coefficient mu."""

    T: Array
    mu: float | None


@dataclass(frozen=True)
class ConstraintRows:
    """k rows on the velocity u: maximal G (k, 6n) or reduced G (k, nr).

    Equality: G u = rate - b g, with g (k,) the error of the positions. Inequality: G u >= rate - b g, with g < 0 where
    the limit is passed. At the level of accelerations: G a = acceleration - 2 b (G u - rate) - b^2 g.
    """

    G: Array
    maximal: bool
    g: Array
    rate: Array
    acceleration: Array
    inequality: bool = False
    tangents: Tangents | None = None
    rate_feedback: bool = True
    positional: bool = True  # g is an error of positions; False when only the velocity is prescribed
    owner: int = -1  # position of the constraint in the system's list

    def reduced(self, kin: Kinematics) -> Array:
        """Its rows (k, nr) over the joint rates."""
        return kin.project_rows(self.G) if self.maximal else self.G


def owners_of(parts: Sequence[ConstraintRows]) -> IntArray:
    """The constraint of every row (k,)."""
    return np.concatenate([np.zeros(0, dtype=np.int64), *(np.full(len(p.g), p.owner) for p in parts)])


class Constraint(Protocol):
    """Something that restricts the motion, one way (``inequality``) or both; ``rows`` is None while it does not act."""

    inequality: ClassVar[bool]

    def bind(self, tree: Tree) -> Self: ...

    def rows(self, kin: Kinematics, t: float, quirks: Quirks) -> ConstraintRows | None: ...


@runtime_checkable
class Unilateral(Protocol):
    """A `Constraint` that is a contact of ``link``: it pushes, and rubs with ``mu`` (None: the method's own)."""

    link: int | str
    mu: float | None


def without_friction(constraints: Sequence[Any]) -> tuple[Any, ...]:
    """The same constraints, the contacts among them (dataclasses, as all of them are here) with mu = 0."""
    smooth: Any = lambda c: replace(c, mu=0.0)
    return tuple(smooth(c) if isinstance(c, Unilateral) else c for c in constraints)


@dataclass(frozen=True)
class RowSet:
    """All active rows of a system, stacked: equalities G u = e, inequalities C u >= d, in maximal and reduced form.

    ``G`` (k, 6n) and ``G_r`` = its projection plus the reduced-only rows; rows of reduced constraints are zero in G.
    """

    parts: tuple[ConstraintRows, ...]
    matrix: Array  # (k, nr)
    maximal: Array  # (k, 6n), zero rows where a constraint is reduced
    rhs: Array  # (k,)

    def __len__(self) -> int:
        return len(self.rhs)


def stacked(kin: Kinematics, parts: Sequence[ConstraintRows], baumgarte: float) -> RowSet:
    """Stack the rows of the parts; right-hand side rate - b g."""
    n, nr = len(kin.tree), kin.tree.dof
    reduced, maximal, rhs = [np.zeros((0, nr))], [np.zeros((0, 6 * n))], [np.zeros(0)]
    for part in parts:
        reduced.append(part.reduced(kin))
        maximal.append(part.G if part.maximal else np.zeros((len(part.G), 6 * n)))
        rhs.append(part.rate - baumgarte * part.g)
    return RowSet(tuple(parts), np.concatenate(reduced), np.concatenate(maximal), np.concatenate(rhs))


def acceleration_rhs(kin: Kinematics, parts: Sequence[ConstraintRows], baumgarte: float) -> tuple[Array, Array]:
    """(G_r, rhs) of G_r a = rhs for equalities: maximal rows also carry the quadratic velocity term -G Jdot v."""
    rows, rhs = [np.zeros((0, kin.tree.dof))], [np.zeros(0)]
    for part in parts:
        G = part.reduced(kin)
        bias = part.G @ kin.bias.ravel() if part.maximal else 0.0
        feedback = 2.0 * baumgarte * (G @ kin.v - part.rate) if part.rate_feedback else 0.0
        rows.append(G)
        rhs.append(part.acceleration - bias - feedback - baumgarte**2 * part.g)
    return np.concatenate(rows), np.concatenate(rhs)
