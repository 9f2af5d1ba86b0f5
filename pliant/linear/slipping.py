"""Impulses of rows and friction with limits that follow the rows, by Newton's method on which of them hold.

    0 = W p + start   where nothing holds,     y = 0   where a row lets go,     z = +-(mu y + c)   where something slips

A limit that follows its row is one more linear equation: once it is known which contacts press, stick and slip (and to
which side), one dense solve ends it. Limits that are held still and renewed in turns converge like a series, if at all.
The sets are those that p - (W p + start)/diag W crosses, as in `ProjectedNewton`; they need not settle, for W times
the friction of slipping contacts is not symmetric. Sets that come again go round in circles, mostly for few contacts
that can decide neither way: from the middle of a circle Newton goes on. Where that leads nowhere there is no answer.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.linalg.lapack import dgetrf, dgetrs

from pliant.arrays import Array, IntArray
from pliant.budget import check_budget

CHANGES = 25  # of the sets
PROXIMAL = 1e-10  # of diag W: rows may say the same twice


class Settled(NamedTuple):
    """Impulses (m + s,), and how many solves they took."""

    p: Array
    iterations: int


@dataclass(frozen=True, eq=False)
class Slipping:
    """The programme: W (n, n) and ``start (n,)`` over m rows and s slips; ``lower (m,)`` is 0, or -inf for equalities.

    ``pressing (s,)`` is the row that presses where each slip is (-1: none), ``mu (s,)`` its coefficient, ``bound (s,)``
    the limit c where nothing presses.
    """

    W: Array
    start: Array
    lower: Array
    pressing: IntArray
    mu: Array
    bound: Array

    def solve(self, p: Array, tolerance: float, changes: int = CHANGES) -> Settled | None:
        """From the guess p; None where the sets do not settle, or what they give is no solution."""
        scale, path, first = np.diag(self.W) + 1e-300, list[Array](), dict[bytes, int]()
        r = self.W @ p + self.start
        for k in range(changes):
            check_budget()
            held = self._held(p - r / scale, self.limits(p))
            if held.tobytes() in first:
                p = np.mean(path[first[held.tobytes()] :], axis=0)
                held = self._held(p - (self.W @ p + self.start) / scale, self.limits(p))
                path, first = [], {}
            first[held.tobytes()] = len(path)
            found = self._solved(held, p, PROXIMAL * scale)
            if found is None:
                return None
            p, r = found, self.W @ found + self.start
            if self._error(p, r) <= tolerance:
                return Settled(p, k + 1)
            path.append(p)
        return None

    def shared(self, p: Array, guess: Array, tolerance: float) -> Array:
        """Of all impulses of rows with the effect of p those nearest to the guess, if none of them pulls; else p."""
        r, scale = self.W @ p + self.start, np.diag(self.W) + 1e-300
        meeting = r <= tolerance * float(np.abs(self.start).max(initial=0.0))
        if np.count_nonzero(meeting) == np.count_nonzero(p):  # no row that could carry does not
            return p
        found = self._solved(np.where(meeting, 0.0, -1.0), guess, PROXIMAL * scale)
        if found is None or self._error(found, self.W @ found + self.start) > tolerance:
            return p
        return np.maximum(found, self.lower)

    def limits(self, p: Array) -> Array:
        """mu y + c (s,): how much friction there may be."""
        pressed = np.append(np.maximum(p[: len(self.lower)], 0.0), 0.0)  # the last of them for those with no row, -1
        return self.mu * pressed[self.pressing] + self.bound

    def _held(self, guess: Array, limits: Array) -> Array:
        """0 where nothing holds; rows at 0 are -1; slips are the sign of their limit, and 2 where that is 0."""
        m = len(self.lower)
        rows = np.where(guess[:m] <= self.lower, -1.0, 0.0)
        z = guess[m:]
        slips = np.where(np.abs(z) > limits, np.sign(z), 0.0)
        loose = (np.append(rows, 0.0)[self.pressing] < 0.0) & (self.bound == 0.0)
        return np.concatenate([rows, np.where(loose, 2.0, slips)])

    def _solved(self, held: Array, p: Array, rho: Array) -> Array | None:
        """The impulses if exactly these hold, with a proximal term towards p, and then towards what that gives."""
        m, free = len(self.lower), np.flatnonzero(held == 0.0)
        slips = np.flatnonzero(np.abs(held[m:]) == 1.0)
        side, rows = held[m + slips], self.pressing[slips]
        follow, fixed = side * self.mu[slips], side * self.bound[slips]  # z = follow y + fixed
        start = self.start[free] + self.W[np.ix_(free, m + slips)] @ fixed if fixed.any() else self.start[free]
        x, found = p[free], np.zeros_like(p)
        if len(free):
            factor, pivots, singular = dgetrf(_following(self.W, free, m + slips, rows, follow, rho), overwrite_a=True)
            if singular:
                return None
            for _ in range(2):
                x = dgetrs(factor, pivots, rho[free] * x - start)[0]
        found[free] = x
        found[m + slips] = follow * found[rows] + fixed
        return found if np.isfinite(x).all() else None

    def _error(self, p: Array, r: Array) -> float:
        """The largest entry of the gradient r that pushes against no bound, relative; inf beyond a bound."""
        limits = self.limits(p)
        low, high = np.concatenate([self.lower, -limits]), np.concatenate([np.full(len(self.lower), np.inf), limits])
        slack = 1e-9 * float(np.abs(p).max(initial=0.0))
        if np.any(p < low - slack) or np.any(p > high + slack):
            return np.inf
        pushes = ((p <= low + slack) & (r >= 0.0)) | ((p >= high - slack) & (r <= 0.0))
        return float(np.abs(np.where(pushes, 0.0, r)).max(initial=0.0)) / (float(np.abs(self.start).max()) + 1e-300)


@njit(cache=True, error_model="numpy")
def _following(W, free, slips, rows, follow, rho):  # type: ignore[no-untyped-def]
    """W + diag(rho) on the free impulses, with what the slips that follow their rows add to the columns of these.

    The array is in Fortran's order; W is symmetric.
    """
    n, place = len(free), np.full(W.shape[0], -1)
    columns = np.empty((n, n))
    for j in range(n):
        place[free[j]] = j
        for i in range(n):
            columns[j, i] = W[free[j], free[i]]
        columns[j, j] += rho[free[j]]
    for k in range(len(slips)):
        j = place[rows[k]] if rows[k] >= 0 else -1
        for i in range(n if j >= 0 else 0):
            columns[j, i] += follow[k] * W[slips[k], free[i]]
    return columns.T
