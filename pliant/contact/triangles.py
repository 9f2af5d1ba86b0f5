"""Closed triangle meshes as obstacles: signed distance by the nearest triangle and its angle-weighted normal.

The sign comes from the pseudo-normal of the feature (face, edge, corner) that is nearest, which is exact for closed
surfaces [Baerentzen and Aanaes 2005, Th. 1].
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.contact._closest import nearest_of_lists
from pliant.contact._grid import Lists
from pliant.errors import MeshError
from pliant.maps.motions import Motion
from pliant.mesh.mesh import Mesh
from pliant.mesh.topology import group_rows


@dataclass(frozen=True, eq=False)
class TriangleObstacle:
    """The inside of a closed, outward surface. Tet meshes give their surface; open or inverted ones are refused."""

    mesh: Mesh
    motion: Motion | None = None
    name: str = "obstacle"
    container: ClassVar[bool] = False
    X: Array = field(init=False, repr=False)
    F: IntArray = field(init=False, repr=False)
    search: "NearestTriangle" = field(init=False, repr=False)

    def __post_init__(self) -> None:
        used, F = np.unique(self.mesh.surface(), return_inverse=True)
        X, F = self.mesh.X[used], F.reshape(-1, 3).astype(np.int64)
        require_closed(X, F, self.name)
        for name, value in (("X", X), ("F", F), ("search", NearestTriangle(X, F))):
            object.__setattr__(self, name, value)

    def distance(self, x: Array) -> tuple[Array, Array]:
        return self.search.signed(x)

    def curvature(self, x: Array) -> Array | None:
        return None  # flat within a face's region; the bends over edges are left out

    def surface(self) -> tuple[Array, IntArray]:
        return self.X, self.F

    def inner_points(self) -> Array:
        """A point just below the middle of the largest triangle."""
        N = np.cross(self.X[self.F[:, 1]] - self.X[self.F[:, 0]], self.X[self.F[:, 2]] - self.X[self.F[:, 0]])
        area = np.linalg.norm(N, axis=1)
        f = int(np.argmax(area))
        return (self.X[self.F[f]].mean(axis=0) - 1e-3 * np.sqrt(area[f]) * N[f] / area[f])[None, :]


class NearestTriangle:
    """Exact nearest points on a fixed triangle surface ``X (n, 3)``, ``F (k, 3)``."""

    def __init__(self, X: Array, F: IntArray) -> None:
        from scipy.spatial import cKDTree

        self.X, self.F = np.ascontiguousarray(X), np.ascontiguousarray(F)
        middle = X[F].mean(axis=1)
        self._reach = float(np.linalg.norm(X[F] - middle[:, None], axis=2).max())
        self._middles, self._corners = cKDTree(middle), cKDTree(X)
        self._normals = _pseudo_normals(X, F)

    def find(self, x: Array) -> tuple[IntArray, Array, Array, IntArray]:
        """Triangle (p,), weights (p, 3), distance (p,) and region (p,) of the nearest point to every x (p, 3)."""
        bound = self._corners.query(x)[0]
        lists = self._middles.query_ball_point(x, bound * (1 + 1e-12) + self._reach, return_sorted=True)
        start = np.concatenate([[0], np.cumsum([len(found) for found in lists])]).astype(np.int64)
        near = Lists(start, np.concatenate([*map(np.asarray, lists), []]).astype(np.int64))
        x = np.ascontiguousarray(x, dtype=np.float64)
        triangle, weights, d2, region = nearest_of_lists(x, self.X, self.F, near, np.arange(len(x)), None)
        return triangle, weights, np.sqrt(d2), region

    def signed(self, x: Array) -> tuple[Array, Array]:
        """Signed distance (p,) and its gradient (p, 3)."""
        if not len(x):
            return np.zeros(0), np.zeros((0, 3))
        triangle, weights, d, region = self.find(x)
        away = x - np.einsum("pk,pkd->pd", weights, self.X[self.F[triangle]])
        pseudo = self._normals[triangle, region]
        sign = np.where((away * pseudo).sum(axis=1) < 0.0, -1.0, 1.0)
        far = d > 1e-12
        n = np.where(far[:, None], sign[:, None] * away / np.where(far, d, 1.0)[:, None], pseudo)
        return sign * d, n


def _pseudo_normals(X: Array, F: IntArray) -> Array:
    """Unit normals (k, 7, 3) of face, edges bc, ca, ab and corners a, b, c of every triangle."""
    E = np.stack([X[F[:, 2]] - X[F[:, 1]], X[F[:, 0]] - X[F[:, 2]], X[F[:, 1]] - X[F[:, 0]]], axis=1)
    N = np.cross(E[:, 2], -E[:, 1])
    N /= np.linalg.norm(N, axis=1)[:, None]
    u = E / np.linalg.norm(E, axis=2)[:, :, None]
    angle = np.arccos(np.clip(-(u[:, [1, 2, 0]] * u[:, [2, 0, 1]]).sum(axis=2), -1.0, 1.0))  # at corners a, b, c
    corner = np.zeros_like(X)
    np.add.at(corner, F, angle[:, :, None] * N[:, None, :])
    pairs = np.sort(F[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2), axis=1)
    group = group_rows(pairs)[1]
    edge = np.zeros((group.max() + 1, 3))
    np.add.at(edge, group, np.repeat(N, 3, axis=0))
    out = np.concatenate([N[:, None], edge[group].reshape(-1, 3, 3), corner[F]], axis=1)
    return out / np.maximum(np.linalg.norm(out, axis=2), 1e-300)[:, :, None]


def require_closed(X: Array, F: IntArray, name: str) -> None:
    """Refuse surfaces that are open, inconsistently oriented or turned inside out."""
    half = F[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    first, group, count = group_rows(np.sort(half, axis=1))
    open_ = np.flatnonzero(count != 2)
    if len(open_):
        a, b = np.sort(half, axis=1)[first[open_[0]]]
        raise MeshError(
            f"not watertight: {len(open_)} edges do not have two triangles, first ({a}, {b})",
            where=name,
            remedy="close the holes, for instance with pliant.mesh.repair, or use a tet mesh",
        )
    forward = np.bincount(group, weights=np.where(half[:, 0] < half[:, 1], 1.0, -1.0))
    twisted = np.flatnonzero(forward != 0)
    if len(twisted):
        a, b = np.sort(half, axis=1)[first[twisted[0]]]
        raise MeshError(
            f"triangles beside edge ({a}, {b}) are oriented against each other",
            where=name,
            remedy="orient all triangles counter-clockwise seen from outside",
        )
    T = X[F] - X[F].mean(axis=(0, 1))  # about a point far away the volume would cancel
    volume = float(np.linalg.det(T).sum()) / 6.0
    if not volume > 0.0:
        raise MeshError(
            f"inverted normals: the enclosed volume is {volume:.3g} m^3",
            where=name,
            remedy="reverse the order of every triangle's vertices (F[:, ::-1])",
        )
