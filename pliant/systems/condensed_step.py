"""One linearised step of vertices of which most follow a few. [ConJac2020; Weidner2022, ch. 4]

    J^T (M - h D - beta h^2 K) J u = J^T (M v + h (f - D v)),    v = J u + w,    x += h v - gamma K_qq^-1 f_q

f, K, D and the condensation Jacobian J are taken at a guess, usually the old positions. w is what the prescribed
coordinates cause. Coordinates of bodies that are not condensed move by themselves: their columns of J are the identity.
"""

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.clock import Clock
from pliant.energies.base import Pressing
from pliant.energies.shifted import Shifted
from pliant.linear.base import LinearSolver
from pliant.linear.inverse import Matrix
from pliant.maps.condensation import Condensed, follow
from pliant.state import State
from pliant.systems.condensed_inertia import share
from pliant.systems.condensed_plan import CondensedMoment, Guess, capped
from pliant.systems.elastodynamics import Elastodynamics
from pliant.velocity_programme import project
from pliant.velocity_step import Block, Linearisation, Moved


@dataclass(frozen=True)
class Followers:
    """How vertices follow: ``gamma`` is the part of the force left on them that a step removes (0: none), with
    ``cap`` the part of its length by which that may change an edge. ``inertial`` subtracts the inertia of all following
    vertices from that force, not only where no pin holds a piece.
    """

    gamma: float
    cap: float
    inertial: bool
    linear: LinearSolver


@dataclass(frozen=True, eq=False)
class LinearisedMoment:
    """f, K, D of a moment at a guess, what is condensed from them, and A = M - h D - beta h^2 K."""

    now: CondensedMoment
    guess: Guess
    beta: float
    f: Array
    K: sp.csr_matrix
    D: sp.csr_matrix
    w: Array  # (N,) velocities that the prescribed coordinates alone cause
    condensed: Condensed
    closing: Array  # (N,) what the force of contacts where the old velocities lead to adds to f

    @cached_property
    def A(self) -> sp.csr_matrix:
        system, h = self.now.system, self.now.h
        M = system.mass(self.now.state.q)
        return system.weighted_sum([(1.0, M), (-h, self.D), (-self.stiff, self.K)])

    @cached_property
    def J(self) -> Matrix:
        """From u to the free velocities: leading coordinates first, then those of bodies that are not condensed."""
        free, inside = self.now.system.free, self.now.inside
        if len(inside) == len(free):
            return self.condensed.J
        among = np.searchsorted(free, inside)
        others = np.delete(np.arange(len(free)), among)
        place = sp.csr_matrix((np.ones(len(inside)), (among, np.arange(len(inside)))), shape=(len(free), len(inside)))
        alone = sp.csr_matrix((np.ones(len(others)), (others, np.arange(len(others)))), shape=(len(free), len(others)))
        return sp.csr_matrix(sp.hstack([place @ sp.csr_matrix(self.condensed.J), alone]))

    def momentum(self) -> Array:
        """b (N,) = M v + h (f + closing - D v) - beta h^2 K v_guess."""
        now, moved = self.now, self.guess.moved
        kept = now.system.mass(now.state.q) @ now.state.v
        led = self.stiff * (self.K @ moved) if moved.any() else 0.0
        return kept + now.h * (self.f + self.closing - self.D @ self.guess.velocity) - led

    def projected(self, b: Array) -> tuple[Matrix, Array]:
        """J^T A J and J^T (b - A w); without A where all that is free leads or follows: most of K J is zero."""
        now, system = self.now, self.now.system
        b = (b - self.times(self.w))[system.free]
        if len(now.inside) < len(system.free):
            return project(self.J, system.restrict(self.A), b)
        J, M, D = self.condensed.J, system.mass(now.state.q), self.D
        A = J.T @ (system.restrict(M - now.h * D if D.nnz else M) @ J) - self.stiff * self.condensed.stiffness
        return 0.5 * (A + A.T), J.T @ b

    def times(self, v: Array) -> Array:
        """A v (N,)"""
        if not v.any():
            return np.zeros_like(v)
        now = self.now
        return now.system.mass(now.state.q) @ v - now.h * (self.D @ v) - self.stiff * (self.K @ v)

    @property
    def stiff(self) -> float:
        return self.beta * self.now.h**2

    def lifted(self, u: Array) -> Array:
        """All velocities J u + w (N,)."""
        v = self.w.copy()
        v[self.now.system.free] += self.J @ u
        return v

    def correction(self, inertia: Array, how: Followers) -> Array:
        """-gamma K_qq^-1 f_q [ConJac2020, Eq. 12], f where it was linearised; inertia where nothing holds."""
        if not how.gamma:
            return np.zeros_like(inertia)
        dx, _ = self.balanced(self.f, inertia, self.condensed.others[:, 0], how.inertial)
        return capped(how.gamma * dx, self.now.plan, how.cap)

    def balanced(self, f: Array, inertia: Array, follows: Array, inertial: bool) -> tuple[Array, Array]:
        """dx = -K_qq^-1 (f - theta inertia)_q, where ``follows`` is that without inertia; and theta inertia."""
        now, inside = self.now, self.now.inside
        dx, kept = np.zeros_like(f), inertia
        dx[inside] = follows
        if inertia.any():
            response = self.condensed.correction(inertia[inside])
            if not inertial:
                piece = np.repeat(now.plan.pieces.piece, now.system.X.shape[1])[inside]
                theta = share(f[inside], inertia[inside], response, piece)
                kept = inertia.copy()
                kept[inside] *= theta
                response = theta * response
            dx[inside] -= response
        return dx, kept


def linearised(
    now: CondensedMoment, guess: Guess, beta: float, how: Followers, analysis: object, clock: Clock, *, psd: bool
) -> LinearisedMoment:
    """f, K, D and J at the guess; contacts where the old velocities lead to (see `foreseen`)."""
    system, driven, velocity = now.system, now.driven(), guess.velocity
    q = now.state.q + beta * (now.h * guess.moved + guess.shift)
    with clock("force"):
        f = system.force(q, velocity, now.end)
        ahead, closing = foreseen(now, q, guess, beta)
    with clock("fill"):
        K = ahead.stiffness(q, velocity, now.end, psd=psd)
        D = system.damping(q, velocity, now.end)
    with clock("factor"):
        own = system.restrict(K) if now.plan.inside is None else sp.csr_matrix(K[now.inside][:, now.inside])
        known = follow(own, now.leading, how.linear, analysis, now.anchoring(), now.plan.means)
    with clock("solve"):
        others = [f[now.inside]] if how.gamma else []
        if driven.any():
            others.append((K @ driven)[now.inside])
        condensed = known.condensed(np.stack(others, axis=1) if others else np.zeros((len(now.inside), 0)))
    w = driven.copy()
    if driven.any():
        w[now.inside] = condensed.others[:, -1]
    return LinearisedMoment(now, guess, beta, f, K, D, w, condensed, closing)


def foreseen(now: CondensedMoment, q: Array, guess: Guess, beta: float) -> tuple[Elastodynamics, Array]:
    """The system with contacts as they are where the old velocities lead to, and what that adds to f(q).

    Linearised where it starts, a step does not see what it runs into, and the next one is thrown back by springs that
    nobody has tensed. With the force f_c at x_c = x_0 + h v_0 and f_c + beta h K_c (v - v_0), a vertex with the normal
    velocity v_0 < 0 leaves with at most -v_0, for every stiffness and 1/2 <= beta <= 1.
    """
    contact = [e for e in now.system.energy_terms if isinstance(e, Pressing)]
    nothing = np.zeros_like(q)
    if not contact:
        return now.system, nothing
    old = now.unhindered()  # in every linearisation: where the last one led, the contacts it met no longer press
    way = now.state.q + now.h * old + guess.shift - q
    late = [Shifted(e, way) for e in contact]
    others = tuple(e for e in now.system.energy_terms if not isinstance(e, Pressing))
    system = copy(now.system)
    system.energy_terms = (*others, *late)
    closing = nothing
    for before, after in zip(contact, late, strict=True):
        rest = after.hessian(q, psd=True) @ (old - guess.moved)
        closing = closing + before.gradient(q) - after.gradient(q) + beta * now.h * rest
    return system, closing


def inertia_of(now: CondensedMoment, v: Array, inertial: bool) -> Array:
    """M (v - v_0) / h where the residual must contain it, else zero."""
    pieces = now.plan.pieces
    if not inertial and pieces.held.all():
        return np.zeros_like(v)
    held = np.repeat(pieces.held[pieces.piece], now.system.X.shape[1])
    return np.where(held & (not inertial), 0.0, now.system.mass(v) @ (v - now.state.v) / now.h)


class CondensedStep:
    """Leading vertices in the middle of a velocity step: u are their velocities, and those of bodies not condensed.

    What it keeps is (plan, analysis), both rebuilt where they are lost.
    """

    def __init__(self, now: CondensedMoment, following: Followers, how: Linearisation, analysis: object) -> None:
        self.now, self.following, self.how = now, following, how
        rest = np.zeros_like(now.state.v)
        guess = Guess(now.state.v, now.unhindered() if how.ahead else rest, np.zeros_like(now.state.q))
        self._local = linearised(now, guess, how.beta, following, analysis, Clock(), psd=how.psd)

    @cached_property
    def block(self) -> Block:
        local, system, q = self._local, self.now.system, self.now.state.q
        A, b = local.projected(local.momentum())
        x, P, w = np.zeros((0, 3)), sp.csr_matrix((0, len(b))), None
        if self.how.points:
            x, points = system.positions(q), system.point_jacobian(q)
            P, w = sp.csr_matrix(points[:, system.free] @ sp.csr_matrix(local.J)), points @ local.w
        return Block(A, b, x, P, w=w, guess=self._old())

    def _old(self) -> Array:
        """u of the old velocities."""
        free, inside, v, means = self.now.system.free, self.now.inside, self.now.state.v, self.now.plan.means
        mine = v[inside] if means is None else means.W @ v[inside]
        return np.concatenate([mine[self._local.condensed.dynamic], v[np.setdiff1d(free, inside)]])

    def reach(self, u: Array, h: float) -> float:
        return h

    def finish(self, u: Array, equality: Array, inequality: Array, h: float) -> Moved:
        now, local = self.now, self._local
        v = local.lifted(u)
        dx = local.correction(inertia_of(now, v, self.following.inertial), self.following)
        q = now.system.prescribe(now.state.q + h * v, now.end) + dx
        return Moved(State(q, v, now.end), (now.plan, local.condensed.factor.memory))
