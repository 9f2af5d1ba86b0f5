"""Gravity: W(x) = -sum_i m_i g . x_i."""

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array


class Gravity:
    """Uniform acceleration ``g (d,)`` [m/s^2] on nodal masses ``m (n,)`` [kg]."""

    def __init__(self, m: Array, g: Array, *, name: str = "gravity") -> None:
        self.name = name
        self.load = np.outer(m, np.asarray(g, dtype=np.float64)).ravel()
        N = len(self.load)
        self._zero = sp.csr_matrix((N, N))

    def value(self, x: Array) -> float:
        return -float(self.load @ x)

    def gradient(self, x: Array) -> Array:
        return -self.load

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        return self._zero
