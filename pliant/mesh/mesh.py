"""The constant geometry: rest positions and elements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.arrays import Array, IntArray
from pliant.errors import MeshError
from pliant.html import table
from pliant.mesh import measures as sizes
from pliant.mesh import topology
from pliant.mesh.checks import Finding, faults

Kind = Literal["tetrahedra", "triangles", "springs"]
_KIND: dict[int, Kind] = {4: "tetrahedra", 3: "triangles", 2: "springs"}


@dataclass(frozen=True, eq=False)
class Mesh:
    """Rest positions ``X (n, 3)`` [m] and elements ``T (m, k)``: k = 4 tetrahedra, 3 triangles, 2 springs.

    Planar solids have ``X (n, 2)``. ``region (m,)`` numbers the parts of a mesh (layers, tendons, ...).
    A Mesh can be simulated: whatever cannot (NaN, wrong indices, inverted, flat or duplicate elements, vertices without
    an element) is refused here with a MeshError. `repair` makes a Mesh of such arrays, `doctor` lists all their faults.
    The arrays are copied, and are never edited afterwards.
    """

    X: Array
    T: IntArray
    region: IntArray | None = None

    def __post_init__(self) -> None:
        try:
            X, T = np.asarray(self.X), np.asarray(self.T)
        except ValueError as error:
            remedy = "give as many numbers in every row"
            raise MeshError(f"rows of different lengths ({error})", where="Mesh", remedy=remedy) from None
        found = faults(X, T)
        if found:
            raise refusal(found[0])
        object.__setattr__(self, "X", np.array(X, dtype=np.float64, order="C"))
        object.__setattr__(self, "T", np.array(T, dtype=np.int64, order="C"))
        if self.region is not None:
            object.__setattr__(self, "region", _checked_region(self.region, len(T)))

    def __repr__(self) -> str:
        return f"Mesh({len(self.X)} vertices, {len(self.T)} {self.kind}, {self.dim}-D, {self.size:.3g} m)"

    @property
    def dim(self) -> int:
        """Dimension of the space: 3, or 2 for planar bodies."""
        return self.X.shape[1]

    @property
    def kind(self) -> Kind:
        return _KIND[self.T.shape[1]]

    @property
    def bounds(self) -> Array:
        """Lowest and highest corner of the bounding box [m], (2, dim)."""
        return np.stack((self.X.min(axis=0), self.X.max(axis=0)))

    @property
    def size(self) -> float:
        """Diagonal of the bounding box [m]."""
        low, high = self.bounds
        return float(np.linalg.norm(high - low))

    def where(self, predicate: Callable[[Array], NDArray[np.bool_]]) -> IntArray:
        """Indices of the vertices for which ``predicate(X)`` (an (n,) boolean array) holds."""
        if not callable(predicate):
            remedy = "give a function, such as lambda X: X[:, 0] < 1e-9"
            raise MeshError(f"the predicate is {predicate!r}", where="where", remedy=remedy)
        chosen = np.asarray(predicate(self.X))
        if chosen.shape != (len(self.X),) or chosen.dtype != np.bool_:
            what = f"the predicate returned shape {chosen.shape} of type {chosen.dtype}"
            raise MeshError(what, where="where", remedy=f"return one boolean per vertex, shape ({len(self.X)},)")
        return np.flatnonzero(chosen)

    def line(self, start: Sequence[float], end: Sequence[float]) -> IntArray:
        """The vertices on the straight line from ``start`` to ``end`` [m], in this order: what a seam joins."""
        a, d = np.asarray(start, dtype=np.float64), np.subtract(end, start)
        length = float(np.linalg.norm(d))
        s = (self.X - a) @ d / max(length, 1e-300)
        off = np.linalg.norm(self.X - a - np.outer(s, d) / max(length, 1e-300), axis=1)
        near = 1e-6 * self.size
        found = np.flatnonzero((off <= near) & (s >= -near) & (s <= length + near))
        if not len(found):
            what = f"no vertex on the line from {tuple(a.tolist())} to {tuple(np.asarray(end).tolist())}"
            raise MeshError(what, where="line", remedy="give two points of the mesh's own border")
        return found[np.argsort(s[found], kind="stable")]

    def measures(self) -> Array:
        """Volume [m^3], area [m^2] or length [m] of every element, (m,)."""
        return sizes.measures(self.X, self.T)

    def _repr_html_(self) -> str:
        low, high = self.bounds
        size = " x ".join(f"{side:.4g}" for side in high - low)
        measure = {"tetrahedra": "volume [m^3]", "triangles": "area [m^2]"}.get(self.kind, "length [m]")
        rows = {"vertices": len(self.X), self.kind: len(self.T), "size [m]": size}
        return table("Mesh", rows | {measure: float(self.measures().sum())})

    def edges(self) -> IntArray:
        """Unique edges (e, 2)."""
        return topology.edges(self.T)

    def surface(self) -> IntArray:
        """Outward counter-clockwise triangles (k, 3): the boundary of a tet mesh, all triangles of a triangle mesh."""
        if self.kind == "springs":
            raise MeshError(f"a mesh of {len(self.T)} springs has no surface", where="surface", remedy="use edges()")
        return self.T.copy() if self.kind == "triangles" else topology.boundary_facets(self.T)

    def boundary(self) -> IntArray:
        """Vertices on the boundary (b,): on the surface of tets, on the border of triangles, loose ends of springs."""
        return np.unique(topology.boundary_facets(self.T))

    def components(self) -> tuple[int, IntArray]:
        """Number of connected pieces and the piece of every element (m,)."""
        return topology.components(len(self.X), self.T)

    def transformed(
        self, *, scale: ArrayLike = 1.0, rotate: ArrayLike | None = None, translate: ArrayLike = 0.0
    ) -> "Mesh":
        """Scaled (one factor or one per axis, positive), then rotated by a (dim, dim) matrix, then moved [m]."""
        factors = np.broadcast_to(np.asarray(scale, dtype=np.float64), (self.dim,))
        if not (np.isfinite(factors).all() and (factors > 0).all()):
            raise MeshError(f"scale is {factors.tolist()}", where="transformed", remedy="use positive factors")
        R = np.eye(self.dim) if rotate is None else np.asarray(rotate, dtype=np.float64)
        proper = R.shape == (self.dim, self.dim) and np.allclose(R @ R.T, np.eye(self.dim), atol=1e-9)
        if not proper or np.linalg.det(R) < 0:
            what = f"rotate is {R.tolist()}"
            raise MeshError(what, where="transformed", remedy=f"give a {self.dim} x {self.dim} rotation matrix")
        return Mesh(X=(self.X * factors) @ R.T + np.asarray(translate, dtype=np.float64), T=self.T, region=self.region)

    def submesh(self, elements: ArrayLike) -> "Mesh":
        """The chosen elements (indices, or one boolean each) with their vertices, in the order of this mesh."""
        chosen = np.asarray(elements)
        if chosen.dtype == np.bool_ and chosen.shape != (len(self.T),):
            what = f"a mask of shape {chosen.shape} for {len(self.T)} elements"
            raise MeshError(what, where="submesh", remedy="give one boolean for each")
        chosen = np.flatnonzero(chosen) if chosen.dtype == np.bool_ else np.unique(chosen)
        if chosen.dtype.kind not in "iu" or not len(chosen) or chosen[0] < 0 or chosen[-1] >= len(self.T):
            what = f"elements {chosen[:1].tolist()} ... {chosen[-1:].tolist()} of a mesh with {len(self.T)}"
            raise MeshError(what, where="submesh", remedy="choose at least one existing element")
        used, T = np.unique(self.T[chosen], return_inverse=True)
        region = None if self.region is None else self.region[chosen]
        return Mesh(X=self.X[used], T=T.reshape(len(chosen), -1), region=region)


def merged(meshes: list[Mesh]) -> Mesh:
    """Several meshes of one kind as one, in order, not welded. Regions are kept; without any they number the meshes."""
    kinds = {(mesh.kind, mesh.dim) for mesh in meshes}
    if len(kinds) != 1:
        what = f"{len(meshes)} meshes of the kinds {sorted(kinds)}"
        raise MeshError(what, where="merged", remedy="merge meshes of one kind and dimension")
    start = np.cumsum([0] + [len(mesh.X) for mesh in meshes])
    numbered = all(mesh.region is None for mesh in meshes)
    region = [
        np.full(len(mesh.T), i if numbered else 0) if mesh.region is None else mesh.region
        for i, mesh in enumerate(meshes)
    ]
    return Mesh(
        X=np.concatenate([mesh.X for mesh in meshes]),
        T=np.concatenate([mesh.T + s for mesh, s in zip(meshes, start)]),
        region=np.concatenate(region),
    )


def refusal(finding: Finding, *, where: str = "Mesh") -> MeshError:
    """The error that refuses a mesh because of this finding."""
    return MeshError(f"{finding.name}: {finding.what}", where=where, remedy=finding.remedy)


def _checked_region(region: IntArray, m: int) -> IntArray:
    numbers = np.asarray(region)
    if numbers.shape != (m,) or numbers.dtype.kind not in "iu":
        what = f"region has shape {numbers.shape} and type {numbers.dtype}"
        raise MeshError(what, where="Mesh", remedy=f"give one integer per element, shape ({m},)")
    return numbers.astype(np.int64)
