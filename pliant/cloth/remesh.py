"""Adaptive anisotropic remeshing of a sheet: flip, split what is too long, merge what is too short.

The size an edge should have comes from a tensor field in the material plane made of curvature, velocity gradient and
compression, bounded by the sizes asked for [Narain et al. 2012, as used in Weidner2022, sec. 2.6]. Edges on features
and on the border are kept, corners and handles are never removed, every face stays counter-clockwise in the material
plane.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray
from pliant.cloth import _metric, _sweeps
from pliant.cloth._topology import Tri, neighbours
from pliant.cloth.kinematics import corner_velocities
from pliant.cloth.sheet import Sheet, open_edges
from pliant.errors import SceneError
from pliant.kernels.bind import entry


@dataclass(frozen=True)
class FeatureTable:
    """Which sharp features connect: features 0 .. edges - 1 are edges, the others corners with their edges (c, d)."""

    edges: int = 0
    corner_edges: IntArray = field(default_factory=lambda: np.full((1, 1), -1, dtype=np.int64))


@dataclass(frozen=True)
class Remesher:
    """Sizes ``size_min <= size_max`` [m] and what a face may span: an ``angle`` [rad], a ``velocity`` difference [m/s],
    a ``compression`` (strain); ``aspect_min`` bounds the anisotropy."""

    size_min: float
    size_max: float
    angle: float = 0.3
    velocity: float = 0.5
    compression: float = 0.005
    aspect_min: float = 0.2
    units: ClassVar[dict[str, str]] = {"size_min": "m", "size_max": "m", "angle": "rad", "velocity": "m/s"}

    def __post_init__(self) -> None:
        if not 0 < self.size_min <= self.size_max:
            raise SceneError(
                f"edge sizes [{self.size_min}, {self.size_max}] m",
                where="Remesher",
                remedy="use 0 < size_min <= size_max",
            )
        if min(self.angle, self.velocity, self.compression, self.aspect_min) <= 0:
            raise SceneError("a refinement threshold is not positive", where="Remesher", remedy="use positive numbers")

    def sizing(self, sheet: Sheet, table: FeatureTable, N: IntArray | None = None) -> Array:
        """Sizing tensors (n, 3) = (xx, xy, yy) [1/m^2] at the vertices; ``N`` are the neighbours of the faces."""
        N = neighbours(sheet.faces, len(sheet.X)) if N is None else N
        refine = np.array([self.angle, self.velocity, self.compression])
        bounds = np.array([self.size_min, self.size_max, self.aspect_min])
        crease = creases(sheet, table)
        return _metric.sizing(sheet.x, sheet.X, corner_velocities(sheet), sheet.faces, N, crease, refine, bounds)


@dataclass(frozen=True)
class Edited:
    """A sheet with another mesh; ``origin (n,)`` is the vertex it was before (-1: new, with velocity 0)."""

    sheet: Sheet
    origin: IntArray
    operations: int


def creases(sheet: Sheet, table: FeatureTable) -> IntArray:
    """(m, 3) whether the edge opposite to a corner lies on a sharp feature."""
    f = sheet.feature[sheet.faces]
    a, b = f[:, [1, 2, 0]], f[:, [2, 0, 1]]
    both = (a >= 0) & (b >= 0)
    e = table.edges
    crease = both & (a == b) & (a < e)
    for i, k in np.argwhere(both & ((a >= e) != (b >= e))):
        crease[i, k] = entry(_sweeps.shared_edge)(a[i, k], b[i, k], e, table.corner_edges) >= 0
    return crease


class Solids(NamedTuple):
    """Planes ``(p, 4)`` of convex bodies, where those of each begin ``(b + 1,)``, and how deep edges may sink [m]."""

    planes: Array = np.zeros((0, 4))
    start: IntArray = np.zeros(1, dtype=np.int64)
    sunk: float = 0.0


NO_SOLIDS = Solids()


def opened(sheet: Sheet, S: Array, N: IntArray | None = None, solids: Solids = NO_SOLIDS) -> Tri:
    """The sheet as arrays under edit, with room to grow; ``N`` are the neighbours of its faces."""
    n, m = len(sheet.X), len(sheet.faces)
    N = neighbours(sheet.faces, n) if N is None else N
    more = n + 500

    def grown(a: NDArray[Any], extra: int, fill: int = 0) -> NDArray[Any]:
        return np.concatenate([a, np.full((extra, *a.shape[1:]), fill, dtype=a.dtype)])

    some_face = np.full(n, -1, dtype=np.int64)
    some_face[sheet.faces.ravel()] = np.repeat(np.arange(m), 3)
    return Tri(
        grown(sheet.faces, 2 * more, -1),
        grown(N, 2 * more, -1),
        grown(some_face, more, -1),
        grown(sheet.X, more),
        grown(sheet.x, more),
        grown(sheet.feature, more, -1),
        grown(sheet.flagged(open_edges(sheet.faces, N)), more),
        grown(S, more),
        np.array([n, m], dtype=np.int64),
        *solids,
    )


def closed(tri: Tri, before: Sheet, operations: int) -> Edited:
    """The edited mesh as a sheet again: vertices and faces keep their order, removed ones are left out."""
    n, m = tri.count
    kept = np.flatnonzero(tri.VF[:n] >= 0)
    number = np.full(n, -1, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    faces = tri.F[:m]
    faces = number[faces[faces[:, 0] >= 0]]
    origin = np.where(kept < len(before.X), kept, -1)
    old = origin >= 0
    v, V = np.zeros((len(kept), 3)), np.zeros((len(kept), 2))
    v[old], V[old] = before.v[origin[old]], before.V[origin[old]]
    fixed = np.zeros(len(kept), dtype=bool)
    fixed[old] = before.fixed[origin[old]]
    sheet = Sheet(tri.x[kept], tri.X[kept], v, V, faces, tri.feature[kept], fixed)
    return Edited(sheet, origin, operations)


def refined(tri: Tri, remesher: Remesher, table: FeatureTable) -> tuple[Tri, int]:
    """One round of flips, splits and merges toward the sizing field of the mesh under edit; the operations done."""
    operations = 0
    while True:
        operations += entry(_sweeps.flips)(tri, table.edges, table.corner_edges)
        splits = _sweeps.splits(tri, table.edges, table.corner_edges)
        operations += splits if splits >= 0 else -1 - splits
        if splits >= 0:
            break
        tri = enlarged(tri)
    operations += _sweeps.collapses(tri, remesher.size_min, remesher.aspect_min, table.edges, table.corner_edges)
    return tri, operations


def remesh(sheet: Sheet, S: Array, remesher: Remesher, table: FeatureTable) -> Edited:
    """The sheet remeshed toward the sizing field ``S (n, 3)``; usable for any cloth."""
    tri, operations = refined(opened(sheet, S), remesher, table)
    return closed(tri, sheet, operations)


def enlarged(tri: Tri) -> Tri:
    """The same mesh under edit in arrays twice as long."""
    fill = {"F": -1, "N": -1, "VF": -1, "feature": -1, "X": 0, "x": 0, "flags": 0, "S": 0}
    longer: dict[str, Any] = {
        name: np.concatenate([a := getattr(tri, name), np.full_like(a, k)]) for name, k in fill.items()
    }
    return tri._replace(**longer)
