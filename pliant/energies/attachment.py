"""Soft attachment of vertices to targets: W(x) = 1/2 sum_i k_i |x_i - p_i|^2."""

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import SceneError


class AttachmentEnergy:
    """Springs of zero length and stiffness ``k`` [N/m] (one or per vertex) from ``vertices`` to ``targets (p, d)``."""

    def __init__(
        self, n: int, vertices: IntArray, targets: Array, k: float | Array, *, name: str = "attachment"
    ) -> None:
        self.name = name
        targets = np.atleast_2d(np.asarray(targets, dtype=np.float64))
        d = targets.shape[1]
        stiffness = np.broadcast_to(np.asarray(k, dtype=np.float64), (len(vertices),))
        if len(targets) != len(vertices):
            raise SceneError(f"{len(targets)} targets for {len(vertices)} vertices", where="AttachmentEnergy.targets")
        if not (np.isfinite(stiffness).all() and (stiffness > 0).all()):
            raise SceneError(
                f"stiffness {k} must be positive", where="AttachmentEnergy.k", remedy="give N/m per vertex"
            )
        self._dofs = (d * np.asarray(vertices)[:, None] + np.arange(d)).ravel()
        self._targets = targets.ravel()
        self._k = np.repeat(stiffness, d)
        diagonal = np.zeros(d * n)
        np.add.at(diagonal, self._dofs, self._k)
        touched = np.unique(self._dofs)
        self._hessian = sp.csr_matrix((diagonal[touched], (touched, touched)), shape=(d * n, d * n))

    def value(self, x: Array) -> float:
        return 0.5 * float(self._k @ (x[self._dofs] - self._targets) ** 2)

    def gradient(self, x: Array) -> Array:
        g = np.zeros_like(x)
        np.add.at(g, self._dofs, self._k * (x[self._dofs] - self._targets))
        return g

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        return self._hessian
