"""Impulses of rows and of Coulomb friction on one matrix, in turns with the limits of friction.

    A u = b + G^T y + T^T z,      G u = e (y of any sign) or G u >= e (y >= 0),      |z| <= mu y + c

In the impulses this is  min 1/2 p^T W p + p^T (B A^-1 b - (e, s)),  p = (y, z),  B = (G, T),  W = B A^-1 B^T, with the
slip s of what moves by itself, if the bounds of z were known. They are taken from the last y, and found anew until
neither changes what it does to u. Staggered projections [Kaufman2008; Weidner2022, Alg. 3.1] renew y and z in turns as
well; solved for together they settle in a few turns where stacks took a hundred. Between turns Newton's method tries to
finish: once it is known who presses, sticks and slips which way, y and z = +-(mu y + c) follow from one linear system.
The impulses of equalities, of which cloth and joints have many, follow from all others and are eliminated first.
Whatever y and z are, u satisfies the first line: momentum is kept to rounding.

Rows that cannot all hold, and those that say the same and could share their impulse in any way, may keep the turns from
settling. They are then a little soft: they give way by a part of the velocity that their impulse alone changes, so that
there is a solution, and only one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtrs

from pliant.arrays import Array, IntArray
from pliant.budget import check_budget
from pliant.linear.box_qp import BoxSolution, BoxSolver, ProjectedNewton
from pliant.linear.inverse import Inverse
from pliant.linear.nonnegative import nonnegative
from pliant.linear.slipping import CHANGES, Slipping
from pliant.pattern import as_csr, stacked, transposed_times

Matrix = Any
SETTLED = 1e-9  # gradient of a solution that needs no turns, relative to its terms
CYCLING = 10  # turns after which impulses and limits are taken to chase each other, and limits go half as far
SAME = 1e-9  # pivots of rows, in their own diagonal entries, below which they say what others have said
MOST = 10  # changes of the set of rows that press, by their number
LEAST = 1 / 64  # part of the way to new limits that is always gone


@dataclass(frozen=True, eq=False)
class Slip:
    """Directions of friction: the slip T u - ``drift`` with T (s, n) and drift (s,) [m/s].

    ``rows (s,)`` are the inequality rows that press there, ``mu (s,)`` the coefficients, two directions per contact.
    Where the row is -1 nothing presses, and the direction is alone: a dry joint. ``bound (s,)`` [N s] is what a
    direction holds without being pressed.
    """

    T: Matrix
    drift: Array
    rows: IntArray
    mu: Array
    bound: Array

    def __len__(self) -> int:
        return len(self.drift)

    def after(self, first: int) -> "Slip":
        """The same where ``first`` other inequality rows come before those that press here."""
        return replace(self, rows=np.where(self.rows < 0, self.rows, self.rows + first))


def coulomb(T: Matrix, drift: Array, rows: IntArray, mu: Array) -> Slip:
    """Friction of contacts, with limits mu y and nothing else."""
    return Slip(T, drift, rows, mu, np.zeros(len(mu)))


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
        m, s = len(e), 0 if slip is None else len(slip)
        known = last is not None and len(last) == m + s
        y, share = np.split(last if known and last is not None else np.zeros(m + s), [m])
        B = stacked([as_csr(G)] if slip is None else [as_csr(G), as_csr(slip.T)])
        free, W = inverse.columns(b), inverse.gram(B)
        start = B @ free
        start[:m] -= e
        if slip is not None:
            start[m:] -= slip.drift
        k, W, start, follow = _inequalities(W, start, int(np.count_nonzero(lower < 0.0)))
        law, turns = (lower[k:], slip), 0
        for give in self.give:
            found = self._settled(_softened(W, law[0], give), start.copy(), law, y[k:], share if known else None)
            turns += found.iterations
            if found.converged:
                break
        p = np.concatenate([found.y, found.z])
        held = follow(p)
        p = np.concatenate([held, p])
        u, last = free + inverse.columns(transposed_times(B, p)), np.concatenate([held, found.last])
        return found._replace(u=u, y=p[:m], iterations=turns, last=last)

    def _settled(self, W: Array, start: Array, law: tuple[Array, Slip | None], y: Array, share: Array | None) -> Rubbed:
        """Impulses that obey the law, or the last ones; velocities are left out."""
        (lower, slip), none = law, np.zeros(0)
        m = len(lower)
        normal = self._pressed(W[:m, :m], start[:m], lower, np.maximum(y, lower))
        if slip is None or not len(slip):
            return Rubbed(none, normal.x, none, normal.converged, normal.iterations, 0.0, normal.x)
        pairs = m + np.flatnonzero(slip.rows >= 0)
        R = _turns(start[pairs] + W[pairs, :m] @ normal.x)
        W[pairs], start[pairs] = _turned(R, W[pairs]), _turned(R, start[pairs])
        W[:, pairs] = _turned(R, W[:, pairs].T).T
        pressing = slip.after(m - int(np.count_nonzero(lower == 0.0))).rows
        programme = Slipping(W, start, lower, pressing, slip.mu, slip.bound)
        begin = normal.x, None if share is None else np.concatenate([y, share * programme.limits(y)])
        p, limits, change, turn, good = self._agreed(programme, *begin)
        share = np.clip(p[m:] / np.maximum(limits, 1e-300), -1.0, 1.0)
        last = np.concatenate([p[:m], share])
        p[pairs] = _turned(np.swapaxes(R, 1, 2), p[pairs])
        return Rubbed(none, p[:m], p[m:], good, turn, change, last)

    def _pressed(self, W: Array, start: Array, lower: Array, y: Array) -> BoxSolution:
        """Impulses of the rows without friction; of those with the same effect the nearest to the guess y."""
        if len(y) and np.all(lower == 0.0):
            found, changes = nonnegative(W, start, y, MOST * len(y))
            if changes >= 0:
                programme = Slipping(W, start, lower, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0))
                return BoxSolution(programme.shared(found, y, SETTLED), True, changes + 1)
        return self.box.solve(W, -start, lower, np.full(len(lower), np.inf), y)

    def _agreed(self, programme: Slipping, normal: Array, last: Array | None) -> tuple[Array, Array, float, int, bool]:
        """Impulses, limits, last change, turns, whether they agree; by Newton's method where it finds them."""
        m, limits = len(normal), 0.0 * programme.mu
        p = np.concatenate([normal, limits])
        starts = [p] if last is None else [p, last]  # what slips on or turns round is far from where it was
        turn, change, good = 0, np.inf, True
        while turn < self.iterations and change > self.tolerance:
            check_budget()
            if turn % CYCLING == 0:  # Newton from where turns have led
                for begin in [p] if turn else starts:
                    settled = programme.solve(begin, SETTLED, min(CHANGES, self.iterations))
                    if settled is not None:
                        return settled.p, programme.limits(settled.p), 0.0, turn + settled.iterations, True
            if turn == 0 and last is not None:
                p = np.concatenate([normal, last[m:]])
            turn += 1
            relax = max(0.5 ** ((turn - 1) // CYCLING), LEAST)  # steep limits overshoot: shorter and shorter
            limits = limits + relax * (programme.limits(p) - limits)
            low, top = np.concatenate([programme.lower, -limits]), np.concatenate([np.full(m, np.inf), limits])
            box = self.box.solve(programme.W, -programme.start, low, top, np.clip(p, low, top))
            change = _effect(programme.W, box.x - p) / max(relax * _effect(programme.W, box.x), 1e-300)
            p, good = box.x, box.converged
        return p, limits, change, turn, good and change <= self.tolerance


def _inequalities(W: Array, start: Array, k: int) -> tuple[int, Array, Array, Callable[[Array], Array]]:
    """(k, W, start, follow) of all impulses but those of the first k rows, equalities: these follow from the others.

    y = -W_ee^-1 (start_e + W_ei p). Where such rows say the same, none is left out: k is 0.
    """
    factor, bad = dpotrf(W[:k, :k], lower=True) if k else (W[:k, :k], 0)
    if bad or not np.all(np.diag(factor) ** 2 > SAME * np.diag(W)[:k]):
        k, factor = 0, W[:0, :0]
    if not k:
        return 0, W, start, lambda p: np.zeros(0)
    X = dtrtrs(factor, np.column_stack([start[:k], W[:k, k:]]), lower=True)[0]
    y, X = X[:, 0], X[:, 1:]
    return k, W[k:, k:] - X.T @ X, start[k:] - X.T @ y, lambda p: -dtrtrs(factor, y + X @ p, lower=True, trans=1)[0]


def _softened(W: Array, lower: Array, give: float) -> Array:
    """A copy of W whose rows that press give way by a part of what their own impulse changes."""
    out, pressing = W.copy(), np.flatnonzero(lower == 0.0)
    out[pressing, pressing] *= 1.0 + give
    return out


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
