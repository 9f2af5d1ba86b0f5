"""Penalty energies from displacement functions: W = sum k/2 phi^2, H = k grad phi grad phi^T + k phi Hess phi.

A stiffness of a displacement has no meaning independent of the mesh, and for k -> infinity the motion oscillates at
sqrt(k/m) unless the start is consistent: that belongs to the model, not to the solver. [Ledwon2024, sec. 3.3.2]
"""

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.constraints.functions import Displacement, jacobian, phi, second_derivatives
from pliant.errors import SceneError
from pliant.pattern_making import block_pattern


class Penalty:
    """``k`` (number or (m,)) times half the squares of a displacement function on ``n`` vertices of dimension ``d``.

    ``psd=True`` keeps the first term of the Hessian only (Gauss-Newton).
    """

    def __init__(self, function: Displacement, k: float | Array, n: int, *, d: int = 3, name: str = "penalty") -> None:
        self.name, self.function = name, function
        self.k = np.array(np.broadcast_to(k, len(function.nodes)), dtype=np.float64)
        bad = np.flatnonzero(~(np.isfinite(self.k) & (self.k > 0.0)))
        if len(bad):
            raise SceneError(f"stiffness {self.k[bad[0]]} of row {bad[0]}", where="Penalty.k", remedy="use k > 0")
        self._shape = (n, d)
        self._pattern, slots = block_pattern(function.nodes, n, d)
        self._slots = slots.transpose(0, 1, 3, 2, 4)  # (m, k, d, k, d), as the derivatives come

    def value(self, x: Array) -> float:
        return 0.5 * float(self.k @ phi(self.function, x.reshape(self._shape)) ** 2)

    def gradient(self, x: Array) -> Array:
        x = x.reshape(self._shape)
        return jacobian(self.function, x).T @ (self.k * phi(self.function, x))

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        local = x.reshape(self._shape)[self.function.nodes]
        g, value = self.function.gradients(local), self.function.values(local)
        k = np.where(value < 0.0, self.k, 0.0) if self.function.unilateral else self.k
        H = k[:, None, None, None, None] * g[:, :, :, None, None] * g[:, None, None, :, :]
        if not psd:
            H += (k * value)[:, None, None, None, None] * second_derivatives(self.function, local)
        data = np.zeros(self._pattern.nnz)
        np.add.at(data, self._slots.ravel(), H.ravel())
        return self._pattern.matrix(data)
