"""Impulse friction after the velocity step [Weidner2022, sec. 2.7, after Bridson et al. 2002].

A contact with the normal impulse j at a vertex of mass m changed its normal velocity by dv = j / m; the tangential
velocity of the material relative to the obstacle is scaled by max(0, 1 - mu dv / |v_T|). On a face that velocity is
xdot; at a corner it is all Eulerian; on an edge it is Xdot and the part of xdot along the edge.
"""

from dataclasses import replace

import numpy as np

from pliant.arrays import Array
from pliant.cloth.collide import feature_body
from pliant.cloth.constraints import Pushes
from pliant.cloth.kinematics import material_velocities
from pliant.cloth.sheet import Sheet, signed_areas
from pliant.cloth.surroundings import Scenery, Surroundings


def lumped_masses(sheet: Sheet, rho: float) -> Array:
    """A third of the mass of the faces at each vertex (n,) [kg]."""
    A = signed_areas(sheet.X, sheet.faces)
    return np.float64(rho / 3) * np.bincount(sheet.faces.ravel(), np.repeat(A, 3), minlength=len(sheet.X))


def rubbed(sheet: Sheet, scenery: Scenery, around: Surroundings, rho: float, contacts: tuple[Pushes, Array]) -> Sheet:
    """The sheet after friction with the ``contacts`` = (pushes, their impulses (k,) [N s])."""
    if around.mu == 0:
        return sheet
    n = len(sheet.X)
    total, body = np.zeros((n, 3)), np.full(n, -1, dtype=np.int64)
    pushes, impulses = contacts
    impulses = np.where(pushes.body < scenery.live, impulses, 0.0)  # live bodies rub in the solve of all parts
    np.add.at(total, pushes.vertex, impulses[:, None] * pushes.normal)
    body[pushes.vertex] = pushes.body
    own = feature_body(sheet.feature, scenery)
    body = np.where(own >= 0, own, body)
    touching = np.flatnonzero((np.linalg.norm(total, axis=1) > 0) & (body >= 0) & (body < scenery.live))
    u, m = material_velocities(sheet), lumped_masses(sheet, rho)
    v, V = sheet.v.copy(), sheet.V.copy()
    edges = around.table.edges
    speeds = scenery.velocity(body[touching], sheet.x[touching])
    for i, carried in zip(touching, speeds, strict=True):
        j = np.linalg.norm(total[i])
        normal = total[i] / j
        slip = u[i] - carried
        slip = slip - (slip @ normal) * normal
        scale = max(0.0, 1 - around.mu * j / m[i] / (np.linalg.norm(slip) + 1e-300))
        feature = sheet.feature[i]
        if feature < 0:
            v[i] -= (1 - scale) * slip
            continue
        V[i] *= scale
        if feature < edges:
            along = scenery.edge_b[feature] - scenery.edge_a[feature]
            along = along / np.linalg.norm(along)
            v[i] -= (1 - scale) * ((v[i] - carried) @ along) * along
    return replace(sheet, v=v, V=V)
