"""Constrained minimisation in the multipliers, small when rows are few [Weidner2022, sec. 3.3.3]."""

from collections.abc import Callable

import numpy as np

from pliant.arrays import Array
from pliant.linear.box_qp import BoxSolver


class Dual:
    """min 1/2 x^T A x - b^T x s.t. G x = rhs where ``lower`` is -inf, G x >= rhs where it is 0.

    The multipliers y >= lower minimise 1/2 y^T (G A^-1 G^T) y - y^T (rhs - G A^-1 b), and x = A^-1 (b + G^T y).
    """

    def __init__(self, G: Array, rhs: Array, lower: Array, inverse: Callable[[Array], Array]) -> None:
        self.G, self.rhs, self.lower, self.inverse = G, rhs, lower, inverse
        self.X = inverse(np.ascontiguousarray(G.T)) if len(rhs) else np.zeros(G.T.shape)
        W = G @ self.X
        self.W = 0.5 * (W + W.T)

    def solve(self, b: Array, box: BoxSolver) -> tuple[Array, Array]:
        x = self.inverse(b)
        if not len(self.rhs):
            return x, np.zeros(0)
        gap = self.rhs - self.G @ x
        y = np.zeros(len(gap))
        if np.any(self.lower > -np.inf):
            y = box.solve(self.W, gap, self.lower, np.full(len(gap), np.inf), np.maximum(0.0, self.lower)).x
        y = self._shared(y, gap)
        return x + self.X @ y, y

    def _shared(self, y: Array, gap: Array) -> Array:
        """Of all multipliers with the same effect those of smallest norm: redundant supports share the load equally."""
        slack = self.W @ y - gap
        touching = np.flatnonzero((self.lower < 0.0) | (slack <= 1e-9 * (np.abs(gap).max() + 1e-300)))
        least = np.zeros_like(y)
        least[touching] = np.linalg.lstsq(self.W[np.ix_(touching, touching)], gap[touching], rcond=1e-11)[0]
        pushes = np.all(least >= self.lower - 1e-12 * np.abs(least).max(initial=0.0))
        return least if pushes or not np.any(self.lower > -np.inf) else y
