"""Penalty energies of contacts: W = sum_c psi(g_c), g the gap, for any geometry that can list its contacts at x.

psi is the spring of `pliant.contact.laws`.

    gradient  sum_c psi'(g) w (x) n           Hessian  sum_c (w w^T) (x) psi'' n n^T + psi' grad^2 g

With psd=True the second term goes (it is negative for convex obstacles). Gaps are those of the places where things are:
they turn with them, so that forces between bodies have no torque. Vertex-face springs between bodies
[Weidner2022, sec. 5.4, after McAdams 2011] and the smoothed contact with obstacles [QLB2021, sec. 4, after Geilinger
2020] are this energy with different geometries.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.contact._formula_kernels import springs, turning_blocks
from pliant.contact.contacts import ContactForces, Contacts, entries, shared_forces
from pliant.pattern import empty


class ContactPenalty:
    """``geometry(x)`` lists the contacts of n vertices; ``k (n,)`` [N/m] per vertex; ``smoothing`` w [m]."""

    def __init__(
        self, geometry: Callable[[Array], Contacts], k: Array, *, smoothing: float = 0.0, name: str = "contact"
    ) -> None:
        self.name, self._geometry, self._k, self._w, self._n = name, geometry, k, smoothing, len(k)
        self._last: tuple[Contacts, tuple[Array, Array, Array]] | None = None

    def contacts(self, x: Array) -> Contacts:
        return self._geometry(x)

    def normal_force(self, contacts: Contacts) -> Array:
        """f_n = -psi'(g) >= 0 (c,) [N]."""
        return self._law(contacts)[1]

    def stiffnesses(self, contacts: Contacts) -> Array:
        """psi''(g) (c,) [N/m]."""
        return self._law(contacts)[2]

    def _law(self, contacts: Contacts) -> tuple[Array, Array, Array]:
        """psi, f_n and psi'' (c,)."""
        if self._last is None or self._last[0] is not contacts:  # a geometry may answer with the same ones again
            self._last = (contacts, springs(contacts.gaps, self._k, contacts.nodes, contacts.weights, self._w))
        return self._last[1]

    def loads(self, x: Array) -> tuple[Contacts, Array]:
        """Contacts and their normal forces (c,) [N]."""
        contacts = self._geometry(x)
        return contacts, self.normal_force(contacts)

    def pushes(self, x: Array) -> ContactForces:
        contacts, f_n = self.loads(x)
        return shared_forces(contacts, f_n[:, None] * contacts.normals)

    def linear_pushes(self, x: Array, way: Array) -> ContactForces:
        contacts, f_n = self.loads(x)
        closing = (contacts.normals * contacts.relative(way.reshape(-1, 3))).sum(axis=1)
        return shared_forces(contacts, (f_n - self.stiffnesses(contacts) * closing)[:, None] * contacts.normals)

    def value(self, x: Array) -> float:
        return float(self._law(self._geometry(x))[0].sum())

    def gradient(self, x: Array) -> Array:
        contacts = self._geometry(x)
        if not len(contacts):
            return np.zeros(3 * self._n)
        return contacts.spread(-self.normal_force(contacts)[:, None] * contacts.normals, self._n)

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        return self._assembled(x, psd=psd, coupled=True)

    def persistent_hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        """Without the blocks that couple the two sides of a pair: H_P of [QLB2021, sec. 3.3]."""
        return self._assembled(x, psd=psd, coupled=False)

    def _assembled(self, x: Array, *, psd: bool, coupled: bool) -> sp.csr_matrix:
        contacts = self._geometry(x)
        if not len(contacts):
            return empty(3 * self._n, 3 * self._n)
        _, pushed, stiff = self._law(contacts)
        n = contacts.normals
        B = stiff[:, None, None] * n[:, :, None] * n[:, None, :]
        if psd:
            return contacts.assemble(B, self._n, coupled=coupled)
        B = B - pushed[:, None, None] * contacts.curvature
        if not coupled:
            return contacts.assemble(B, self._n, coupled=False)
        touching = (contacts.other >= 0) & (contacts.gaps < 0.0)
        pairs = contacts.only(touching)  # their normals turn with their triangles
        if not len(pairs):
            return contacts.assemble(B, self._n)
        turned = turning_blocks(x.reshape(-1, 3), pairs.nodes, pairs.normals, -pushed[touching])
        return contacts.assemble(B, self._n, besides=entries(pairs.nodes, turned))

    def penetration(self, x: Array) -> tuple[int, float]:
        """Number of touching contacts and the deepest penetration [m]."""
        gaps = self._geometry(x).gaps
        return int((gaps < 0.0).sum()), float(max(-gaps.min(initial=0.0), 0.0))


class AnchoredPenalty:
    """Springs from vertices to the surface points x_s where they were found inside an obstacle.

    W = k/2 sum [ min(n . d, 0)^2 + alpha |d - (n . d) n|^2 ],  d = x - x_s, with x_s and n frozen at detection: the
    anisotropic penalty K = -k ((1 - alpha) n n^T + alpha I) of [ConJac2020, sec. 4.6] that cannot pull. It also resists
    sliding (alpha k), so friction is partly counted twice when it is used together with a friction law.
    """

    def __init__(
        self, contacts: Contacts, targets: Array, k: Array, alpha: float | Array, *, name: str = "contact"
    ) -> None:
        self.name, self._contacts, self._targets, self._n = name, contacts, targets, len(k)
        self._alpha = np.broadcast_to(alpha, len(contacts))
        self._stiff = k[contacts.nodes[:, 0]]

    def _split(self, x: Array) -> tuple[Array, Array]:
        """Normal depth min(n . d, 0) and tangential part of d."""
        d = x.reshape(-1, 3)[self._contacts.nodes[:, 0]] - self._targets
        n = self._contacts.normals
        depth = (d * n).sum(axis=1)
        return np.minimum(depth, 0.0), d - depth[:, None] * n

    def contacts(self, x: Array) -> Contacts:
        d = x.reshape(-1, 3)[self._contacts.nodes[:, 0]] - self._targets
        c = self._contacts
        gaps = (d * c.normals).sum(axis=1)
        return replace(c, gaps=gaps)

    def normal_force(self, contacts: Contacts) -> Array:
        return self._stiff * np.maximum(-contacts.gaps, 0.0)

    def stiffnesses(self, contacts: Contacts) -> Array:
        return self._stiff * (contacts.gaps < 0.0)

    def loads(self, x: Array) -> tuple[Contacts, Array]:
        contacts = self.contacts(x)
        return contacts, self.normal_force(contacts)

    def pushes(self, x: Array) -> ContactForces:
        return shared_forces(self._contacts, -self._pull(x))

    def linear_pushes(self, x: Array, way: Array) -> ContactForces:
        pulled = np.einsum("cij,cj->ci", self._blocks(x), self._contacts.relative(way.reshape(-1, 3)))
        return shared_forces(self._contacts, -self._pull(x) - pulled)

    def _pull(self, x: Array) -> Array:
        depth, slide = self._split(x)
        return self._stiff[:, None] * (depth[:, None] * self._contacts.normals + self._alpha[:, None] * slide)

    def value(self, x: Array) -> float:
        depth, slide = self._split(x)
        return 0.5 * float(self._stiff @ (depth**2 + self._alpha * (slide**2).sum(axis=1)))

    def gradient(self, x: Array) -> Array:
        return self._contacts.spread(self._pull(x), self._n)

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        return self._contacts.assemble(self._blocks(x), self._n)

    def _blocks(self, x: Array) -> Array:
        """The stiffness of every spring (c, 3, 3) [N/m]."""
        depth, _ = self._split(x)
        n = self._contacts.normals
        N = n[:, :, None] * n[:, None, :]
        B = (depth < 0.0)[:, None, None] * N + self._alpha[:, None, None] * (np.eye(3) - N)
        return self._stiff[:, None, None] * B

    def penetration(self, x: Array) -> tuple[int, float]:
        depth, _ = self._split(x)
        return int((depth < 0.0).sum()), float(-depth.min(initial=0.0))
