"""Quadratic bending: the discrete Willmore energy of a sheet that is flat at rest and bends without stretching.

    W = sum over hinges  3 beta / (4 (A_1 + A_2)) |sum_i k_i x_i|^2

with the cotangent stencil k of the two triangles at rest [Weidner2022, sec. 2.4.2, "discrete Willmore"]. Under
isometric motion |sum k_i x_i| = 2 |e| sin(theta / 2), so W = 3 beta |e|^2 / (A_1 + A_2) sin^2(theta / 2) per hinge. A
right-angled grid rolled to the curvature kappa stores 3/4 beta kappa^2 per area: beta is two thirds of a plate's D.
Gradient linear, Hessian constant and positive semidefinite.
"""

from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import MaterialError
from pliant.pattern_making import block_pattern


def hinges(faces: IntArray) -> IntArray:
    """(m, 4) vertices (x0, x1 shared; x2, x3 opposite) of every edge with two triangles, in order of the first."""
    corners = np.arange(3)
    start, end = faces[:, (corners + 1) % 3].ravel(), faces[:, (corners + 2) % 3].ravel()
    opposite = faces.ravel()
    key = np.minimum(start, end) * (int(faces.max(initial=0)) + 1) + np.maximum(start, end)
    order = np.argsort(key, kind="stable")
    same = np.flatnonzero(key[order][1:] == key[order][:-1])
    first, second = order[same], order[same + 1]
    rows = np.stack([start[first], end[first], opposite[first], opposite[second]], axis=1)
    return rows[np.argsort(first, kind="stable")]


def cotangent_stencils(X: Array, hinge: IntArray) -> tuple[Array, Array]:
    """Stencils k (m, 4) and summed areas A_1 + A_2 (m,) of hinges at rest, X (n, 2) or (n, 3)."""
    x0, x1, x2, x3 = (X[hinge[:, i]] for i in range(4))

    def cotangent(apex: Array, p: Array, q: Array) -> tuple[Array, Array]:
        u, v = p - apex, q - apex
        uu, vv, uv = (np.einsum("mi,mi->m", a, b) for a, b in ((u, u), (v, v), (u, v)))
        twice = np.sqrt(np.maximum(uu * vv - uv * uv, 0))
        return uv / twice, 0.5 * twice

    c01, A1 = cotangent(x0, x1, x2)
    c02, A2 = cotangent(x0, x1, x3)
    c03, _ = cotangent(x1, x0, x2)
    c04, _ = cotangent(x1, x0, x3)
    return np.stack([c03 + c04, c01 + c02, -c01 - c03, -c02 - c04], axis=1), A1 + A2


class QuadraticBending:
    """Bending of the sheet ``faces (m, 3)`` that is flat at rest ``X (n, 2)`` or ``(n, 3)`` [m]; ``beta`` in N m."""

    internal: ClassVar[bool] = True

    def __init__(self, X: Array, faces: IntArray, *, beta: float, name: str = "bending") -> None:
        if not (np.isfinite(beta) and beta >= 0):
            raise MaterialError(
                f"bending stiffness beta = {beta}", where="QuadraticBending.beta", remedy="use beta >= 0"
            )
        self.name = name
        self.hinges = hinges(np.asarray(faces, dtype=np.int64))  # (h, 4)
        self.stencils, area = cotangent_stencils(X, self.hinges)  # (h, 4)
        self.weights = 1.5 * beta / area  # (h,) [N/m]
        pattern, slots = block_pattern(self.hinges, len(X), 3)
        weight = self.weights[:, None, None] * self.stencils[:, :, None] * self.stencils[:, None, :]
        blocks = weight[..., None, None] * np.eye(3)
        data = np.bincount(slots.ravel(), weights=blocks.ravel(), minlength=pattern.nnz).astype(np.float64)
        self._H = pattern.matrix(data)

    def value(self, x: Array) -> float:
        return 0.5 * float(x @ (self._H @ x))

    def gradient(self, x: Array) -> Array:
        return self._H @ x

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        return self._H
