"""Loads on surfaces, which turn and grow with them: pressure, and the drag of moving air.

A triangle with corners x0, x1, x2 has the area vector a = (x1 - x0) x (x2 - x0)/2; a third of its force goes to each
corner. With the outward normal,

    pressure    f = -p(t) a
    air         f = rho/2 s |s| a / |a|^2,      s = a . (w - v)

with the velocity v of the triangle's middle: the air that a plate stops, rho/2 A (n . u)^2 along its normal n. Both
have exact derivatives. Those of a pressure are symmetric on closed surfaces only, and those of air never are:
`stiffness` is their symmetric part, `exact_stiffness` the whole.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray

Signal = Callable[[float], float]


class SurfacePressure:
    """The pressure p(t) [Pa] on triangles ``F (k, 3)`` of n vertices, against their normals."""

    def __init__(self, n: int, F: IntArray, pressure: Signal, name: str = "pressure") -> None:
        self.name, self._p = name, pressure
        self._faces = _Faces(n, F)

    def force(self, x: Array, v: Array, t: float) -> Array:
        a, _ = self._faces.areas(x)
        return self._faces.spread(-self._p(t) * a)

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return _symmetric(self.exact_stiffness(x, v, t))

    def exact_stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        _, da = self._faces.areas(x)
        return self._faces.matrix(-self._p(t) * da)

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._faces.zero


class AirDrag:
    """Air of ``density`` [kg/m^3] moving with ``wind(t)`` (3,) [m/s] against triangles ``F (k, 3)`` of n vertices."""

    name = "air"

    def __init__(self, n: int, F: IntArray, density: float, wind: Callable[[float], Array]) -> None:
        self._rho, self._wind = density, wind
        self._faces = _Faces(n, F)

    def force(self, x: Array, v: Array, t: float) -> Array:
        a, _ = self._faces.areas(x)
        s = np.einsum("ki,ki->k", a, self._against(v, t))
        return self._faces.spread((0.5 * self._rho * s * np.abs(s) / self._squared(a))[:, None] * a)

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return _symmetric(self.exact_stiffness(x, v, t))

    def exact_stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        a, da = self._faces.areas(x)
        u, A = self._against(v, t), self._squared(a)
        s = np.einsum("ki,ki->k", a, u)
        by_s = (self._rho * np.abs(s) / A)[:, None, None] * np.einsum("ki,kj->kij", a, u)
        c = (0.5 * self._rho * s * np.abs(s) / A)[:, None, None]
        by_a = by_s + c * (np.eye(3) - 2.0 * np.einsum("ki,kj->kij", a, a) / A[:, None, None])
        return self._faces.matrix(np.einsum("kij,kcjl->kcil", by_a, da))

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        a, _ = self._faces.areas(x)
        s = np.einsum("ki,ki->k", a, self._against(v, t))
        each = (-self._rho * np.abs(s) / self._squared(a) / 3.0)[:, None, None] * np.einsum("ki,kj->kij", a, a)
        return self._faces.matrix(np.repeat(each[:, None], 3, axis=1))

    def _against(self, v: Array, t: float) -> Array:
        """The velocity of the air as every triangle sees it (k, 3)."""
        return np.asarray(self._wind(t)) - v.reshape(-1, 3)[self._faces.F].mean(axis=1)

    @staticmethod
    def _squared(a: Array) -> Array:
        return np.maximum(np.einsum("ki,ki->k", a, a), 1e-300)


class _Faces:
    """Area vectors of triangles, and forces on triangles shared by their corners."""

    def __init__(self, n: int, F: IntArray) -> None:
        self.n, self.F = n, np.asarray(F, dtype=np.int64)
        dofs = 3 * self.F[:, :, None] + np.arange(3)  # (k, 3 corners, 3)
        k = len(self.F)
        self._rows = np.broadcast_to(dofs[:, :, None, :, None], (k, 3, 3, 3, 3)).ravel()
        self._columns = np.broadcast_to(dofs[:, None, :, None, :], (k, 3, 3, 3, 3)).ravel()
        self.zero = sp.csr_matrix((3 * n, 3 * n))

    def areas(self, x: Array) -> tuple[Array, Array]:
        """Area vectors a (k, 3) and their derivatives by the corners (k, 3 corners, 3, 3)."""
        p = x.reshape(-1, 3)[self.F]
        a = 0.5 * np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        opposite = np.stack([p[:, 2] - p[:, 1], p[:, 0] - p[:, 2], p[:, 1] - p[:, 0]], axis=1)
        return a, 0.5 * _cross_matrices(opposite)

    def spread(self, f: Array) -> Array:
        """A third of each triangle's force (k, 3) at each of its corners, as coordinates (3 n,)."""
        out = np.zeros((self.n, 3))
        np.add.at(out, self.F, np.repeat(f[:, None] / 3.0, 3, axis=1))
        return out.ravel()

    def matrix(self, derivatives: Array) -> sp.csr_matrix:
        """df/dx from the derivatives (k, 3 corners, 3, 3) of every triangle's force by its corners."""
        blocks = np.broadcast_to(derivatives[:, None] / 3.0, (len(self.F), 3, 3, 3, 3))
        made = sp.coo_matrix((blocks.ravel(), (self._rows, self._columns)), shape=(3 * self.n, 3 * self.n))
        return sp.csr_matrix(made)


def _cross_matrices(e: Array) -> Array:
    """[e]x for vectors e (..., 3): the matrices of b -> e x b."""
    out = np.zeros((*e.shape, 3))
    out[..., 0, 1], out[..., 0, 2] = -e[..., 2], e[..., 1]
    out[..., 1, 0], out[..., 1, 2] = e[..., 2], -e[..., 0]
    out[..., 2, 0], out[..., 2, 1] = -e[..., 1], e[..., 0]
    return out


def _symmetric(K: sp.csr_matrix) -> sp.csr_matrix:
    return sp.csr_matrix(0.5 * (K + K.T))
