"""Dry friction on contacts, regularised at small sliding speeds: f_t = -phi(|u|) u/|u| with phi <= mu f_n.

u is the slip (`pliant.contact.slip`), which bodies that move as one do not have: friction between them has no torque in
total. There is no potential in general; when contacts and normal forces are frozen (lagged), f_t = -dP/dv with the
dissipation P(v) = sum_c integral of phi, along the way of a stage that comes from x - c v.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import ContactForces, Contacts, Remembered, entries
from pliant.contact.laws import rounded, stick_reach
from pliant.contact.slip import SlipMap, Slips
from pliant.pattern import empty, summed

Load = Callable[[Array], tuple[Contacts, Array]]  # x -> contacts and their normal forces


class Law(Protocol):
    """A regularisation of Coulomb's law."""

    def __call__(self, limit: Array, s: Array, vertex: IntArray) -> tuple[Array, Array, Array]:
        """phi/s, dphi/ds and the integral of phi, for slip limits mu f_n (c,), speeds s (c,) and first vertices."""
        ...


@dataclass(frozen=True, eq=False)
class StickSlip:
    """phi = mu f_n (2 y - y^2) with y = k_t s / (2 mu f_n) < 1, then mu f_n; ``k_t (n,)`` [N s/m] per vertex.

    Where that would let contacts under a heavy load creep faster than ``creep`` [m/s], y = s / creep: what moves faster
    slips.
    min(k_t s, mu f_n) of [QLB2021, sec. 4, after Geilinger 2020] with its kink rounded off, on which Newton's method
    can cycle; sticking contacts creep at about |f_t| / k_t.
    """

    k_t: Array
    creep: float = float("inf")

    def __call__(self, limit: Array, s: Array, vertex: IntArray) -> tuple[Array, Array, Array]:
        return _rounded(limit, s, stick_reach(limit, self.k_t[vertex], self.creep))


@dataclass(frozen=True)
class SmoothStick:
    """phi = mu f_n (2 y - y^2) with y = s / v_eps < 1, then mu f_n: once differentiable [Li2020, Eq. 14]."""

    v_eps: float

    def __call__(self, limit: Array, s: Array, vertex: IntArray) -> tuple[Array, Array, Array]:
        return _rounded(limit, s, np.full(len(s), self.v_eps))


def _rounded(limit: Array, s: Array, reach: Array) -> tuple[Array, Array, Array]:
    with np.errstate(over="ignore"):  # next to no load: slip is complete at once
        return rounded(limit, s, reach)


class FrictionForce:
    """``load(x)`` gives contacts and normal forces f_n (c,) of n vertices; ``mu(contacts)`` their coefficients (c,).

    ``lagged (n, 3)`` are the positions at which a load was found that does not depend on x; ``c`` [s] is the length of
    the stage. While the load does not change, ``damping`` and ``indefinite`` are the exact Jacobian of a stage:
    with u = (U(x) - U(x_0))/c it is B^T df/du B / c + sum_k f_k d^2 U_k/dx^2, B = dU/dx. Where it does,
    -mu t (df_n/dx)^T is left out, which is not symmetric and only slows Newton down.
    """

    name, normal = "friction", False

    def __init__(
        self,
        load: Load,
        mu: Callable[[Contacts], Array],
        law: Law,
        n: int,
        *,
        lagged: Array | None = None,
        c: float = 0.0,
    ) -> None:
        self._load, self._mu, self._law, self._n, self._c = load, mu, law, n, c
        self.lagged = lagged is not None
        self._frozen = None if lagged is None else self._loaded(lagged.reshape(-1, 3))
        self._zero = empty(3 * n, 3 * n)
        self._at = Remembered(self._found)

    def _loaded(self, x: Array) -> tuple[Slips, Array, Array]:
        """How contacts slip, their normal forces (c,) and the limits mu f_n (c,)."""
        contacts, f_n = self._load(x.ravel())
        return Slips(contacts, x), f_n, self._mu(contacts) * f_n

    def _found(self, x: Array, v: Array) -> tuple[Slips, Array, Array, Array, tuple[Array, Array, Array]]:
        """Slips, normal forces (c,), slip u (c, 2), its size (c,), and what the law says."""
        x = x.reshape(-1, 3)
        slips, f_n, limit = self._loaded(x) if self._frozen is None else self._frozen
        u = slips.rates(x, v.reshape(-1, 3), self._c)
        s = np.linalg.norm(u, axis=1)
        return slips, f_n, u, s, self._law(limit, s, slips.contacts.nodes[:, 0])

    def contact_forces(self, x: Array, v: Array) -> tuple[Contacts, Array, Array]:
        """Contacts, normal forces (c,) and friction forces (c, 3) on their first side."""
        slips, f_n, u, _, (rate, _, _) = self._at(x, v)
        along = slips.at(x.reshape(-1, 3)).t
        return slips.contacts, f_n, np.einsum("ck,cki->ci", -rate[:, None] * u, along)

    def pushes(self, x: Array, v: Array) -> ContactForces:
        slips, _, u, _, (rate, _, _) = self._at(x, v)
        here = slips.at(x.reshape(-1, 3))
        return ContactForces(slips.contacts, here.nodes, here.forces(-rate[:, None] * u))

    def linear_pushes(self, x: Array, v: Array, dv: Array) -> ContactForces:
        _, _, u, _, (rate, _, _) = self._at(x, v)
        here, contacts, D = self._rates(x, v)
        du = here.rates(dv.reshape(-1, 3))
        change = -rate[:, None] * du if self.lagged else np.einsum("ckl,cl->ck", D, du)  # the secant, as it brakes
        return ContactForces(contacts, here.nodes, here.forces(change - rate[:, None] * u))

    def _idle(self, x: Array) -> bool:
        """Whether nothing touches, as mostly."""
        return not len(self._load(x)[0]) if self._frozen is None else not len(self._frozen[1])

    def force(self, x: Array, v: Array, t: float) -> Array:
        return np.zeros(3 * self._n) if self._idle(x) else self.pushes(x, v).spread(self._n)

    def dissipation(self, x: Array, v: Array) -> float:
        """P(v) [W] with force = -dP/dv; half the dissipated power while sticking."""
        return float(self._at(x, v)[4][2].sum())

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._zero

    def indefinite(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        """From directions that turn with x."""
        if self._frozen is None or self._idle(x):
            return self._zero
        slips, _, u, _, (rate, _, _) = self._at(x, v)
        return summed(*entries(*slips.turning(x.reshape(-1, 3), -rate[:, None] * u)), self._n)

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        if self._idle(x):
            return self._zero
        here, _, D = self._rates(x, v)
        return here.assemble(D, self._n)

    def braking(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        """What makes the secant -f/|u| of df/du, where the load lags."""
        if not self.lagged or self._idle(x):
            return self._zero
        slips, _, _, _, (rate, _, _) = self._at(x, v)
        here, _, D = self._rates(x, v)
        return here.assemble(-rate[:, None, None] * np.eye(2) - D, self._n)

    def persistent_damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        """Without the blocks that couple the two sides of a pair, and without the couples."""
        here, contacts, D = self._rates(x, v)
        return contacts.assemble(np.einsum("cki,ckl,clj->cij", here.t, D, here.t), self._n, coupled=False)

    def _rates(self, x: Array, v: Array) -> tuple[SlipMap, Contacts, Array]:
        """How contacts slip, and df/du (c, 2, 2)."""
        slips, _, u, s, (rate, slope, _) = self._at(x, v)
        t = u / np.maximum(s, 1e-300)[:, None]
        D = -rate[:, None, None] * np.eye(2) + (rate - slope)[:, None, None] * t[:, :, None] * t[:, None, :]
        return slips.at(x.reshape(-1, 3)), slips.contacts, D
