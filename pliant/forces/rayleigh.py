"""Rayleigh damping: f = -(alpha M + beta H) v with H the stiffness at rest or at the current state.

[Chen2019, Eq. 2.7 (current) and 4.7 (rest), sign corrected]
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.energies.base import Energy
from pliant.pattern import Pattern, times
from pliant.pattern_making import coloured, union

DIFFERENCE = 1e-6  # of an element: truncation 1e-12, round-off 1e-10; wider ones reach across kinks near the rest shape


class RayleighForce:
    """``mass (N, N)``, ``alpha`` [1/s], ``beta`` [s]; H is the Hessian of the sum of the ``energies`` of a body.

    ``current=True`` uses the projected Hessian at x instead of X. The derivative of H(x) with respect to x is left out
    of ``stiffness``: it is indefinite, and it changes only the rate at which Newton converges, never the root.
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
        n, d = X.shape
        self._length = float(np.ptp(X, axis=0).max()) / n ** (1.0 / d)  # of the size of an element [m]

    def _hessians(self, x: Array) -> list[sp.csr_matrix]:
        return [energy.hessian(x, psd=True) for energy in self._energies]

    def _matrix(self, hessians: Sequence[sp.csr_matrix]) -> sp.csr_matrix:
        data = np.zeros(self._pattern.nnz)
        for slots, H in zip(self._slots, hessians, strict=True):
            data[slots] -= self._beta * H.data
        data[self._mass_slots] -= self._alpha * self._mass.data
        return self._pattern.matrix(data)

    def force(self, x: Array, v: Array, t: float) -> Array:
        return times(self.damping(x, v, t), v)

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._zero

    def exact_stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        """-beta d(H(x) v)/dx, by central differences over coordinates that share no element, all of a colour at once.

        The derivative of a projected Hessian is not symmetric, and no closed form of it is known to the energies.
        """
        if not self._current or self._beta == 0.0 or not v.any():
            return self._zero
        e = DIFFERENCE * self._length
        colours = self._colours
        slopes = np.empty((colours.max() + 1, len(x)))
        for k in range(len(slopes)):
            way = e * (colours == k)
            slopes[k] = (self.force(x + way, v, t) - self.force(x - way, v, t)) / (2.0 * e)
        rows = np.repeat(np.arange(len(x)), np.diff(self._pattern.indptr))
        return self._pattern.matrix(slopes[colours[self._pattern.indices], rows])

    @cached_property
    def _colours(self) -> IntArray:
        """A colour for every coordinate (N,): no two of one colour have an entry in the same row."""
        return coloured(self._pattern.matrix(np.ones(self._pattern.nnz)))

    @property
    def lagged(self) -> bool:
        """Whether the force is -dP/dv: while the matrix does not depend on x."""
        return not self._current

    def dissipation(self, x: Array, v: Array) -> float:
        """P(v) = 1/2 v^T (alpha M + beta H) v [W]."""
        return -0.5 * float(v @ self.force(x, v, 0.0))

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._matrix(self._hessians(x)) if self._current else self._rest
