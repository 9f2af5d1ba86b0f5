"""Corotated linear membrane: the in-plane energy of a thin sheet.

    W = sum A [ mu |S - I|^2 + lam/2 tr(S - I)^2 ],    F = D_x D_X^{-1} = R S  (3 x 2)
    mu = E / (2 (1 + nu)),   lam = E nu / ((1 + nu)(1 - 2 nu))

[Weidner2022, sec. 2.4.2]. E is a modulus times thickness [N/m]. In the singular values s of F the density is
mu sum (s_a - 1)^2 + lam/2 (s_1 + s_2 - 2)^2, so that its Hessian has a closed eigensystem as in [Smith2018] with two
out-of-plane modes psi_a / s_a; ``psd=True`` drops the negative ones: the exact projection of d^2 psi / dF^2.
"""

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import MaterialError, MeshError
from pliant.kernels import membrane as kernels
from pliant.pattern_making import block_pattern


def lame(E: float, nu: float) -> tuple[float, float]:
    """(mu, lam) [N/m] of a sheet with Young's modulus times thickness E [N/m] and Poisson's ratio nu."""
    if not (np.isfinite(E) and E > 0):
        raise MaterialError(f"membrane stiffness E = {E} N/m", where="MembraneEnergy.E", remedy="it must be positive")
    if not -1 < nu < 0.5:
        raise MaterialError(f"Poisson's ratio nu = {nu}", where="MembraneEnergy.nu", remedy="it must lie in (-1, 0.5)")
    return E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))


def material_gradients(X: Array, faces: IntArray) -> tuple[Array, Array]:
    """Gradients b (m, 3, 2) of the hat functions [1/m] and areas A (m,) [m^2] of triangles at rest.

    ``X`` is (n, 2), or (n, 3) with each triangle laid into its own plane.
    """
    e1, e2 = X[faces[:, 1]] - X[faces[:, 0]], X[faces[:, 2]] - X[faces[:, 0]]
    if X.shape[1] == 3:
        length = np.linalg.norm(e1, axis=1)
        along = np.einsum("mi,mi->m", e1, e2) / np.where(length > 0, length, 1)
        across = np.linalg.norm(np.cross(e1, e2), axis=1) / np.where(length > 0, length, 1)
        e1 = np.stack([length, np.zeros_like(length)], axis=1)
        e2 = np.stack([along, across], axis=1)
    det = e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0]
    bad = np.flatnonzero(~(np.abs(det) > 1e-14 * (np.sum(e1 * e1, axis=1) + np.sum(e2 * e2, axis=1))))
    if len(bad):
        raise MeshError(
            f"triangle {bad[0]} {faces[bad[0]].tolist()} has area {0.5 * abs(det[bad[0]])} at rest",
            where="faces",
            remedy="remove degenerate triangles or merge their vertices",
        )
    b1 = np.stack([e2[:, 1], -e2[:, 0]], axis=1) / det[:, None]
    b2 = np.stack([-e1[:, 1], e1[:, 0]], axis=1) / det[:, None]
    return np.stack([-b1 - b2, b1, b2], axis=1), 0.5 * np.abs(det)


class MembraneEnergy:
    """In-plane elasticity of the triangles ``faces (m, 3)`` with rest positions ``X (n, 2)`` or ``(n, 3)`` [m].

    ``E`` is Young's modulus times thickness [N/m], ``nu`` Poisson's ratio.
    """

    internal: ClassVar[bool] = True

    def __init__(self, X: Array, faces: IntArray, *, E: float, nu: float, name: str = "membrane") -> None:
        self.name = name
        self.mu, self.lam = lame(E, nu)
        self.faces = np.ascontiguousarray(faces, dtype=np.int64)
        self.b, self.area = material_gradients(X, self.faces)
        self._n = len(X)
        self._pattern, self._slots = block_pattern(self.faces, self._n, 3)

    def value(self, x: Array) -> float:
        return float(kernels.value(*self._arguments(x)))

    def gradient(self, x: Array) -> Array:
        return kernels.gather(kernels.element_gradients(*self._arguments(x)), self.faces, self._n).ravel()

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        H = kernels.element_hessians(*self._arguments(x), psd)
        return self._pattern.matrix(kernels.scatter(H, self._slots, self._pattern.nnz))

    def _arguments(self, x: Array) -> tuple[Array, IntArray, Array, Array, float, float]:
        return x.reshape(-1, 3), self.faces, self.b, self.area, self.mu, self.lam
