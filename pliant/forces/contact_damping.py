"""Normal damping at contacts: f = -k_d n (n . u), u the relative velocity, never so strong that contact pulls.

k_d = ratio sqrt(k m) per vertex, fading in with the normal force up to the load ``full``, so that the force is
continuous when contact begins; the sum of elastic and damping normal force stays >= 0. [QLB2021, DUCKS]
"""

from typing import Protocol

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.contact.contacts import ContactForces, Contacts, shared_forces
from pliant.contact.laws import damper


class ContactSprings(Protocol):
    """What contacts press with."""

    def loads(self, x: Array) -> tuple[Contacts, Array]:
        """Contacts and their normal forces f_n (c,) [N]."""
        ...

    def stiffnesses(self, contacts: Contacts) -> Array:
        """-df_n/dg (c,) [N/m]."""
        ...


class ContactDamping:
    """At the contacts of ``springs``, with ``k_d (n,)`` [N s/m] and ``full (n,)`` [N] per vertex.

    ``stiffness`` is zero. The force depends on x through how much the contact presses (`indefinite`) and through the
    normals, which is not symmetric.
    """

    name, normal = "contact damping", True

    def __init__(self, springs: ContactSprings, k_d: Array, full: Array) -> None:
        self._springs, self._k, self._full, self._n = springs, k_d, full, len(k_d)
        self._zero = sp.csr_matrix((3 * self._n, 3 * self._n))

    def _normal(self, x: Array, v: Array) -> tuple[Contacts, Array, Array, Array]:
        """Contacts, damping forces along the normals, their coefficients and how they change with the load (c,)."""
        contacts, f_n = self._springs.loads(x)
        u = contacts.relative(v.reshape(-1, 3)) - contacts.drift
        first = contacts.nodes[:, 0]
        law = damper((u * contacts.normals).sum(axis=1), f_n, self._k[first], self._full[first])
        return contacts, *law

    def pushes(self, x: Array, v: Array) -> ContactForces:
        contacts, f, _, _ = self._normal(x, v)
        return shared_forces(contacts, f[:, None] * contacts.normals)

    def linear_pushes(self, x: Array, v: Array, dv: Array) -> ContactForces:
        contacts, f, k, _ = self._normal(x, v)
        parting = (contacts.normals * contacts.relative(dv.reshape(-1, 3))).sum(axis=1)
        return shared_forces(contacts, (f - k * parting)[:, None] * contacts.normals)

    def force(self, x: Array, v: Array, t: float) -> Array:
        return self.pushes(x, v).spread(self._n)

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._zero

    def indefinite(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        """From a load that changes with x."""
        contacts, _, _, by_load = self._normal(x, v)
        n, slope = contacts.normals, -self._springs.stiffnesses(contacts) * by_load
        return contacts.assemble(slope[:, None, None] * n[:, :, None] * n[:, None, :], self._n)

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._damped(x, v, coupled=True)

    def persistent_damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        """Without the blocks that couple the two sides of a pair."""
        return self._damped(x, v, coupled=False)

    def _damped(self, x: Array, v: Array, *, coupled: bool) -> sp.csr_matrix:
        contacts, _, k, _ = self._normal(x, v)
        n = contacts.normals
        return contacts.assemble(-k[:, None, None] * n[:, :, None] * n[:, None, :], self._n, coupled=coupled)
