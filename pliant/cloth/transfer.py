"""Velocity transfer between meshes: what the material does in the world must not change [Weidner2022, sec. 2.6.2].

    new Lagrangian vertex     xdot = material velocity of the old mesh there
    new on a split crease     mean of xdot and of Xdot of its two neighbours on the crease (both old)
    new from a collision      as much Eulerian as possible: min |w + F Xdot|  s.t.  a . Xdot = 0,  xdot = w + F Xdot
    lifted off                xdot <- xdot - F Xdot with the averaged F

[Weidner2022, Eq. 2.2, 2.13]
"""

from dataclasses import replace

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.cloth._conform import locate_all
from pliant.cloth.kinematics import deformation_gradients, material_velocities
from pliant.cloth.sheet import Sheet


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
