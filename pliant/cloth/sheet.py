"""The cloth as a value: one triangle mesh in the material plane and in the world, with all its velocities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray
from pliant.cloth._topology import BORDER, FIXED, neighbours
from pliant.errors import MeshError

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Sheet:
    """World positions ``x (n, 3)``, material positions ``X (n, 2)`` [m], rates ``v``, ``V`` [m/s], ``faces (m, 3)``.

    ``feature (n,)`` names the sharp feature a vertex lies on (-1: none); ``fixed (n,)`` marks the corners of the
    material domain and the handles, which no remeshing removes. A vertex with a feature is Eulerian on Lagrangian: V
    may be nonzero.
    """

    x: Array
    X: Array
    v: Array
    V: Array
    faces: IntArray
    feature: IntArray
    fixed: BoolArray

    @property
    def flags(self) -> IntArray:
        """Bits BORDER and FIXED per vertex."""
        return self.flagged(border_edges(self.faces, len(self.X)))

    def flagged(self, border: IntArray) -> IntArray:
        """The bits from the border edges (k, 2)."""
        flags = np.where(self.fixed, FIXED, 0).astype(np.int64)
        flags[border.ravel()] |= BORDER
        return flags


def border_edges(faces: IntArray, n: int) -> IntArray:
    """(k, 2) directed border edges (the domain on their left)."""
    return open_edges(faces, neighbours(faces, n))


def open_edges(faces: IntArray, N: IntArray) -> IntArray:
    """(k, 2) directed edges across which ``N (m, 3)`` names no neighbour."""
    f, k = np.nonzero(N < 0)
    return np.stack([faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]], axis=1)


def sheet(X: Array, faces: IntArray, x: Array | None = None, *, keep: IntArray | None = None) -> Sheet:
    """A cloth at rest over the material triangles ``faces`` of ``X (n, 2)``, lying at ``x`` (default: z = 0).

    Corners of the domain (border turns) and the vertices ``keep`` survive all remeshing.
    """
    X = np.ascontiguousarray(X, dtype=np.float64)
    faces = np.ascontiguousarray(faces, dtype=np.int64)
    _check(X, faces)
    fixed = np.zeros(len(X), dtype=bool)
    fixed[_corners(X, faces)] = True
    if keep is not None:
        fixed[keep] = True
    x = np.column_stack([X, np.zeros(len(X))]) if x is None else np.array(x, dtype=np.float64)
    if x.shape != (len(X), 3) or not np.isfinite(x).all():
        raise MeshError(f"world positions of shape {x.shape}", where="sheet.x", remedy=f"give {len(X)} finite points")
    none = np.full(len(X), -1, dtype=np.int64)
    return Sheet(x, X, np.zeros_like(x), np.zeros_like(X), faces, none, fixed)


def _check(X: Array, faces: IntArray) -> None:
    if X.ndim != 2 or X.shape[1] != 2 or not np.isfinite(X).all():
        raise MeshError(f"material positions of shape {X.shape}", where="sheet.X", remedy="give finite points (n, 2)")
    if faces.ndim != 2 or faces.shape[1] != 3 or len(faces) == 0 or faces.min() < 0 or faces.max() >= len(X):
        raise MeshError(f"faces of shape {faces.shape}", where="sheet.faces", remedy="give vertex numbers (m, 3)")
    unused = np.setdiff1d(np.arange(len(X)), faces)
    if len(unused):
        raise MeshError(f"vertex {unused[0]} is in no face", where="sheet.X", remedy="remove unreferenced vertices")
    areas = signed_areas(X, faces)
    bad = np.flatnonzero(~(areas > 0))
    if len(bad):
        raise MeshError(
            f"face {bad[0]} has material area {areas[bad[0]]:.3g} m^2",
            where="sheet.faces",
            remedy="turn faces counter-clockwise and remove degenerate ones",
        )
    if len(neighbours(faces, len(X))) == 0:
        raise MeshError("an edge has more than two faces", where="sheet.faces", remedy="give a manifold mesh")
    _check_overlap(X, faces, float(areas.sum()))


def _check_overlap(X: Array, faces: IntArray, area: float) -> None:
    """A domain that covers itself winds more than once around some face: the border's winding number tells."""
    edges = border_edges(faces, len(X))
    p = X[faces].mean(axis=1)
    a, b = X[edges[:, 0]], X[edges[:, 1]]
    step = max(1, len(p) // 500)
    for f in range(0, len(p), step):
        u, w = a - p[f], b - p[f]
        turn = np.arctan2(u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0], np.einsum("ij,ij->i", u, w)).sum() / (2 * np.pi)
        if abs(turn - 1) > 1e-6:
            raise MeshError(
                f"the material domain covers face {f} {turn:.0f} times (area {area:.3g} m^2)",
                where="sheet.X",
                remedy="material positions must be one flat pattern without overlap",
            )


def _corners(X: Array, faces: IntArray) -> IntArray:
    edges = border_edges(faces, len(X))
    following = dict(zip(edges[:, 0].tolist(), edges[:, 1].tolist(), strict=True))
    if len(following) != len(edges):
        raise MeshError("two borders meet in one vertex", where="sheet.faces", remedy="separate the parts")
    corners = []
    for a, b in edges.tolist():
        u, w = X[b] - X[a], X[following[b]] - X[b]
        if abs(u[0] * w[1] - u[1] * w[0]) > 1e-9 * np.linalg.norm(u) * np.linalg.norm(w):
            corners.append(b)
    return np.array(sorted(corners), dtype=np.int64)


def signed_areas(X: Array, faces: IntArray) -> Array:
    """Signed material areas (m,) [m^2]."""
    e1, e2 = X[faces[:, 1]] - X[faces[:, 0]], X[faces[:, 2]] - X[faces[:, 0]]
    return 0.5 * (e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0])


def rectangle(size: tuple[float, float], cells: tuple[int, int]) -> tuple[Array, IntArray]:
    """Material X-pattern grid [0, a] x [0, b]: four triangles per cell around its center [Weidner2022, Table 2.1]."""
    if min(size) <= 0 or min(cells) < 1:
        raise MeshError(
            f"rectangle of size {size} with cells {cells}", where="rectangle", remedy="use positive numbers"
        )
    nx, ny = cells
    u, w = np.meshgrid(np.arange(nx + 1), np.arange(ny + 1), indexing="ij")
    nodes = np.stack([u.ravel() * (size[0] / nx), w.ravel() * (size[1] / ny)], axis=1)
    i, j = (a.ravel() for a in np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij"))
    centers = np.stack([(i + 0.5) * (size[0] / nx), (j + 0.5) * (size[1] / ny)], axis=1)
    a = i * (ny + 1) + j
    b, c, d = a + ny + 1, a + ny + 2, a + 1
    m = len(nodes) + np.arange(nx * ny)
    faces = np.stack([np.stack(t, axis=1) for t in ((a, b, m), (b, c, m), (c, d, m), (d, a, m))], axis=1)
    return np.concatenate([nodes, centers]), faces.reshape(-1, 3).astype(np.int64)
