"""Constant loads: W(x) = -load . x; gravity is one, with m_i g on every vertex."""

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array


class DeadLoad:
    """A constant ``load (N,)`` [N]."""

    def __init__(self, load: Array, *, name: str = "load") -> None:
        self.name, self.load = name, load
        self._zero = sp.csr_matrix((len(load), len(load)))

    def value(self, x: Array) -> float:
        return -float(self.load @ x)

    def gradient(self, x: Array) -> Array:
        return -self.load

    def between(self, x0: Array, x1: Array) -> Array:
        return -self.load

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        return self._zero


class Gravity(DeadLoad):
    """Uniform acceleration ``g (d,)`` [m/s^2] on nodal masses ``m (n,)`` [kg]."""

    def __init__(self, m: Array, g: Array, *, name: str = "gravity") -> None:
        super().__init__(np.outer(m, np.asarray(g, dtype=np.float64)).ravel(), name=name)
