"""Strain-rate ("Green") damping, from the dissipation density phi = mu ||Edot||^2 with Edot = sym(F^T Fdot) [QLB2021].

    P = d phi/dFdot = mu F (F^T Fdot + Fdot^T F),     f = -sum_e V_e P_e : grad N,     mu in Pa s

It does no work on rigid motion, and v.f <= 0 always. The tables give a number c "relative to E": mu = c E.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import MaterialError
from pliant.kernels import assembly
from pliant.kernels.green import green
from pliant.kernels.rest import elements
from pliant.kernels.specialise import Choice
from pliant.materials.base import parameter, require
from pliant.pattern import Pattern


class GreenDamping:
    """Damping of elements T over rest positions X (see `Elastic`) with viscosity ``mu`` [Pa s], a number or (m,).

    ``damping`` is exact, symmetric and negative semidefinite. ``stiffness`` is zero: the true df/dx is not symmetric
    (see `exact_stiffness`), and leaving it out changes only the rate at which Newton converges, never the root.
    """

    def __init__(
        self,
        X: Array,
        T: IntArray,
        mu: Any,
        n: int | None = None,
        *,
        thickness: float | None = None,
        name: str = "damping",
    ) -> None:
        mu = np.atleast_1d(parameter(mu, "mu", "Pa*s"))
        require(mu >= 0.0, mu, "mu", "is negative: that would add energy")
        self.name = name
        self.elements = elements(X, T, n, thickness)
        place, pattern = self.elements.place, self.elements.pattern
        if len(mu) not in (1, place.m):
            raise MaterialError(f"mu has {len(mu)} values for {place.m} elements", where=name)
        self._mu = np.broadcast_to(mu, place.m)
        self._table, self._stride = place.table(mu[:, None])
        self._forces, self._matrix = green(Choice(self.elements.kind, place.parallel))
        self._pattern = Pattern(pattern.indptr, pattern.indices)
        self._zero = sp.csr_matrix((self._pattern.size, self._pattern.size))

    def force(self, x: Array, v: Array, t: float = 0.0) -> Array:
        """f(x, v) (N,) [N]."""
        place = self.elements.place
        x, v = self.elements.flat(x), self.elements.flat(v)
        local = np.zeros(place.sums.size)
        self._forces(x, v, place.T, place.G, self._table, self._stride, place.L, place.m, local)
        return -assembly.sum_nodes(place, local)

    def stiffness(self, x: Array, v: Array, t: float = 0.0) -> sp.csr_matrix:
        """Zero: df/dx is dropped."""
        return self._zero

    def damping(self, x: Array, v: Array, t: float = 0.0) -> sp.csr_matrix:
        """df/dv (N, N), negative semidefinite, of constant pattern; it depends on x only."""
        place, pattern = self.elements.place, self.elements.pattern
        local = np.zeros(pattern.blocks.size)
        self._matrix(
            self.elements.flat(x), place.T, place.G, self._table, self._stride, False, pattern.E, place.m, local
        )
        return self._pattern.matrix(-assembly.sum_blocks(place, pattern, local))

    def exact_stiffness(self, x: Array, v: Array, t: float = 0.0) -> sp.csr_matrix:
        """df/dx with dP[X] = mu (X (F^T Fdot + Fdot^T F) + F X^T Fdot + F Fdot^T X): not symmetric."""
        rest = self.elements
        k, d = rest.nodes.shape[1], rest.kind.dim
        F, rate = rest.deformation(x), rest.deformation(v)
        g = np.zeros((len(F), k, k - 1))  # shape gradients of all nodes
        g[:, 1:] = rest.gradients[:, : k - 1, : k - 1]
        g[:, 0] = -g[:, 1:].sum(axis=1)
        S = np.einsum("mic,mid->mcd", F, rate)
        S = S + S.swapaxes(1, 2)
        first = np.einsum("mac,mcd,mbd->mab", g, S, g)[:, :, None, :, None] * np.eye(d)[None, None, :, None, :]
        second = np.einsum("mic,mbc,mjd,mad->maibj", F, g, rate, g)
        third = np.einsum("mic,mjc,mab->maibj", F, rate, np.einsum("mac,mbc->mab", g, g))
        K = -(self._mu * rest.volumes)[:, None, None, None, None] * (first + second + third)
        index = (d * rest.nodes[:, :, None] + np.arange(d)).reshape(len(F), -1)
        rows = np.repeat(index, k * d, axis=1).ravel()
        columns = np.tile(index, (1, k * d)).ravel()
        return sp.csr_matrix((K.ravel(), (rows, columns)), shape=self._zero.shape)
