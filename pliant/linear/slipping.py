"""Impulses of rows and friction with limits that follow the rows, by Newton's method on which of them hold.

    0 = W p + start   where nothing holds,     y = 0   where a row lets go,     z = +-mu y   where a contact slips

A limit that follows its row is one more linear equation: once it is known which contacts press, stick and slip (and to
which side), one dense solve ends it. Limits that are held still and renewed in turns converge like a series, if at all.
The sets are those that p - (W p + start)/diag W crosses, as in `ProjectedNewton`; they need not settle, for W times
the friction of slipping contacts is not symmetric: then there is no answer here.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.budget import check_budget

CHANGES = 15  # of the sets
PROXIMAL = 1e-10  # of diag W: rows may say the same twice


class Settled(NamedTuple):
    """Impulses (m + s,), and how many solves they took."""

    p: Array
    iterations: int


@dataclass(frozen=True, eq=False)
class Slipping:
    """The programme: W (n, n) and ``start (n,)`` over m rows and s slips; ``lower (m,)`` is 0, or -inf for equalities.

    ``pressing (s,)`` is the row that presses where each slip is, ``mu (s,)`` its coefficient.
    """

    W: Array
    start: Array
    lower: Array
    pressing: IntArray
    mu: Array

    def solve(self, p: Array, tolerance: float, changes: int = CHANGES) -> Settled | None:
        """From the guess p; None where the sets do not settle, or what they give is no solution."""
        held, scale = np.full(len(p), np.nan), np.diag(self.W) + 1e-300
        for k in range(changes):
            check_budget()
            now = self._held(p - (self.W @ p + self.start) / scale, self.limits(p))
            settled, held = np.array_equal(now, held), now
            found = self._solved(held, p, PROXIMAL * scale)  # once more where they have settled: less is proximal
            if found is None:
                return None
            if settled:
                return Settled(found, k) if self._error(found) <= tolerance else None
            p = found
        return None

    def limits(self, p: Array) -> Array:
        """mu y (s,): how much friction there may be."""
        return self.mu * np.maximum(p[self.pressing], 0.0)

    def _held(self, guess: Array, limits: Array) -> Array:
        """0 where nothing holds; rows at 0 are -1; slips are the sign of their limit, and 2 where nothing presses."""
        m = len(self.lower)
        rows = np.where(guess[:m] <= self.lower, -1.0, 0.0)
        z = guess[m:]
        slips = np.where(np.abs(z) > limits, np.sign(z), 0.0)
        return np.concatenate([rows, np.where(rows[self.pressing] < 0.0, 2.0, slips)])

    def _solved(self, held: Array, p: Array, rho: Array) -> Array | None:
        """The impulses if exactly these hold, with a proximal term towards p."""
        m, free = len(self.lower), np.flatnonzero(held == 0.0)
        slips = np.flatnonzero(np.abs(held[m:]) == 1.0)
        follow, rows = held[m + slips] * self.mu[slips], self.pressing[slips]  # z = follow y
        M = self.W[free]
        np.add.at(M.T, rows, follow[:, None] * self.W[m + slips][:, free])  # W is symmetric
        M = M[:, free]
        M[np.diag_indices(len(free))] += rho[free]
        try:
            x = np.linalg.solve(M, (rho * p - self.start)[free])
        except np.linalg.LinAlgError:
            return None
        found = np.zeros_like(p)
        found[free] = x
        found[m + slips] = follow * found[rows]
        return found if np.isfinite(x).all() else None

    def _error(self, p: Array) -> float:
        """The largest entry of the gradient that pushes against no bound, relative; inf beyond a bound."""
        r, limits = self.W @ p + self.start, self.limits(p)
        low, high = np.concatenate([self.lower, -limits]), np.concatenate([np.full(len(self.lower), np.inf), limits])
        slack = 1e-9 * float(np.abs(p).max(initial=0.0))
        if np.any(p < low - slack) or np.any(p > high + slack):
            return np.inf
        pushes = ((p <= low + slack) & (r >= 0.0)) | ((p >= high - slack) & (r <= 0.0))
        return float(np.abs(np.where(pushes, 0.0, r)).max(initial=0.0)) / (float(np.abs(self.start).max()) + 1e-300)
