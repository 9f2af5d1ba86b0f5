"""Impulses of rows and of Coulomb friction on one matrix, in turns with the limits of friction.

    A u = b + G^T y + T^T z,      G u = e (y of any sign) or G u >= e (y >= 0),      |z| <= mu y

In the impulses this is  min 1/2 p^T W p + p^T (B A^-1 b - (e, s)),  p = (y, z),  B = (G, T),  W = B A^-1 B^T, with the
slip s of what moves by itself, if the bounds of z were known. They are taken from the last y, and found anew until
neither changes what it does to u. Staggered projections [Kaufman2008; Weidner2022, Alg. 3.1] renew y and z in turns as
well; solved for together they settle in a few turns where stacks took a hundred. Between turns Newton's method tries to
finish: once it is known who presses, sticks and slips which way, y and z = +-mu y follow from one linear system.
Whatever y and z are, u satisfies the first line: momentum is kept to rounding.

Rows that cannot all hold, and those that say the same and could share their impulse in any way, may keep the turns from
settling. They are then a little soft: they give way by a part of the velocity that their impulse alone changes, so that
there is a solution, and only one.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.linear.box_qp import BoxSolver, ProjectedNewton
from pliant.linear.inverse import Inverse

Matrix = Any
PATIENCE = 3  # turns before Newton's method tries, and tries again
CHANGES = 20  # of who sticks and slips, per try
CYCLING = 10  # turns after which impulses and limits are taken to chase each other, and limits go half as far
LEAST = 1 / 64  # part of the way to new limits that is always gone


@dataclass(frozen=True, eq=False)
class Slip:
    """Directions of friction, two per contact: the slip T u - ``drift`` with T (s, n) and drift (s,) [m/s].

    ``rows (s,)`` are the inequality rows that press there, ``mu (s,)`` the coefficients.
    """

    T: Matrix
    drift: Array
    rows: IntArray
    mu: Array

    def __len__(self) -> int:
        return len(self.drift)


class Rubbed(NamedTuple):
    """Velocities u (n,), impulses y of the rows and z of the slip directions [N s], and how well they agree.

    ``residual`` is the last change of the impulses by their effect on u, relative. ``last (m + s,)`` starts the next
    step: impulses of the rows, and those of friction as parts of their limits.
    """

    u: Array
    y: Array
    z: Array
    converged: bool
    iterations: int
    residual: float
    last: Array


@dataclass(frozen=True)
class Staggered:
    """Turns end when impulses change by less than ``tolerance``, measured by their effect on the velocities.

    Friction is a pyramid: the first of the two directions of a contact is turned to where it would slip without.
    ``give`` are the parts by which rows give way, tried one after the other for ``iterations`` turns each: what rests
    on rows of 1e-6 sinks in by this part of the way it falls in a step, 2.5e-10 m in 5 ms.
    """

    tolerance: float = 1e-8
    iterations: int = 60
    give: tuple[float, ...] = (0.0, 1e-6, 1e-4)
    box: BoxSolver = field(default_factory=ProjectedNewton)

    def solve(
        self,
        inverse: Inverse,
        b: Array,
        rows: tuple[Matrix, Array, Array],
        slip: Slip | None,
        last: Array | None = None,
    ) -> Rubbed:
        """``inverse`` is A^-1; ``rows`` are (G, e, lower) with lower -inf for equalities, else 0.

        ``last (m + s,)`` is the start that the last step left; it is used where the numbers of contacts are the same.
        """
        G, e, lower = rows
        m = len(e)
        B = sp.csr_matrix(G) if slip is None else sp.csr_matrix(sp.vstack([sp.csr_matrix(G), sp.csr_matrix(slip.T)]))
        free = inverse.columns(b)
        start = B @ free
        start[:m] -= e
        if slip is not None:
            start[m:] -= slip.drift
        law = Law(inverse.gram(B), start, lower, slip)
        last = None if last is None or len(last) != len(start) else last
        found, turns = self._settled(law, last), 0
        for give in self.give[1:]:
            if found.converged:
                break
            turns += found.iterations
            found = self._settled(law.softened(give), last)
        u = free + inverse.columns(B.T @ np.concatenate([found.y, found.z]))
        return found._replace(u=u, iterations=turns + found.iterations)

    def _settled(self, law: "Law", last: Array | None) -> Rubbed:
        """Impulses that obey the law, or those of the last turn; velocities are left out."""
        m, slip, lower, none = len(law.lower), law.slip, law.lower, np.zeros(0)
        high = np.full(m, np.inf)
        y, share = np.split(np.zeros(len(law.start)) if last is None else last, [m])
        normal = self.box.solve(law.W[:m, :m], -law.start[:m], lower, high, np.maximum(y, lower))
        if slip is None or not len(slip):
            return Rubbed(none, normal.x, none, normal.converged, normal.iterations, 0.0, normal.x)
        R = _turns(law.start[m:] + law.W[m:, :m] @ normal.x)
        law = law.turned(R)
        p, limits, change, turn, good = np.concatenate([normal.x, 0.0 * slip.mu]), 0.0 * slip.mu, np.inf, 0, True
        found = _finished(law, p if last is None else np.concatenate([y, share * law.limits(y)]), self)
        p, change, turn = (p, change, turn) if found is None else found
        while turn < self.iterations and change > self.tolerance:
            turn += 1
            # steep limits overshoot: shorter and shorter
            relax = max(0.5 ** ((turn + CYCLING - 1) // CYCLING - 1), LEAST)
            limits = limits + relax * (law.limits(p) - limits)
            low, top = np.concatenate([lower, -limits]), np.concatenate([high, limits])
            if turn == 1:
                p[m:] = share * limits
            box = self.box.solve(law.W, -law.start, low, top, np.clip(p, low, top))
            change = _effect(law.W, box.x - p) / max(relax * _effect(law.W, box.x), 1e-300)
            p, good = box.x, box.converged
            if turn % PATIENCE == 0 and change > self.tolerance:
                found = _finished(law, p, self)
                p, change, good = (p, change, good) if found is None else (*found[:2], True)
        last = np.concatenate([p[:m], np.clip(p[m:] / np.maximum(law.limits(p), 1e-300), -1.0, 1.0)])
        z = _turned(np.swapaxes(R, 1, 2), p[m:])
        return Rubbed(none, p[:m], z, good and change <= self.tolerance, turn, change, last)


class Law(NamedTuple):
    """What p = (y, z) obeys: W p + start = 0 unless y is at ``lower`` or |z| at mu y; ``slip`` says whose y."""

    W: Array
    start: Array
    lower: Array
    slip: Slip | None

    @property
    def rubbing(self) -> tuple[Array, IntArray]:
        """Coefficients of the directions of friction, and the rows that press there."""
        assert self.slip is not None
        return self.slip.mu, len(self.lower) - int(np.count_nonzero(self.lower == 0.0)) + self.slip.rows

    def limits(self, p: Array) -> Array:
        mu, pressing = self.rubbing
        return mu * np.maximum(p[pressing], 0.0)

    def softened(self, give: float) -> "Law":
        """With rows that press and give way."""
        W, pressing = self.W.copy(), np.flatnonzero(self.lower == 0.0)
        W[pressing, pressing] *= 1.0 + give
        return self._replace(W=W)

    def turned(self, R: Array) -> "Law":
        """With the directions of friction turned by R (k, 2, 2)."""
        m, W, start = len(self.lower), self.W.copy(), self.start.copy()
        W[m:], start[m:] = _turned(R, W[m:]), _turned(R, start[m:])
        W[:, m:] = _turned(R, W[:, m:].T).T
        return self._replace(W=W, start=start)

    def drawn(self, p: Array) -> tuple[Array, Array, Array]:
        """Where a Jacobi step leads from p, the weights of it, and the limits of friction."""
        d = self.W.diagonal()
        d = np.maximum(d, 1e-12 * float(d.max(initial=1e-300)))
        return p - (self.W @ p + self.start) / d, d, self.limits(p)

    def error(self, p: Array) -> float:
        """How far p is from obeying: what projecting that step changes, by its effect on u, relative."""
        guess, d, limit = self.drawn(p)
        m = len(self.lower)
        bounded = np.concatenate([np.maximum(guess[:m], self.lower), np.clip(guess[m:], -limit, limit)])
        return float(np.sqrt((p - bounded) ** 2 @ d)) / max(_effect(self.W, p), 1e-300)

    def solved(self, p: Array, held: Array) -> Array:
        """Impulses of those not ``held``: 0 free, -1 and 1 at a limit that follows y, 2 at zero."""
        m, count, (mu, pressing) = len(self.lower), len(p), self.rubbing
        free = np.flatnonzero(held == 0.0)
        slipping = np.flatnonzero(np.abs(held[m:]) == 1.0)
        follow, rows = held[m + slipping] * mu[slipping], pressing[slipping]  # z = follow y
        A = self.W[free]
        np.add.at(A.T, rows, follow[:, None] * self.W[m + slipping][:, free])  # W is symmetric
        A, d = A[:, free], self.drawn(p)[1][free]
        A[np.diag_indices(len(free))] += 1e-9 * d
        found = np.zeros(count)
        found[free] = np.linalg.solve(A, 1e-9 * d * p[free] - self.start[free])
        found[m + slipping] = follow * found[rows]
        return found


def _finished(law: Law, p: Array, limits: Staggered) -> tuple[Array, float, int] | None:
    """The solution, its error and how often the sets changed, if Newton's method finds it from p."""
    m, last, again = len(law.lower), np.zeros(0), False
    for k in range(min(CHANGES, limits.iterations)):
        guess, _, limit = law.drawn(p)
        held = np.where(guess[m:] >= limit, 1.0, np.where(guess[m:] <= -limit, -1.0, 0.0))
        pressed = guess[:m] > law.lower
        held = np.concatenate([np.where(pressed, 0.0, 2.0), np.where(pressed[law.rubbing[1]], held, 2.0)])
        same = np.array_equal(held, last)
        if same and again:
            return None
        again = same  # once more with the same sets: less is proximal
        try:
            p, last = law.solved(p, held), held
        except np.linalg.LinAlgError:
            return None
        error = law.error(p)
        if same and error <= limits.tolerance:
            return p, error, k
    return None


def _turns(slip: Array) -> Array:
    """Rotations (k, 2, 2) whose first axis points where each contact would slip; the identity where it would not."""
    s = slip.reshape(-1, 2)
    speed = np.linalg.norm(s, axis=1)
    moving = speed > 1e-12 * max(float(speed.max(initial=0.0)), 1e-300)
    c, d = np.where(moving[:, None], s / np.maximum(speed, 1e-300)[:, None], [1.0, 0.0]).T
    return np.stack([np.stack([c, d], axis=1), np.stack([-d, c], axis=1)], axis=1)


def _turned(R: Array, x: Array) -> Array:
    """R applied to pairs of rows of x (2k,) or (2k, n)."""
    return np.einsum("kij,kj...->ki...", R, x.reshape(len(R), 2, *x.shape[1:])).reshape(x.shape)


def _effect(W: Array, x: Array) -> float:
    """sqrt(x^T W x): how much impulses x do to the velocities, in the norm of A."""
    return float(np.sqrt(max(float(x @ (W @ x)), 0.0)))
