"""Tension along fibres that changes with time: what makes flesh a muscle.

    f = -a(t) dW/dx,    W = sum_e V_e T_e/2 (|F_e d_e|^2 - 1),    P = a T F d d^T

It is the active part of `AnisotropicFung`: a line tension T [Pa] along the rest direction d, scaled by an activation
a(t). W is quadratic in the positions, so the force is linear in them and K = -a(t) H with one constant H, which is
positive semidefinite as it is.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.pattern import Pattern


class FibreTension:
    """The tension ``T (m,)`` [Pa] along ``direction (m, d)`` of simplices ``cells (m, d + 1)``, times ``signal(t)``."""

    name = "activation"

    def __init__(
        self, X: Array, cells: IntArray, direction: Array, tension: Array, signal: Callable[[float], float]
    ) -> None:
        n, d = X.shape
        m = len(cells)
        D = np.moveaxis(X[cells[:, 1:]] - X[cells[:, :1]], 1, 2)  # (m, d, d): edges as columns
        along = np.linalg.solve(D, direction[:, :, None])[:, :, 0]  # F d = sum_r c_r x_r
        c = np.column_stack([-along.sum(axis=1), along])
        volume = np.abs(np.linalg.det(D)) / (2.0 if d == 2 else 6.0)
        C = sp.csr_matrix((c.ravel(), (np.repeat(np.arange(m), d + 1), cells.ravel())), shape=(m, n))
        H = sp.csr_matrix(sp.kron(C.T @ sp.diags(volume * tension) @ C, sp.identity(d)))
        H.sort_indices()
        self.cells, self._rest, self._direction, self._tension = cells, D, direction, tension
        self._H, self._signal = H, signal
        self._pattern = Pattern(H.indptr, H.indices)
        self._zero = sp.csr_matrix(H.shape)

    def force(self, x: Array, v: Array, t: float) -> Array:
        return -self._signal(t) * (self._H @ x)

    def stress(self, x: Array, t: float) -> Array:
        """The Cauchy stress a T F d (F d)^T / det F (m, 3, 3) [Pa]."""
        x = x.reshape(-1, self._direction.shape[1])
        Ds = np.moveaxis(x[self.cells[:, 1:]] - x[self.cells[:, :1]], 1, 2)
        F = np.linalg.solve(self._rest.swapaxes(1, 2), Ds.swapaxes(1, 2)).swapaxes(1, 2)  # D_s D_m^{-1}
        d = np.zeros((len(F), 3))
        d[:, : F.shape[1]] = np.einsum("mij,mj->mi", F, self._direction)
        size = self._signal(t) * self._tension / np.linalg.det(F)
        return np.einsum("m,mi,mj->mij", size, d, d)

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._pattern.matrix(-self._signal(t) * self._H.data)

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._zero
