"""Barrier energies: infinite at contact, zero beyond the distance dhat, so that what starts apart stays apart.

    W = kappa sum_c m_c b(d_c),   b(d) = -(d^2 - dhat^2)^2 ln(d^2/dhat^2) for d < dhat        [Li2020, Eq. 6]

`SurfaceBarrier` sums over pairs of surface features (through the IPC Toolkit), `GapBarrier` over vertices near
obstacles whose free side is convex. Both limit steps (`limit`) so that no iterate ever crosses, and pull a stage's
first guess back to where the stage sets out from when it would come too close (`begin`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.contact.contacts import ContactForces, Contacts, Remembered, shared_forces
from pliant.contact.pose import Passage
from pliant.contact.surfaces import CAUTION, Surfaces
from pliant.errors import ConvergenceError
from pliant.pattern import csr


def barrier(d: Array, dhat: float) -> tuple[Array, Array, Array]:
    """b, b' and b'' [m^4, m^3, m^2] at distances d > 0."""
    u = np.minimum(d / dhat, 1.0)
    log, s = np.log(np.maximum(u, 1e-300)), u * u - 1.0
    b = -2.0 * dhat**4 * s * s * log
    db = -2.0 * dhat**3 * (4.0 * u * s * log + s * s / u)
    ddb = -2.0 * dhat**2 * ((12.0 * u * u - 4.0) * log + 7.0 * u * u - 6.0 - 1.0 / (u * u))
    return b, db, np.where(u < 1.0, ddb, 0.0)


class GapBarrier:
    """The barrier on gaps that ``geometry(x)`` lists (those below dhat; n vertices); ``everything(x)`` are all gaps."""

    def __init__(
        self,
        geometry: Callable[[Array], Contacts],
        everything: Callable[[Array], Array],
        kappa: float,
        dhat: float,
        n: int,
    ) -> None:
        self.name = "contact"
        self._geometry, self._gaps, self._kappa, self._dhat, self._n = geometry, everything, kappa, dhat, n

    def contacts(self, x: Array) -> Contacts:
        return self._geometry(x)

    def normal_force(self, contacts: Contacts) -> Array:
        return -self._kappa * barrier(contacts.gaps, self._dhat)[1]

    def loads(self, x: Array) -> tuple[Contacts, Array]:
        """Contacts and their normal forces (c,) [N]."""
        contacts = self._geometry(x)
        return contacts, self.normal_force(contacts)

    def pushes(self, x: Array) -> ContactForces:
        contacts, f_n = self.loads(x)
        return shared_forces(contacts, f_n[:, None] * contacts.normals)

    def value(self, x: Array) -> float:
        gaps = self._geometry(x).gaps
        if len(gaps) and not gaps.min() > 0.0:
            return float("inf")
        return self._kappa * float(barrier(gaps, self._dhat)[0].sum())

    def gradient(self, x: Array) -> Array:
        contacts = self._geometry(x)
        if len(contacts) and not contacts.gaps.min() > 0.0:
            return np.full_like(x, np.nan)
        return contacts.spread(-self.normal_force(contacts)[:, None] * contacts.normals, self._n)

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        """Semidefinite as it is: b decreases, and the distance to the border of a convex free side is concave."""
        contacts = self._geometry(x)
        _, db, ddb = barrier(contacts.gaps, self._dhat)
        n = contacts.normals
        B = ddb[:, None, None] * n[:, :, None] * n[:, None, :] + db[:, None, None] * contacts.curvature
        return contacts.assemble(self._kappa * B, self._n)

    def limit(self, x: Array, dx: Array, apart: float = 0.0) -> float:
        """The distance to a convex free side's border is concave along a line: its chord crosses zero first.

        All stay ``apart`` [m].
        """
        g0, g1 = self._gaps(x) - apart, self._gaps(x + dx) - apart
        crossing = g1 <= 0.0
        if not crossing.any():
            return float("inf")
        return CAUTION * float((g0[crossing] / (g0[crossing] - g1[crossing])).min())

    def nearest(self, x: Array) -> float:
        """The least gap [m], dhat if none is smaller."""
        return min(self._dhat, float(self._gaps(x).min(initial=np.inf)))

    def begin(self, x: Array, guess: Array, free: IntArray) -> Array:
        still = guess.copy()
        still[free] = x[free]
        if not self._gaps(still).min(initial=np.inf) > 0.0:
            return self._carried(still, free)
        blocked = self.limit(still, guess - still) < 1.0
        return still if blocked or self.value(guess) > self.value(still) else guess

    def _carried(self, still: Array, free: IntArray) -> Array:
        """Everything moved out of the way of the obstacle that has moved in."""
        contacts = self._geometry(still)
        worst = int(np.argmin(contacts.gaps))
        way = (0.5 * self._dhat - contacts.gaps[worst]) * contacts.normals[worst]
        moved = still.copy()
        moved[free] += np.tile(way, len(still) // 3)[free]
        if not self._gaps(moved).min() > 0.0:
            raise ConvergenceError(
                "an obstacle or a scripted vertex moves through a body in one step", where="contact", remedy="reduce h"
            )
        return moved

    def penetration(self, x: Array) -> tuple[int, float]:
        gaps = self._geometry(x).gaps
        return len(gaps), float(max(-gaps.min(initial=0.0), 0.0))


class SurfaceBarrier:
    """The barrier between surfaces, obstacles standing where ``passages`` end."""

    def __init__(self, surfaces: Surfaces, passages: list[Passage], kappa: float, dhat: float) -> None:
        self.name = "contact"
        self._surfaces, self._passages, self._kappa, self._dhat = surfaces, passages, kappa, dhat
        ipc = surfaces._ipc
        self._potential = ipc.BarrierPotential(dhat, kappa)
        self._projection = ipc.PSDProjectionMethod
        self._collisions = Remembered(self._collide)
        n = len(surfaces.skin)
        self._dofs = (3 * surfaces.skin[:, None] + np.arange(3)).ravel()
        self._own = 3 * n

    def _vertices(self, x: Array) -> Array:
        return self._surfaces.vertices(x, self._passages)

    def _collide(self, x: Array) -> tuple[Any, Array]:
        V = self._vertices(x)
        return self._surfaces.collisions(V, self._dhat), V

    def _touching(self, x: Array) -> tuple[Contacts, Array]:
        collisions, V = self._collisions(x)
        return self._surfaces.contacts(collisions, V, self._passages)

    def contacts(self, x: Array) -> Contacts:
        return self._touching(x)[0]

    def loads(self, x: Array) -> tuple[Contacts, Array]:
        """Contacts and their normal forces (c,) [N]."""
        contacts, factor = self._touching(x)
        return contacts, -self._kappa * factor * barrier(contacts.gaps, self._dhat)[1]

    def pushes(self, x: Array) -> ContactForces:
        """Of parallel edges also along the surfaces: their barrier fades with the angle between them."""
        collisions, V = self._collisions(x)
        own = [self._potential.gradient(c, c.dof(V, *self._surfaces.features)) for c in collisions]
        return self._surfaces.pushes(collisions, V, self._passages, [-g.reshape(-1, 3) for g in own])

    def value(self, x: Array) -> float:
        collisions, V = self._collisions(x)
        return float(self._potential(collisions, self._surfaces.mesh, V))

    def gradient(self, x: Array) -> Array:
        collisions, V = self._collisions(x)
        g = np.zeros_like(x)
        g[self._dofs] = self._potential.gradient(collisions, self._surfaces.mesh, V)[: self._own]
        return g

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        collisions, V = self._collisions(x)
        method = self._projection.CLAMP if psd else self._projection.NONE
        H = self._potential.hessian(collisions, self._surfaces.mesh, V, method)  # by columns, or rows: it is symmetric
        if H.shape[0] > self._own:
            H = H[: self._own, : self._own]
        H.sort_indices()
        entries = np.zeros(len(x) + 1, dtype=np.int64)
        entries[self._dofs + 1] = np.diff(H.indptr)
        indices, indptr = self._dofs[H.indices].astype(np.int32), np.cumsum(entries).astype(np.int32)
        return csr(H.data, indices, indptr, (len(x), len(x)))

    def persistent_hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        """Gauss-Newton, without the blocks that couple the two sides of a contact."""
        contacts, factor = self._touching(x)
        n = contacts.normals
        stiff = self._kappa * factor * barrier(contacts.gaps, self._dhat)[2]
        return contacts.assemble(stiff[:, None, None] * n[:, :, None] * n[:, None, :], len(x) // 3, coupled=False)

    def limit(self, x: Array, dx: Array, apart: float = 0.0) -> float:
        safe = self._surfaces.safe_step(self._vertices(x), self._vertices(x + dx), self._dhat, apart)
        return float("inf") if safe >= 1.0 else CAUTION * safe

    def nearest(self, x: Array) -> float:
        """The least distance [m], dhat if none is smaller."""
        return min(self._dhat, self._surfaces.nearest(self._vertices(x), self._dhat))

    def begin(self, x: Array, guess: Array, free: IntArray) -> Array:
        """The guess if nothing is in its way and it gains no barrier energy; else the bodies stay.

        If obstacles or scripts cannot move past them even so, they are carried along.
        """
        V0 = self._surfaces.vertices(x, self._passages, before=True)
        still = guess.copy()
        still[free] = x[free]
        passable = self._safe(V0, still)
        free_way = self._safe(V0, guess)
        if free_way and (not passable or self.value(guess) <= (1.0 + 1e-6) * self.value(still)):
            return guess
        if passable:
            return still
        carried = still.copy()
        pushed = (self._vertices(still) - V0).reshape(-1, 3)
        moving = np.linalg.norm(pushed, axis=1) > 0.0
        mean = pushed[moving].mean(axis=0) if moving.any() else np.zeros(3)
        carried[free] = x[free] + np.tile(mean, len(x) // 3)[free]
        if self._safe(V0, carried):
            return carried
        raise ConvergenceError(
            "an obstacle or a scripted vertex moves through a body in one step", where="contact", remedy="reduce h"
        )

    def _safe(self, V0: Array, x: Array) -> bool:
        return self._surfaces.safe_step(V0, self._vertices(x), self._dhat) >= 1.0

    def penetration(self, x: Array) -> tuple[int, float]:
        """Number of close pairs; a barrier has no penetration."""
        return len(self._collisions(x)[0]), 0.0
