"""Glue between discontinuous linear triangles: the BZ and IP fluxes in the plane. [Chen2019, Eq. 5.9-5.10, corrected]

Every triangle owns its vertices. On an inner edge (a, b) of length L with rest normal n the jumps j0 = a_- - a_+ and
j1 = b_- - b_+ of the vertices give the jump of the affine displacement, and the energies are exact integrals:

    BZ   W = eta/2 sum_f int |j|^2 = eta/2 sum_f L/3 (|j0|^2 + j0.j1 + |j1|^2)
    IP   W = BZ - sum_f int [[u]] : {P} = BZ - sum_f L/2 (j0 + j1) . {P} n = BZ - sum_e P_e : G_e,

with G_e = sum over the edges of e of L/4 (j0 + j1) n^T, because P is constant per triangle. The source leaves out the
1/2 of the penalty: its eta is half of this one.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import MeshError, SceneError
from pliant.materials.base import Material
from pliant.mesh.mesh import Mesh

NAME = "glue"


def explode(mesh: Mesh) -> Mesh:
    """The same triangles, each with vertices of its own: vertex 3 e + k is corner k of triangle e."""
    if mesh.T.shape[1] != 3 or mesh.dim != 2:
        raise MeshError(f"{mesh}", where="explode", remedy="use triangles in the plane")
    return Mesh(X=mesh.X[mesh.T].reshape(-1, 2), T=np.arange(3 * len(mesh.T)).reshape(-1, 3))


@dataclass(frozen=True, eq=False)
class Interfaces:
    """Inner edges of a planar mesh between the vertices of its exploded triangles."""

    vertices: IntArray  # (f, 4): a_-, a_+, b_-, b_+
    triangles: IntArray  # (f, 2): T_-, T_+
    length: Array  # (f,) [m]
    normal: Array  # (f, 2) outward of T_- at rest


def interfaces(mesh: Mesh) -> Interfaces:
    """The inner edges of the continuous ``mesh``."""
    m = len(mesh.T)
    corner = np.array([[0, 1], [1, 2], [2, 0]])
    edges = mesh.T[:, corner].reshape(-1, 2)
    own = (3 * np.arange(m)[:, None, None] + corner).reshape(-1, 2)
    swapped = edges[:, 0] > edges[:, 1]
    key, own = np.where(swapped[:, None], edges[:, ::-1], edges), np.where(swapped[:, None], own[:, ::-1], own)
    order = np.lexsort((key[:, 1], key[:, 0]))
    same = np.flatnonzero((key[order[1:]] == key[order[:-1]]).all(axis=1))
    minus, plus = order[same], order[same + 1]
    vertices = np.stack([own[minus, 0], own[plus, 0], own[minus, 1], own[plus, 1]], axis=1)
    a, b = mesh.X[key[minus, 0]], mesh.X[key[minus, 1]]
    length = np.linalg.norm(b - a, axis=1)
    normal = np.column_stack([b[:, 1] - a[:, 1], a[:, 0] - b[:, 0]]) / length[:, None]
    inside = mesh.X[mesh.T[minus // 3]].mean(axis=1) - a
    normal *= np.where((normal * inside).sum(axis=1) > 0, -1.0, 1.0)[:, None]
    return Interfaces(vertices, np.stack([minus // 3, plus // 3], axis=1), length, normal)


def jump_operator(edges: Interfaces, n: int) -> sp.csr_matrix:
    """(2 f, n): the jumps j0 and j1 of a scalar field on the n exploded vertices, edge after edge."""
    f = len(edges.length)
    rows = np.repeat(np.arange(2 * f), 2)
    return sp.csr_matrix((np.tile([1.0, -1.0], 2 * f), (rows, edges.vertices.ravel())), shape=(2 * f, n))


class BZ:
    """The penalty W = eta/2 sum_f int |jump|^2 with ``eta`` [Pa/m]; quadratic, positive semidefinite for any eta > 0.

    ``mesh`` is the continuous mesh; coordinates are those of `explode(mesh)`, shifted by ``first`` vertices in a
    system of ``n``.
    """

    internal: ClassVar[bool] = True

    def __init__(self, mesh: Mesh, eta: float, *, first: int = 0, n: int | None = None, name: str = NAME) -> None:
        if not (np.isfinite(eta) and eta > 0.0):
            raise SceneError(f"eta is {eta}", where="BZ.eta", remedy="use a positive penalty [Pa/m]")
        self.name, self.eta = name, float(eta)
        self.edges = interfaces(mesh)
        size = 3 * len(mesh.T) if n is None else n
        J = jump_operator(self.edges, 3 * len(mesh.T))
        pair = sp.kron(sp.diags(self.edges.length / 6.0), np.array([[2.0, 1.0], [1.0, 2.0]]))
        glue = sp.coo_matrix(J.T @ pair @ J)
        placed = sp.csr_matrix((glue.data, (glue.row + first, glue.col + first)), shape=(size, size))
        self._hessian = sp.csr_matrix(sp.kron(self.eta * placed, sp.identity(2), format="csr"))
        self._hessian.sort_indices()

    def value(self, x: Array) -> float:
        return 0.5 * float(x @ (self._hessian @ x))

    def gradient(self, x: Array) -> Array:
        return self._hessian @ x

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        return self._hessian


class IP:
    """Interior penalty: BZ minus the work of the mean stress on the jump; consistent, positive for eta large enough.

    ``psd=True`` keeps the penalty alone: the consistency terms are definite only together with the elements.
    """

    internal: ClassVar[bool] = True

    def __init__(self, mesh: Mesh, material: Material, eta: float, *, name: str = NAME) -> None:
        self.name, self.material = name, material
        self.penalty = BZ(mesh, eta, name=name)
        m = len(mesh.T)
        self._F0, self._B = deformation_operator(mesh)
        edges = self.penalty.edges
        f = len(edges.length)
        # G_e = sum L/4 (j0 + j1) n^T, as (9 m, 2 n): columns are stacked, entry (i, j) of a 3x3 block stands at 3 j + i
        total = sp.kron(sp.identity(f), np.ones((1, 2))) @ jump_operator(edges, 3 * m)
        rows, columns, values = [], [], []
        for side in range(2):
            for i in range(2):
                for j in range(2):
                    rows.append(9 * edges.triangles[:, side] + 3 * j + i)
                    columns.append(2 * np.arange(f) + i)
                    values.append(0.25 * edges.length * edges.normal[:, j])
        spread = sp.csr_matrix(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(9 * m, 2 * f)
        )
        self._G = sp.csr_matrix(spread @ sp.kron(total, sp.identity(2)))

    def _deformation(self, x: Array) -> tuple[Array, Array]:
        """F (m, 3, 3) and vec G (m, 9)."""
        F = (self._F0 + self._B @ x).reshape(-1, 3, 3).transpose(0, 2, 1)
        return F, (self._G @ x).reshape(-1, 9)

    def value(self, x: Array) -> float:
        F, G = self._deformation(x)
        return self.penalty.value(x) - float((vec(self.material.piola(F)) * G).sum())

    def gradient(self, x: Array) -> Array:
        F, G = self._deformation(x)
        CG = np.einsum("eij,ej->ei", self.material.tangent(F), G)
        return self.penalty.gradient(x) - self._B.T @ CG.ravel() - self._G.T @ vec(self.material.piola(F)).ravel()

    def hessian(self, x: Array, *, psd: bool = False) -> sp.csr_matrix:
        if psd:
            return self.penalty.hessian(x)
        F, G = self._deformation(x)
        C = blocks(self.material.tangent(F))
        mixed = self._B.T @ C @ self._G
        H = self.penalty.hessian(x) - mixed - mixed.T - self._B.T @ blocks(self._third(F, G)) @ self._B
        H = sp.csr_matrix(H)
        H.sort_indices()
        return H

    def _third(self, F: Array, G: Array) -> Array:
        """psi'''[G] (m, 9, 9), the derivative of the tangent along G, by central differences of the tangent.

        The source drops this term, which is exact only for linear elasticity or without jumps.
        """
        size = np.maximum(np.linalg.norm(G, axis=1), 1e-300)[:, None, None]
        step = 1e-5 * G.reshape(-1, 3, 3).transpose(0, 2, 1) / size
        return (self.material.tangent(F + step) - self.material.tangent(F - step)) * (size / 2e-5)


def coercive_eta(mesh: Mesh, mu: float, lam: float) -> float:
    """A penalty above which IP is positive: max over triangles of (2 mu + 2 lam) (inner edge lengths) / (2 area)."""
    edges = interfaces(mesh)
    inner = np.bincount(edges.triangles.ravel(), weights=np.repeat(edges.length, 2), minlength=len(mesh.T))
    return float(((2 * mu + 2 * lam) * inner / (2 * np.abs(mesh.measures()))).max())


def deformation_operator(mesh: Mesh) -> tuple[Array, sp.csr_matrix]:
    """vec F = F0 + B x for exploded coordinates x (6 m,): 3x3 gradients in plane strain, columns stacked."""
    X = mesh.X[mesh.T]
    m = len(X)
    inverse = np.linalg.inv((X[:, 1:] - X[:, :1]).transpose(0, 2, 1))  # D_m^-1, columns of D_m are edges
    gradients = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)  # (m, 3 corners, 2)
    e, a, i, j = np.meshgrid(np.arange(m), np.arange(3), np.arange(2), np.arange(2), indexing="ij")
    B = sp.csr_matrix(
        (gradients[e, a, j].ravel(), ((9 * e + 3 * j + i).ravel(), (6 * e + 2 * a + i).ravel())), shape=(9 * m, 6 * m)
    )
    F0 = np.zeros((m, 9))
    F0[:, 8] = 1.0
    return F0.ravel(), B


def vec(P: Array) -> Array:
    """Columns stacked: (m, 3, 3) to (m, 9)."""
    return P.transpose(0, 2, 1).reshape(-1, 9)


def blocks(C: Array) -> sp.csr_matrix:
    """Block diagonal of (m, 9, 9)."""
    m = len(C)
    return sp.csr_matrix(sp.bsr_matrix((C, np.arange(m), np.arange(m + 1)), shape=(9 * m, 9 * m)))
