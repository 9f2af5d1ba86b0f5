"""Geometric displacement functions phi(x) of a few vertices each, zero at rest. [Ledwon2024, sec. 3.3.2]

Each gives its values and gradients for local positions (m, k, d); Jacobians and second derivatives are assembled here.
The code is analytic (no absolute values), so that second derivatives come from gradients by a complex step, exact to
round-off.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray

STEP = 1e-100  # of the complex step: no difference is taken, so it cannot be too small


class Displacement(Protocol):
    """m displacements of the vertices ``nodes (m, k)``; local arrays may be complex.

    ``unilateral`` functions count only where they are negative: phi = min(0, distance).
    """

    nodes: IntArray
    unilateral: bool

    def values(self, x: Any) -> Any:
        """phi (m,) of local positions (m, k, d)."""
        ...

    def gradients(self, x: Any) -> Any:
        """dphi/dx (m, k, d) of local positions (m, k, d)."""
        ...


def phi(function: Displacement, x: Array) -> Array:
    """Displacements (m,) at positions x (n, d); unilateral ones are cut off above zero."""
    found = function.values(x[function.nodes])
    return np.minimum(found, 0.0) if function.unilateral else found


def jacobian(function: Displacement, x: Array) -> sp.csr_matrix:
    """J (m, n d) at positions x (n, d); rows of inactive unilateral displacements are zero."""
    local = x[function.nodes]
    g = function.gradients(local)
    if function.unilateral:
        g = g * (function.values(local) < 0.0)[:, None, None]
    m, k, d = g.shape
    columns = (d * function.nodes[:, :, None] + np.arange(d)).ravel()
    J = sp.csr_matrix((g.ravel(), columns, np.arange(0, m * k * d + 1, k * d)), shape=(m, x.size))
    J.sort_indices()
    return J


def second_derivatives(function: Displacement, x: Array) -> Array:
    """d2 phi/dx2 (m, k, d, k, d) of local positions (m, k, d), by a complex step of the gradients."""
    m, k, d = x.shape
    H = np.empty((m, k, d, k, d))
    for a in range(k):
        for b in range(d):
            z = x.astype(np.complex128)
            z[:, a, b] += 1j * STEP
            H[:, :, :, a, b] = function.gradients(z).imag / STEP
    return H


def curvature(function: Displacement, x: Array, weights: Array) -> sp.csr_matrix:
    """sum_i weights_i d2 phi_i/dx2 (n d, n d) at positions x (n, d)."""
    H = weights[:, None, None, None, None] * second_derivatives(function, x[function.nodes])
    m, k, d = H.shape[:3]
    dofs = (d * function.nodes[:, :, None] + np.arange(d)).reshape(m, k * d)
    rows, columns = np.repeat(dofs, k * d, axis=1).ravel(), np.tile(dofs, (1, k * d)).ravel()
    return sp.csr_matrix((H.ravel(), (rows, columns)), shape=(x.size, x.size))


def _dot(a: Any, b: Any) -> Any:
    return (a * b).sum(axis=-1)


class Distances:
    """|x_i - x_j| - rest [m] of ``edges (m, 2)``; rest lengths default to those in X (n, d)."""

    unilateral = False

    def __init__(self, X: Array, edges: IntArray, rest: Array | None = None) -> None:
        self.nodes = np.asarray(edges, dtype=np.int64)
        self.rest = np.zeros(len(self.nodes))
        self.rest = np.array(self.values(X[self.nodes]) if rest is None else np.broadcast_to(rest, len(self.nodes)))

    def values(self, x: Any) -> Any:
        s = x[:, 0] - x[:, 1]
        return np.sqrt(_dot(s, s)) - self.rest

    def gradients(self, x: Any) -> Any:
        s = x[:, 0] - x[:, 1]
        u = s / np.sqrt(_dot(s, s))[:, None]
        return np.stack([u, -u], axis=1)


class Volumes:
    """Signed volume - rest [m^3] of tetrahedra T (m, 4)."""

    unilateral = False

    def __init__(self, X: Array, T: IntArray) -> None:
        self.nodes = np.asarray(T, dtype=np.int64)
        self.rest = np.zeros(len(self.nodes))
        self.rest = self.values(X[self.nodes])

    def values(self, x: Any) -> Any:
        a, b, c = (x[:, k] - x[:, 0] for k in (1, 2, 3))
        return _dot(a, np.cross(b, c)) / 6.0 - self.rest

    def gradients(self, x: Any) -> Any:
        a, b, c = (x[:, k] - x[:, 0] for k in (1, 2, 3))
        faces = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1) / 6.0
        return np.concatenate([-faces.sum(axis=1, keepdims=True), faces], axis=1)


class Angles:
    """Dihedral angle - rest [rad] of hinges (m, 4): shared edge (0, 1), opposite vertices 2 and 3; flat is 0."""

    unilateral = False

    def __init__(self, X: Array, hinges: IntArray) -> None:
        self.nodes = np.asarray(hinges, dtype=np.int64)
        self.rest = np.zeros(len(self.nodes))
        self.rest = self.values(X[self.nodes])

    @staticmethod
    def _frame(x: Any) -> tuple[Any, ...]:
        edge = x[:, 1] - x[:, 0]
        n1 = np.cross(edge, x[:, 2] - x[:, 0])
        n2 = np.cross(x[:, 3] - x[:, 0], edge)
        return edge, np.sqrt(_dot(edge, edge)), n1, n2

    def values(self, x: Any) -> Any:
        edge, length, n1, n2 = self._frame(x)
        return np.arctan2(_dot(np.cross(n1, n2), edge) / length, _dot(n1, n2)) - self.rest

    def gradients(self, x: Any) -> Any:
        """The opposite vertices turn the angle by 1 over their heights, the edge balances force and moment."""
        edge, length, n1, n2 = self._frame(x)
        g2 = -(length / _dot(n1, n1))[:, None] * n1
        g3 = -(length / _dot(n2, n2))[:, None] * n2
        t2 = (_dot(x[:, 2] - x[:, 0], edge) / length**2)[:, None]
        t3 = (_dot(x[:, 3] - x[:, 0], edge) / length**2)[:, None]
        g0 = -(1.0 - t2) * g2 - (1.0 - t3) * g3
        g1 = -t2 * g2 - t3 * g3
        return np.stack([g0, g1, g2, g3], axis=1)


class Shears:
    """In-plane shear A f_0.f_1 [m^2] of triangles (m, 3), F = [f_0 f_1] from rest positions X (n, 2 or 3)."""

    unilateral = False

    def __init__(self, X: Array, faces: IntArray) -> None:
        from pliant.energies.membrane import material_gradients

        self.nodes = np.asarray(faces, dtype=np.int64)
        self._b, self._area = material_gradients(X, self.nodes)

    def _columns(self, x: Any) -> tuple[Any, Any]:
        F = np.einsum("mkd,mkc->mcd", x, self._b)
        return F[:, 0], F[:, 1]

    def values(self, x: Any) -> Any:
        f0, f1 = self._columns(x)
        return self._area * _dot(f0, f1)

    def gradients(self, x: Any) -> Any:
        f0, f1 = self._columns(x)
        pair = self._b[:, :, 0, None] * f1[:, None, :] + self._b[:, :, 1, None] * f0[:, None, :]
        return self._area[:, None, None] * pair


class PlaneDistances:
    """(x - point).normal [m] of ``vertices``, counted where negative: the body stays above the plane."""

    unilateral = True

    def __init__(self, vertices: IntArray, point: Sequence[float], normal: Sequence[float]) -> None:
        self.nodes = np.asarray(vertices, dtype=np.int64)[:, None]
        self.point = np.asarray(point, dtype=np.float64)
        direction = np.asarray(normal, dtype=np.float64)
        self.normal = direction / np.linalg.norm(direction)

    def values(self, x: Any) -> Any:
        return (x[:, 0] - self.point) @ self.normal

    def gradients(self, x: Any) -> Any:
        return np.broadcast_to(self.normal, x.shape) + 0.0 * x
