"""Rayleigh damping: f = -(alpha M + beta H) v with H the stiffness at rest or at the current state.

[Chen2019, Eq. 2.7 (current) and 4.7 (rest), sign corrected]
"""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.energies.base import Energy
from pliant.pattern import Pattern, union


class RayleighForce:
    """``mass (N, N)``, ``alpha`` [1/s], ``beta`` [s]; H is the Hessian of the sum of the ``energies`` of a body.

    ``current=True`` uses the projected Hessian at x instead of X. The derivative of H(x) with respect to x is left out
    of ``stiffness``: it is not symmetric, and it changes only the rate at which Newton converges, never the root.
    """

    def __init__(
        self,
        X: Array,
        mass: sp.csr_matrix,
        energies: Sequence[Energy],
        alpha: float,
        beta: float,
        *,
        current: bool = False,
    ) -> None:
        self.name = "damping"
        self._energies, self._alpha, self._beta, self._current = tuple(energies), alpha, beta, current
        self._mass = mass
        rest = self._hessians(X.ravel())
        pattern = union([*rest, mass], mass.shape[0])
        whole = [H for H in rest if H.nnz == pattern.nnz]  # share its index arrays, so that systems know the pattern
        self._pattern = Pattern(whole[0].indptr, whole[0].indices) if whole else pattern
        self._mass_slots, self._slots = self._pattern.slots(mass), [self._pattern.slots(H) for H in rest]
        self._rest = self._matrix(rest)
        self._zero = sp.csr_matrix(mass.shape)

    def _hessians(self, x: Array) -> list[sp.csr_matrix]:
        return [energy.hessian(x, psd=True) for energy in self._energies]

    def _matrix(self, hessians: Sequence[sp.csr_matrix]) -> sp.csr_matrix:
        data = np.zeros(self._pattern.nnz)
        for slots, H in zip(self._slots, hessians, strict=True):
            data[slots] -= self._beta * H.data
        data[self._mass_slots] -= self._alpha * self._mass.data
        return self._pattern.matrix(data)

    def force(self, x: Array, v: Array, t: float) -> Array:
        return self.damping(x, v, t) @ v

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._zero

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._matrix(self._hessians(x)) if self._current else self._rest
