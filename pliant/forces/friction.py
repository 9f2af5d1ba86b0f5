"""Dry friction on contacts, regularised at small sliding speeds: f_t = -phi(|u|) u/|u| with phi <= mu f_n.

u is the tangential part of the relative velocity. There is no potential in general; when contacts and normal forces are
frozen (lagged), f_t = -dP/dv with the dissipation P(v) = sum_c integral of phi.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import Contacts

Load = Callable[[Array], tuple[Contacts, Array]]  # x -> contacts and their normal forces


class Law(Protocol):
    """A regularisation of Coulomb's law."""

    def __call__(self, limit: Array, s: Array, vertex: IntArray) -> tuple[Array, Array, Array]:
        """phi/s, dphi/ds and the integral of phi, for slip limits mu f_n (c,), speeds s (c,) and first vertices."""
        ...


@dataclass(frozen=True, eq=False)
class StickSlip:
    """phi = mu f_n (2 y - y^2) with y = k_t s / (2 mu f_n) < 1, then mu f_n; ``k_t (n,)`` [N s/m] per vertex.

    min(k_t s, mu f_n) of [QLB2021, sec. 4, after Geilinger 2020] with its kink rounded off, on which Newton's method
    can cycle; sticking contacts creep at about |f_t| / k_t.
    """

    k_t: Array

    def __call__(self, limit: Array, s: Array, vertex: IntArray) -> tuple[Array, Array, Array]:
        reach = 2.0 * np.maximum(limit, 1e-300) / np.maximum(self.k_t[vertex], 1e-300)  # where slip is complete [m/s]
        return _rounded(limit, s, reach)


@dataclass(frozen=True)
class SmoothStick:
    """phi = mu f_n (2 y - y^2) with y = s / v_eps < 1, then mu f_n: once differentiable [Li2020, Eq. 14]."""

    v_eps: float

    def __call__(self, limit: Array, s: Array, vertex: IntArray) -> tuple[Array, Array, Array]:
        return _rounded(limit, s, np.full(len(s), self.v_eps))


def _rounded(limit: Array, s: Array, reach: Array) -> tuple[Array, Array, Array]:
    """phi/s, dphi/ds and the integral of phi = limit (2 y - y^2), y = s / reach < 1, then limit."""
    with np.errstate(over="ignore"):  # next to no load: slip is complete at once
        y = np.minimum(s / reach, 1.0)
    rate = limit * np.where(y < 1.0, (2.0 - y) / reach, 1.0 / np.maximum(s, reach))
    work = limit * (reach * (y * y - y**3 / 3.0) + np.maximum(s - reach, 0.0))
    return rate, limit * (2.0 - 2.0 * y) / reach, work


class Friction:
    """``load(x)`` gives contacts and normal forces f_n (c,) of n vertices; ``mu(contacts)`` their coefficients (c,).

    ``lagged`` says that the load does not depend on x. Otherwise ``stiffness`` leaves out df_t/dx = -mu t (df_n/dx)^T:
    it is not symmetric, and only slows Newton down.
    """

    name = "friction"

    def __init__(self, load: Load, mu: Callable[[Contacts], Array], law: Law, n: int, *, lagged: bool = False) -> None:
        self._load, self._mu, self._law, self._n = load, mu, law, n
        self.lagged = lagged
        self._zero = sp.csr_matrix((3 * n, 3 * n))

    def _slip(self, contacts: Contacts, v: Array) -> tuple[Array, Array]:
        """Tangential velocity (c, 3) and its size."""
        u = contacts.relative(v.reshape(-1, 3)) - contacts.drift
        u = u - (u * contacts.normals).sum(axis=1)[:, None] * contacts.normals
        return u, np.linalg.norm(u, axis=1)

    def contact_forces(self, x: Array, v: Array) -> tuple[Contacts, Array, Array]:
        """Contacts, normal forces (c,) and friction forces (c, 3) on their first side."""
        contacts, f_n = self._load(x)
        u, s = self._slip(contacts, v)
        rate, _, _ = self._law(self._mu(contacts) * f_n, s, contacts.nodes[:, 0])
        return contacts, f_n, -rate[:, None] * u

    def on_contacts(self, x: Array, v: Array) -> tuple[Contacts, Array]:
        contacts, _, f = self.contact_forces(x, v)
        return contacts, f

    def force(self, x: Array, v: Array, t: float) -> Array:
        contacts, f = self.on_contacts(x, v)
        return contacts.spread(f, self._n)

    def dissipation(self, x: Array, v: Array) -> float:
        """P(v) [W] with force = -dP/dv; half the dissipated power while sticking."""
        contacts, f_n = self._load(x)
        _, s = self._slip(contacts, v)
        return float(self._law(self._mu(contacts) * f_n, s, contacts.nodes[:, 0])[2].sum())

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._zero

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._damped(x, v, coupled=True)

    def persistent_damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        """Without the blocks that couple the two sides of a pair."""
        return self._damped(x, v, coupled=False)

    def _damped(self, x: Array, v: Array, *, coupled: bool) -> sp.csr_matrix:
        contacts, f_n = self._load(x)
        u, s = self._slip(contacts, v)
        rate, slope, _ = self._law(self._mu(contacts) * f_n, s, contacts.nodes[:, 0])
        n, t = contacts.normals, u / np.maximum(s, 1e-300)[:, None]
        P = np.eye(3) - n[:, :, None] * n[:, None, :]
        T = t[:, :, None] * t[:, None, :]
        B = -rate[:, None, None] * P + (rate - slope)[:, None, None] * T
        return contacts.assemble(B, self._n, coupled=coupled)
