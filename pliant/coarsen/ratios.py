"""The ratios of EigenFit: fine over coarse eigenvalues at rest, and whether the modes are the same shapes."""

import warnings
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.energies.base import Internal
from pliant.errors import MeshError, SceneError
from pliant.linear.modes import Modes, lowest
from pliant.mesh import Mesh, embed
from pliant.systems.eigenfit_modes import MATCH, Fit, Mismatch
from pliant.systems.elastodynamics import Elastodynamics

CLUSTER = 1e-3  # relative distance of eigenvalues below which modes mix freely and share a ratio


def rest_modes(system: Elastodynamics, s: int, *, tolerance: float = 1e-9) -> Modes:
    """The s lowest modes of the elastic energies at rest, over the free coordinates."""
    q = system.X.ravel()
    parts = [e.hessian(q) for e in system.energy_terms if isinstance(e, Internal)]
    if not parts:
        raise SceneError("no elastic energy", where="rest_modes", remedy="use a system with a solid body")
    K = sp.csr_matrix(system.restrict(sum(parts[1:], parts[0])))
    return lowest(K, sp.csr_matrix(system.restrict(system.mass(q))), s, tolerance=tolerance)


def prolongation(coarse: Mesh, fine: Mesh, *, slack: float = 0.05) -> sp.csr_matrix:
    """B (n_fine, n_coarse): fine vertices as combinations of coarse ones.

    The coarse mesh may be a cage around the fine one, or cut corners: fine vertices may lie outside by ``slack`` times
    its size, and volumes may differ by a factor of 2. Beyond, the meshes are not the same body and are refused.
    """
    filled = float(np.abs(fine.measures()).sum() / np.abs(coarse.measures()).sum())
    if not 0.5 <= filled <= 2.0:
        raise MeshError(
            f"the fine mesh has {filled:.3g} times the volume of the coarse one",
            where="prolongation",
            remedy="use two meshes of the same body in the same place and unit",
        )
    found = embed(coarse, fine.X)
    corners = coarse.X[found.vertices]
    distance = np.linalg.norm(fine.X[:, None] - corners, axis=2).min(axis=1)
    reach = np.linalg.norm(corners.max(axis=1) - corners.min(axis=1), axis=1)
    outside = found.outside
    overshoot = distance[outside] - reach[outside]
    far = overshoot > slack * coarse.size
    if far.any():
        worst = outside[int(np.argmax(overshoot))]
        raise MeshError(
            f"fine vertex {worst} is {overshoot.max():.3g} m away from the coarse mesh of size {coarse.size:.3g} m",
            where="prolongation",
            remedy="use two meshes of the same body in the same place and unit",
        )
    return found.matrix(len(coarse.X))


def fit(
    coarse: Elastodynamics,
    fine: Elastodynamics,
    B: sp.csr_matrix,
    s: int = 10,
    *,
    by: Literal["shape", "number"] = "shape",
    on_mismatch: Mismatch = "raise",
) -> Fit:
    """Ratios r_i = lam_fine,i / lam_coarse,i of the s lowest modes, 1 for rigid ones; ``B`` from `prolongation`.

    Modes are paired ``by`` "shape" (the assignment with the largest overlaps) or by "number", as the source does, which
    is wrong when two modes come in another order on the coarse mesh. Call it again when the constraints of the two
    systems change: ratios belong to boundary conditions. The test of the source: at least half of the coarse modes must
    look like a fine one; where they do not, "coarse" gives ratios of 1, with a warning.
    """
    from scipy.optimize import linear_sum_assignment

    for name, system in (("coarse", coarse), ("fine", fine)):
        if not 0 < s <= len(system.free):
            n = len(system.free)
            raise SceneError(f"s = {s} modes of {n} free coordinates ({name})", where="fit", remedy=f"use 1 ... {n}")
    c, f = (rest_modes(system, min(max(s, 8), len(system.free))) for system in (coarse, fine))
    rigid, rigid_fine = loose(c.lam)[:s], loose(f.lam)[:s]
    if rigid.sum() != rigid_fine.sum():
        raise SceneError(
            f"{rigid.sum()} of {s} modes of the coarse body are rigid, {rigid_fine.sum()} of the fine one",
            where="fit",
            remedy="hold both meshes in the same places: do the pins find vertices of the coarse one?",
        )
    U, lam_c, lam_f = c.U[:, :s], c.lam[:s], f.lam[:s]
    same = overlap(coarse, fine, B, U, f.U[:, :s])
    partner = linear_sum_assignment(-same)[1] if by == "shape" else np.arange(s)
    ratios = np.where(rigid, 1.0, shared(lam_c, lam_f[partner] / np.where(rigid, 1.0, lam_c)))
    found = Fit(ratios, lam_c, lam_f[partner], U, same[:, partner])
    if 2 * found.matched < s and on_mismatch != "ignore":
        what = f"only {found.matched} of {s} coarse modes resemble a fine one (overlap > {MATCH})"
        remedy = "use fewer modes, a finer coarse mesh, or on_mismatch='ignore'"
        if on_mismatch == "raise":
            raise SceneError(what, where="fit", remedy=remedy)
        warnings.warn(f"{what}; {remedy}", stacklevel=2)
        if on_mismatch == "coarse":
            return replace(found, ratios=np.ones(s))
    return found


def loose(lam: Array) -> Any:
    """Which of the lowest eigenvalues (more than six) belong to rigid motions."""
    return np.abs(lam) < 1e-6 * np.abs(lam).max()


def shared(lam: Array, ratios: Array) -> Array:
    """Ratios with one mean value for each cluster of nearly equal eigenvalues, whose modes mix."""
    breaks = np.flatnonzero(np.diff(lam) > CLUSTER * np.abs(lam[1:])) + 1
    return np.concatenate([np.full(len(part), part.mean()) for part in np.split(ratios, breaks)])


def overlap(coarse: Elastodynamics, fine: Elastodynamics, B: sp.csr_matrix, U_c: Array, U_f: Array) -> Array:
    """|(B U_c)^T M_f U_f| with both sets of columns of unit length in M_f."""
    d = coarse.X.shape[1]
    lifted = np.zeros((coarse.X.size, U_c.shape[1]))
    lifted[coarse.free] = U_c
    V = (sp.kron(B, sp.identity(d), format="csr") @ lifted)[fine.free]
    M = sp.csr_matrix(fine.restrict(fine.mass(fine.X.ravel())))
    V = V / np.sqrt(np.maximum(np.einsum("ij,ij->j", V, M @ V), 1e-300))
    return np.abs(V.T @ (M @ U_f))
