"""A shifted energy, W(x + way): contacts that a linearised step will reach."""

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.energies.base import Energy


class Shifted:
    """``energy`` at x + ``way``, a displacement (N,) [m]."""

    def __init__(self, energy: Energy, way: Array) -> None:
        self.name, self._energy, self._way = energy.name, energy, way

    def value(self, x: Array) -> float:
        return self._energy.value(x + self._way)

    def gradient(self, x: Array) -> Array:
        return self._energy.gradient(x + self._way)

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        return self._energy.hessian(x + self._way, psd=psd)
