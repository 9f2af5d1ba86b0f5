"""Elastic energy of linear finite elements, W(x) = sum_e V_e psi(F_e): tetrahedra, planar triangles, membranes.

F = D_s D_m^{-1}; value, gradient and Hessian run through the compiled passes of `pliant.kernels` for any material.
Results are bit-identical for any number of threads.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import MaterialError, MeshError
from pliant.kernels import assembly
from pliant.kernels.elements import MEMBRANE, PLANAR, TET
from pliant.kernels.layout import layout, pattern
from pliant.materials.base import Material, terms_of


class Elastic:
    """Elastic energy of elements ``T (m, 4 | 3)`` over rest positions ``X (n, 3 | 2)`` [m], as an `Energy`.

    - ``T (m, 4)``, ``X (n, 3)``: a solid;
    - ``T (m, 3)``, ``X (n, 2)``: a planar solid, ``plane="strain"`` (default) or ``"stress"``, of the given thickness;
    - ``T (m, 3)``, ``X (n, 3)``: a membrane of the given ``thickness`` [m], in plane stress unless said otherwise.

    ``n`` is the number of vertices of the whole system when T refers to more than the rows of X. The order and
    orientation of the vertices of an element do not matter.
    """

    def __init__(
        self,
        X: Array,
        T: IntArray,
        material: Material,
        n: int | None = None,
        *,
        name: str = "elastic",
        plane: str | None = None,
        thickness: float | None = None,
    ) -> None:
        X = np.ascontiguousarray(X, dtype=np.float64)
        T = np.asarray(T, dtype=np.int64)
        self.name, self.X, self.T = name, X, T
        self.n = len(X) if n is None else n
        self.element = element_of(X, T)
        self.material = planar(material, self.element, plane)
        self.dim: int = self.element.dim
        gradients, volumes, axes = reference(X, np.sort(T, axis=1), thickness)
        if axes is not None:
            if not material.rotation_invariant:
                raise MaterialError("a membrane turns freely and needs a rotation-invariant material", where=name)
            self.material = self.material.in_axes(axes)
        self.volumes = volumes  # (m,) rest volumes [m^3]
        self._layout = layout(self.n, self.dim, np.sort(T, axis=1), gradients, volumes, X[T].mean(axis=1))
        self._pattern = pattern(self._layout)
        self._terms = terms_of(self.material, self.element, self._layout, where=name)
        self._gradients = gradients

    # ---- Energy

    def value(self, x: Array) -> float:
        """Total energy [J] of the flat positions x (dim*n,)."""
        return float(assembly.element_energies(self._layout, self._terms, flat(x)).sum())

    def gradient(self, x: Array) -> Array:
        """dW/dx (dim*n,) [N]; the force is its negative."""
        return assembly.gradient(self._layout, self._terms, flat(x))

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        """d2W/dx2; ``psd`` clamps the element tangents in closed form. Every call shares indptr and indices."""
        data = assembly.hessian(self._layout, self._pattern, self._terms, flat(x), psd)
        return matrix(data, self._pattern.indices, self._pattern.indptr, self.dim * self.n)


def flat(x: Array) -> Array:
    return np.ascontiguousarray(x, dtype=np.float64).ravel()


def matrix(data: Array, indices: Any, indptr: Any, size: int) -> sp.csr_matrix:
    """CSR matrix over existing structure arrays, without SciPy's checks and copies of them."""
    A = sp.csr_matrix((size, size))
    A.data, A.indices, A.indptr = data, indices, indptr
    A.has_sorted_indices = True
    A.has_canonical_format = True
    return A


def element_of(X: Array, T: IntArray) -> Any:
    """The element meant by the shapes of rest positions and connectivity."""
    kinds = {(3, 4): TET, (2, 3): PLANAR, (3, 3): MEMBRANE}
    shape = (X.shape[1] if X.ndim == 2 else 0, T.shape[1] if T.ndim == 2 else 0)
    if shape not in kinds:
        raise MeshError(
            f"X {X.shape} with T {T.shape} is no element we know",
            remedy="tets (m, 4) or triangles (m, 3) over X (n, 3), or triangles over X (n, 2)",
        )
    return kinds[shape]


def planar(material: Material, element: Any, plane: str | None) -> Material:
    """The material as the plane sees it: plane strain is what the kernels do, plane stress maps the parameters."""
    if element is TET:
        if plane is not None:
            raise MeshError(f'plane = "{plane}" given for tetrahedra', remedy="leave it out")
        return material
    plane = plane or ("stress" if element is MEMBRANE else "strain")
    if plane not in ("strain", "stress"):
        raise MaterialError(f'plane = "{plane}"', remedy='say "strain" or "stress"')
    return material.plane_stress() if plane == "stress" else material


def reference(X: Array, T: IntArray, thickness: float | None) -> tuple[Array, Array, Array | None]:
    """Shape gradients of nodes 1.. (m, 3, 3), rest volumes (m,), and for membranes the element axes (m, 3, 3)."""
    edges = X[T[:, 1:]] - X[T[:, :1]]
    m, k, d = edges.shape
    axes = None
    if k < d:
        axes = triangle_axes(edges)
        edges = np.einsum("mkd,mid->mki", edges, axes[:, :2])
    if k == 2:
        h = thickness if thickness is not None else (1.0 if d == 2 else None)
        if h is None or not h > 0:
            raise MeshError(f"thickness = {thickness} of a membrane", remedy="give its thickness in metres")
    measure = np.abs(np.linalg.det(edges)) * (1 / 6 if k == 3 else 0.5 * h)
    scale = np.abs(edges).max(axis=(1, 2)) ** k
    bad = ~(measure > 1e-14 * scale * (1.0 if k == 3 else h))
    if bad.any():
        e = int(np.flatnonzero(bad)[0])
        raise MeshError(
            f"{int(bad.sum())} degenerate elements, first {e} with volume {measure[e]:g}", remedy="run the mesh doctor"
        )
    gradients = np.zeros((m, 3, 3))
    gradients[:, :k, :k] = np.linalg.inv(edges).transpose(0, 2, 1)
    return gradients, measure, axes


def triangle_axes(edges: Array) -> Array:
    """Orthonormal rows (m, 3, 3) of triangles with edges (m, 2, 3): first edge, in-plane normal to it, normal."""
    first = edges[:, 0] / np.linalg.norm(edges[:, 0], axis=1)[:, None]
    normal = np.cross(edges[:, 0], edges[:, 1])
    normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
    return np.stack([first, np.cross(normal, first), normal], axis=1)
