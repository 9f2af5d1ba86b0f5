"""Equality constraints between coordinates: closed loops, motors that prescribe rates, points that are tied."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray


@dataclass(frozen=True, eq=False)
class Closures:
    """Equality constraints of a moment: ``gap (k,)`` must vanish, with ``G (k, N)`` over all velocities.

    Where ``positional``, gap is an error of positions, d(gap)/dq = G; elsewhere only a rate is prescribed, and gap is
    G v - rate. ``owners (k,)`` say which constraint of the system a row belongs to, ``rate (k,)`` what G v should be.
    """

    gap: Array
    G: sp.csr_matrix
    rate: Array
    positional: NDArray[np.bool_]
    owners: IntArray

    def placed(self, first: int, size: int) -> "Closures":
        """The same over ``size`` coordinates, of which these start at ``first``."""
        k, n = self.G.shape
        blank = [sp.csr_matrix((k, first)), self.G, sp.csr_matrix((k, size - first - n))]
        return replace(self, G=sp.csr_matrix(sp.hstack(blank)))

    @staticmethod
    def tying(gap: Array, G: sp.csr_matrix) -> "Closures":
        """Rows whose gaps are errors of positions, of nobody's constraint in particular."""
        k = len(gap)
        return Closures(gap, sp.csr_matrix(G), np.zeros(k), np.ones(k, dtype=bool), np.full(k, -1))

    @staticmethod
    def joined(parts: Sequence["Closures"]) -> "Closures":
        """Several sets of rows as one."""
        stack = lambda name: np.concatenate([getattr(p, name) for p in parts])
        G = sp.csr_matrix(sp.vstack([p.G for p in parts]))
        return Closures(stack("gap"), G, stack("rate"), stack("positional"), stack("owners"))


@runtime_checkable
class Constrained(Protocol):
    """A system with loops that are closed, motors that prescribe rates, or points that are tied to each other.

    Its `acceleration` obeys them too: M^-1 (f + G^T lambda), as TRBDF2 and explicit methods need it.
    """

    def closures(self, q: Array, v: Array, t: float) -> Closures | None: ...

    def closure_tangent(self, q: Array, v: Array, t: float, y: Array, w: float) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """d(G^T y)/dq (N, N) for fixed ``y (k,)`` and d(gap)/dq (k, N), where v changes by w dq.

        Rows that are linear have (0, G) where they are positional and (0, w G) elsewhere.
        """
        ...


@runtime_checkable
class Accelerating(Protocol):
    """A constrained system that provides the right-hand sides of its rows for accelerations."""

    def acceleration_rows(self, q: Array, v: Array, t: float) -> tuple[Array, Array] | None:
        """(G (k, N), b (k,)) with G a = b; None where nothing closes."""
        ...
