"""Rayleigh damping: f = -(alpha M + beta H) v with H the stiffness at rest or at the current state.

[Chen2019, Eq. 2.7 (current) and 4.7 (rest), sign corrected]
"""

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.energies.base import Energy
from pliant.pattern import Pattern, union


class RayleighForce:
    """``mass (N, N)``, ``alpha`` [1/s], ``beta`` [s]; ``current=True`` uses the projected Hessian at x instead of X.

    The derivative of H(x) with respect to x is left out of ``stiffness``: it is not symmetric, and it changes only the
    rate at which Newton converges, never the root.
    """

    def __init__(
        self, X: Array, mass: sp.csr_matrix, energy: Energy, alpha: float, beta: float, *, current: bool = False
    ) -> None:
        self.name = "damping"
        self._energy, self._alpha, self._beta, self._current = energy, alpha, beta, current
        self._mass = mass
        rest = energy.hessian(X.ravel(), psd=True)
        pattern = union([rest, mass], mass.shape[0])
        self._pattern = Pattern(rest.indptr, rest.indices) if rest.nnz == pattern.nnz else pattern
        self._mass_slots, self._rest_slots = self._pattern.slots(mass), self._pattern.slots(rest)
        self._rest = self._matrix(rest)
        self._zero = sp.csr_matrix(mass.shape)

    def _matrix(self, H: sp.csr_matrix) -> sp.csr_matrix:
        data = np.zeros(self._pattern.nnz)
        data[self._rest_slots] = -self._beta * H.data
        data[self._mass_slots] -= self._alpha * self._mass.data
        return self._pattern.matrix(data)

    def force(self, x: Array, v: Array, t: float) -> Array:
        return self.damping(x, v, t) @ v

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._zero

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._matrix(self._energy.hessian(x, psd=True)) if self._current else self._rest
