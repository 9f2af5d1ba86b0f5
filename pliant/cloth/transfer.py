"""Velocity transfer between meshes: what the material does in the world must not change [Weidner2022, sec. 2.6.2].

    new Lagrangian vertex     xdot = material velocity of the old mesh there
    new on a split crease     mean of xdot and of Xdot of its two neighbours on the crease (both old)
    new from a collision      as much Eulerian as possible: min |w + F Xdot|  s.t.  a . Xdot = 0,  xdot = w + F Xdot
    lifted off                xdot <- xdot - F Xdot with the averaged F

[Weidner2022, Eq. 2.2, 2.13]

Interpolated velocities do not keep the momentum where edges are merged or turned and where vertices change between
Lagrangian and Eulerian, so each patch of faces that changed is given back what it lost (`conserved`).
"""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from pliant.arrays import Array, IntArray
from pliant.cloth._conform import locate_all
from pliant.cloth.kinematics import corner_velocities, deformation_gradients, material_velocities
from pliant.cloth.sheet import Sheet, signed_areas


def released(before: Sheet, after: Sheet) -> Sheet:
    """Vertices that lost their feature become Lagrangian with the velocity the material has there."""
    lost = np.flatnonzero((before.feature >= 0) & (after.feature < 0))
    if not len(lost):
        return after
    v, V = after.v.copy(), after.V.copy()
    v[lost] = material_velocities(before)[lost]
    V[lost] = 0
    return replace(after, v=v, V=V)


def transfer(old: Sheet, new: Sheet, origin: IntArray, slide: Array) -> Sheet:
    """``new`` with velocities at the vertices that ``origin`` marks as new (-1) or that gained a feature.

    ``slide (n, 2)`` is the direction in which Xdot must vanish (0: free).
    """
    gained = (origin >= 0) & (new.feature >= 0) & (old.feature[np.maximum(origin, 0)] < 0)
    fresh = np.flatnonzero((origin < 0) | gained)
    lost = (origin >= 0) & (new.feature < 0) & (old.feature[np.maximum(origin, 0)] >= 0)
    if not len(fresh) and not lost.any():
        return new
    v, V = new.v.copy(), new.V.copy()
    if lost.any():
        v[lost], V[lost] = material_velocities(old)[origin[lost]], 0.0
    face, weights = locate_all(old.X, old.faces, new.X[fresh])
    corners = old.faces[face]
    F = deformation_gradients(old.x, old.X, corners)
    u = old.v[corners] - np.einsum("kij,kaj->kai", F, old.V[corners])
    for k, i in enumerate(fresh):
        w, world = weights[k], weights[k] @ u[k]
        on = old.feature[corners[k]]
        if new.feature[i] < 0:
            v[i] = world
        elif (on == new.feature[i]).sum() == 2 and w[on != new.feature[i]].max() < 1e-6:
            v[i], V[i] = w @ old.v[corners[k]], w @ old.V[corners[k]]
        else:
            V[i] = sliding(F[k], world, slide[i])
            v[i] = world + F[k] @ V[i]
    return replace(new, v=v, V=V)


def sliding(F: Array, w: Array, a: Array) -> Array:
    """Xdot that minimises the Lagrangian velocity w + F Xdot with a . Xdot = 0 [Weidner2022, Eq. 2.13]."""
    if not a.any():
        return np.asarray(np.linalg.lstsq(F, -w, rcond=None)[0], dtype=np.float64)
    t = np.array([-a[1], a[0]])
    image = F @ t
    return -(image @ w) / (image @ image) * t


def conserved(old: Sheet, new: Sheet, origin: IntArray) -> Sheet:
    """``new`` with the momentum of ``old``: in every patch of faces that changed, all vertices get faster by the same.

    ``origin (n,)`` are the vertices of ``old`` that those of ``new`` were, -1 for new ones. Vertices that are kept for
    hands get nothing: a hand would keep it.
    """
    count, size = len(old.X), len(old.X) + len(origin)
    number = np.where(origin >= 0, origin, count + np.arange(len(origin)))
    faces = (old.faces, number[new.faces])
    momenta = [signed_areas(s.X, s.faces)[:, None] * corner_velocities(s).mean(axis=1) for s in (old, new)]
    touched = _touched(faces, momenta, size)
    if not any(t.any() for t in touched):
        return new
    ends = np.concatenate([f[t] for f, t in zip(faces, touched, strict=True)])
    links = sp.coo_matrix((np.ones(2 * len(ends)), (ends[:, [0, 0]].ravel(), ends[:, [1, 2]].ravel())), (size, size))
    label = connected_components(links, directed=False)[1]
    gained = np.zeros((label.max() + 1, 3))
    for sign, f, t, p in zip((-1, 1), faces, touched, momenta, strict=True):
        np.add.at(gained, label[f[t, 0]], sign * p[t])
    mass = np.zeros(len(origin))  # over the density
    np.add.at(mass, new.faces, signed_areas(new.X, new.faces)[:, None] / 3)
    moving = np.unique(new.faces[touched[1]])
    moving = moving[~new.fixed[moving]]
    patch = label[number[moving]]
    total = np.bincount(patch, mass[moving], len(gained))
    v = new.v.copy()
    v[moving] -= gained[patch] / total[patch][:, None]
    return replace(new, v=v)


def _touched(faces: tuple[IntArray, IntArray], momenta: list[Array], size: int) -> tuple[Array, Array]:
    """Which faces of two meshes with common numbers below ``size`` are not in the other, or have another momentum."""
    one, other = (np.sort(f, axis=1) @ np.array([size * size, size, 1]) for f in faces)
    _, a, b = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    alike = np.all(momenta[0][a] == momenta[1][b], axis=1)
    touched = np.ones(len(faces[0]), dtype=bool), np.ones(len(faces[1]), dtype=bool)
    touched[0][a[alike]] = touched[1][b[alike]] = False
    return touched
