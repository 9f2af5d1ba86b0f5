"""Kinematics and inertia of triangles whose corners move in the world and in the material.

With N_k the hat functions, F = sum x_k b_k^T and u_k = xdot_k - F Xdot_k the velocity of the material at corner k,

    v(X) = sum N_k u_k,    M = [ m (x) I, -m (x) F ; . , m (x) F^T F ],    m = rho A / 12 (1 + I)

[Weidner2022, Eq. 2.2, 2.4, 2.8; the area element of Eq. 2.6 is 2 A]. Every matrix and force of the world is pulled back
the same way: f -> (f, -F^T f), K -> (K, -K F; -F^T K, F^T K F) [Weidner2022, Eq. 2.9, 2.10].
"""

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.cloth._metric import angle_average
from pliant.cloth.sheet import Sheet
from pliant.energies.membrane import material_gradients
from pliant.kernels.bind import entry
from pliant.kernels.membrane import deformation

MASS = (np.ones((3, 3)) + np.eye(3)) / 12


def deformation_gradients(x: Array, X: Array, faces: IntArray) -> Array:
    """F (m, 3, 2) of every face [Weidner2022, Eq. 2.3]."""
    return entry(deformation)(x, faces, material_gradients(X, faces)[0])


def corner_velocities(sheet: Sheet) -> Array:
    """u (m, 3, 3): world velocity of the material at the corners of every face [m/s] [Weidner2022, Eq. 2.2]."""
    u = sheet.v[sheet.faces]
    flowing = np.flatnonzero(np.any(sheet.V[sheet.faces], axis=(1, 2)))
    if len(flowing):
        faces = sheet.faces[flowing]
        F = deformation_gradients(sheet.x, sheet.X, faces)
        u[flowing] -= np.einsum("mij,mkj->mki", F, sheet.V[faces])
    return u


def vertex_gradients(sheet: Sheet, at: IntArray) -> Array:
    """Deformation gradients (k, 3, 2) averaged over the faces at the vertices ``at (k,)`` by their angles there."""
    wanted = np.zeros(len(sheet.X), dtype=bool)
    wanted[at] = True
    faces = sheet.faces[wanted[sheet.faces].any(axis=1)]
    return np.asarray(angle_average(deformation_gradients(sheet.x, sheet.X, faces), sheet.X, faces)[at])


def material_directions(F: Array, e: Array) -> Array:
    """Material directions (k, 2) whose images under F (k, 3, 2) are closest to the world directions e (k, 3).

    An averaged F of cloth folded onto itself hardly moves across the fold: the shift keeps that out of the answer.
    """
    FtF = np.einsum("kia,kib->kab", F, F) + 0.05 * np.eye(2)
    return np.asarray(np.linalg.solve(FtF, np.einsum("kia,ki->ka", F, e)[..., None])[..., 0])


def material_velocities(sheet: Sheet) -> Array:
    """World velocity of the material at each vertex (n, 3) [m/s], with the averaged F where V is not zero."""
    flowing = np.flatnonzero(sheet.V.any(axis=1))
    u = sheet.v.copy()
    if len(flowing):
        u[flowing] -= np.einsum("nij,nj->ni", vertex_gradients(sheet, flowing), sheet.V[flowing])
    return u


def quadratic_velocity(sheet: Sheet, rho: float) -> tuple[Array, Array]:
    """Quadratic-velocity vector 1/2 d(qdot^T M qdot)/dq - Mdot qdot per face: (m, 3, 3) on x and (m, 3, 2) on X [N].

    [Weidner2022, Eq. 2.11] leaves it out; it carries the momentum of material that crosses a crease.
    """
    b, A = material_gradients(sheet.X, sheet.faces)
    F = entry(deformation)(sheet.x, sheet.faces, b)
    V = sheet.V[sheet.faces]
    u = corner_velocities(sheet)
    m = (rho * A)[:, None, None] * MASS
    p = np.einsum("eij,ejk->eik", m, u)
    Fdot = np.einsum("eki,ekj->eij", u, b)
    growth = np.einsum("eij,eij->e", b, V)
    energy = 0.5 * np.einsum("eij,eij->e", u, p)
    r = np.einsum("eia,eja,ejk->eik", b, V, p)
    s = growth[:, None, None] * p - np.einsum("eki,eji->ejk", Fdot, np.einsum("eij,ejk->eik", m, V)) + r
    fX = np.einsum("eki,ejk->eji", F, s) + np.einsum("eki,ejk->eji", Fdot, p) + energy[:, None, None] * b
    return -s, fX
