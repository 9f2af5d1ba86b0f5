"""Friction of a condensed body: filter all velocities, then take the closest ones that the dynamic nodes can make.

[ConJac2020, sec. 4.6]: the contact forces are in f and K already; friction is Bridson's filter on v = J u,
    v_t <- max(1 - mu dv_n / |v_t|, 0) v_t,    dv_n = h f_n / m
and u* = argmin |v^f - J u|^2 in the norm of the step's own matrix, with the small matrix that is factored anyway.
"""

import numpy as np

from pliant.arrays import Array
from pliant.energies.base import Pressing
from pliant.systems.elastodynamics import Elastodynamics


def filtered(system: Elastodynamics, q: Array, v: Array, h: float, mu: float) -> Array:
    """v with its tangential part at contacts with obstacles reduced by friction; q is where the step starts.

    f_n is the linearised force at the end of the step: contacts are frozen, so it is the one at q + h v.
    """
    out = v.reshape(-1, 3).copy()
    mass = system.nodal_mass[::3]
    for energy in system.energy_terms:
        if not isinstance(energy, Pressing):
            continue
        contacts, f_n = energy.loads(q + h * v)
        pressing = np.flatnonzero((f_n > 0.0) & (contacts.other < 0))
        vertices, n = contacts.nodes[pressing, 0], contacts.normals[pressing]
        relative = out[vertices] - contacts.drift[pressing]
        tangential = relative - (relative * n).sum(axis=1, keepdims=True) * n
        speed = np.linalg.norm(tangential, axis=1)
        kept = np.maximum(1.0 - mu * h * f_n[pressing] / mass[vertices] / np.maximum(speed, 1e-300), 0.0)
        out[vertices] -= (1.0 - kept)[:, None] * tangential
    return out.ravel()
