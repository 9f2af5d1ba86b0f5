"""Mass of linear elements, per vertex and as a matrix."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from pliant.arrays import Array
from pliant.errors import MeshError
from pliant.mesh.mesh import Mesh


def lumped_mass(mesh: Mesh, density: ArrayLike) -> Array:
    """Mass [kg] of every vertex (n,): an equal share of each of its elements, the row sums of `consistent_mass`.

    ``density``: one number or one per element, in kg/m^3 for tetrahedra, kg/m^2 for triangles, kg/m for springs.
    """
    k = mesh.T.shape[1]
    share = np.repeat(element_mass(mesh, density) / k, k)
    return np.bincount(mesh.T.ravel(), weights=share, minlength=len(mesh.X)).astype(np.float64, copy=False)


def consistent_mass(mesh: Mesh, density: ArrayLike) -> sp.csr_matrix:
    """Galerkin mass matrix [kg], (n, n): M_ij = sum over elements of m_e (1 + delta_ij) / (k (k + 1)), k vertices each.

    One row per vertex: ``sp.kron(M, np.eye(dim))`` acts on flat coordinates. ``density`` as in `lumped_mass`.
    """
    m, k = mesh.T.shape
    blocks = element_mass(mesh, density)[:, None, None] * ((np.ones((k, k)) + np.eye(k)) / (k * (k + 1)))
    rows = np.repeat(mesh.T, k, axis=1).ravel()
    columns = np.tile(mesh.T, (1, k)).ravel()
    M = sp.csr_matrix((blocks.ravel(), (rows, columns)), shape=(len(mesh.X), len(mesh.X)))
    M.sort_indices()
    return M


def element_mass(mesh: Mesh, density: ArrayLike) -> Array:
    """Mass [kg] of every element (m,)."""
    rho = np.asarray(density, dtype=np.float64)
    if rho.shape not in ((), (len(mesh.T),)):
        remedy = f"give one number or one per element, shape ({len(mesh.T)},)"
        raise MeshError(f"density has shape {rho.shape}", where="mass", remedy=remedy)
    bad = np.flatnonzero(~(np.atleast_1d(rho) > 0) | ~np.isfinite(np.atleast_1d(rho)))
    if len(bad):
        what = f"density is {np.atleast_1d(rho)[bad[0]]}" + (f" in element {bad[0]}" if rho.ndim else "")
        raise MeshError(what, where="mass", remedy="use a positive density")
    return rho * mesh.measures()
