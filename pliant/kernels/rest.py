"""Rest geometry of linear elements: which element it is, shape gradients, volumes, lane tables and matrix pattern."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import MeshError
from pliant.kernels.elements import MEMBRANE, PLANAR, TET, Element
from pliant.kernels.layout import BlockPattern, Layout, layout, pattern


@dataclass(frozen=True, eq=False)
class Elements:
    """All that depends on the rest mesh only, in the caller's element order unless it is inside ``place``."""

    kind: Element
    n: int
    nodes: IntArray  # (m, k) ascending within each element
    gradients: Array  # (m, 3, 3) shape gradients of nodes 1, 2, 3 [1/m], zero where there is none
    volumes: Array  # (m,) [m^3]
    axes: Array | None  # (m, 3, 3) rows: the in-plane axes and the normal of membrane triangles
    place: Layout

    @cached_property
    def pattern(self) -> BlockPattern:
        """Of the matrix; made when one is asked for."""
        return pattern(self.place)

    def flat(self, x: Array) -> Array:
        """x as the contiguous (dim*n,) vector that the kernels read."""
        x = np.ascontiguousarray(x, dtype=np.float64).ravel()
        if x.size != self.kind.dim * self.n:
            raise ValueError(f"{x.size} coordinates given for {self.n} vertices in {self.kind.dim} dimensions")
        return x

    def deformation(self, x: Array) -> Array:
        """F = D_s D_m^{-1} of positions (or Fdot of velocities) x (n*dim,): (m, 3, 3), (m, 2, 2) or (m, 3, 2)."""
        k = self.nodes.shape[1] - 1
        x = np.reshape(x, (self.n, self.kind.dim))
        edges = x[self.nodes[:, 1:]] - x[self.nodes[:, :1]]
        return np.einsum("mad,mac->mdc", edges, self.gradients[:, :k, :k])


def elements(X: Array, T: IntArray, n: int | None = None, thickness: float | None = None) -> Elements:
    """Tets T (m, 4) or triangles (m, 3) over X (n, 3), or triangles over X (n, 2); membranes need a thickness [m]."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    T = np.asarray(T, dtype=np.int64)
    kind = element_of(X, T)
    n = len(X) if n is None else n
    if len(T) == 0 or T.min() < 0 or T.max() >= min(n, len(X)):
        what = f"vertex {T.min() if T.min() < 0 else T.max()} of {len(X)}" if len(T) else "no elements"
        raise MeshError(f"{what} in T {T.shape}", remedy="number vertices from 0")
    nodes = np.sort(T, axis=1)  # F does not depend on the order, and sorted nodes touch upper blocks only
    edges = X[nodes[:, 1:]] - X[nodes[:, :1]]
    axes = triangle_axes(edges) if kind is MEMBRANE else None
    if axes is not None:
        edges = np.einsum("mad,mcd->mac", edges, axes[:, :2])
    volumes = measures(edges, kind, thickness)
    k = edges.shape[1]
    gradients = np.zeros((len(T), 3, 3))
    gradients[:, :k, :k] = np.linalg.inv(edges).transpose(0, 2, 1)
    place = layout(n, kind.dim, nodes, gradients, volumes, X[T].mean(axis=1))
    return Elements(kind, n, nodes, gradients, volumes, axes, place)


def element_of(X: Array, T: IntArray) -> Element:
    """The element meant by the shapes of rest positions and connectivity."""
    kinds = {(3, 4): TET, (2, 3): PLANAR, (3, 3): MEMBRANE}
    shape = (X.shape[1] if X.ndim == 2 else 0, T.shape[1] if T.ndim == 2 else 0)
    if shape not in kinds:
        raise MeshError(
            f"X {X.shape} with T {T.shape} makes no element",
            remedy="tets (m, 4) or triangles (m, 3) over X (n, 3), or triangles over X (n, 2)",
        )
    return kinds[shape]


def measures(edges: Array, kind: Element, thickness: float | None) -> Array:
    """Rest volumes (m,) [m^3]; planar solids are 1 m thick unless said otherwise."""
    if kind is MEMBRANE and thickness is None:
        raise MeshError("a membrane without thickness", remedy="give its thickness in metres")
    depth = 1.0 if thickness is None or kind is TET else float(thickness)
    if not depth > 0.0:
        raise MeshError(f"thickness = {thickness} m", remedy="give a positive thickness in metres")
    shape = np.abs(np.linalg.det(edges)) / (6.0 if kind is TET else 2.0)
    longest = np.abs(edges).max(axis=(1, 2)) ** edges.shape[1]
    flat = ~(shape > 1e-14 * longest)
    if flat.any():
        e = int(np.flatnonzero(flat)[0])
        raise MeshError(f"{int(flat.sum())} elements without volume, the first is {e}", remedy="see `pliant doctor`")
    return shape * depth


def triangle_axes(edges: Array) -> Array:
    """Orthonormal rows (m, 3, 3) of triangles with edges (m, 2, 3): first edge, in-plane normal to it, normal."""
    normal = np.cross(edges[:, 0], edges[:, 1])
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    first = edges[:, 0] / np.maximum(np.linalg.norm(edges[:, 0], axis=1), 1e-300)[:, None]
    return np.stack([first, np.cross(normal, first), normal], axis=1)
