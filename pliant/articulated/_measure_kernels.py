"""What the ledger of an ordinary tree needs after a step, in one compiled call: energies, momenta, power of dampers."""

import numpy as np
from numba import njit

from pliant.articulated._joint_kernels import relative_rotation, spring
from pliant.articulated._tree_kernels import forward, inertia_of

_options = {"cache": True, "error_model": "numpy"}


@njit(**_options)
def measure(I, C, gravity, springs, F, q, v):
    """(kinetic, gravity, elastic energy, linear (3) and angular momentum (3) about the origin, power of dampers)."""
    n, zero = len(I), np.zeros(len(q))
    K, _, _, P, _, _, _ = forward(I, C, gravity, q, v, zero)
    E = np.empty((n, 12))
    turned, lever = np.empty(3), np.empty(3)
    kinetic = weight = power = 0.0
    L, H = np.zeros(3), np.zeros(3)
    for i in range(n):
        _world(I, K, i, E)
        m = C[i, 39]
        for c in range(6):
            kinetic += 0.5 * inertia_of(C, i, c) * P[i, c] * P[i, c]
            power -= C[i, 43] * P[i, c] * P[i, c]
        for k in range(I[i, 2], I[i, 2] + I[i, 3]):
            kinetic += 0.5 * C[i, 86] * v[k] * v[k]
        for c in range(3):
            weight -= m * gravity[c] * E[i, 9 + c]
            lever[c] = m * (E[i, 3 * c] * P[i, 3] + E[i, 3 * c + 1] * P[i, 4] + E[i, 3 * c + 2] * P[i, 5])
            turned[c] = 0.0
            for k in range(3):
                turned[c] += E[i, 3 * c + k] * C[i, 36 + k] * P[i, k]
        for c in range(3):
            a, b = (c + 1) % 3, (c + 2) % 3
            L[c] += lever[c]
            H[c] += turned[c] + E[i, 9 + a] * lever[b] - E[i, 9 + b] * lever[a]
    elastic, f, T = 0.0, np.zeros(len(q)), np.empty(27)
    for s in range(len(springs)):
        dof, first, turn = springs[s, 1], springs[s, 2], springs[s, 3]
        elastic += _stored(F, s, dof, first, turn, q, T)
    spring(springs, F, 0, len(springs), q, v, True, f)
    spring(springs, F, 0, len(springs), q, v, False, zero)
    for k in range(len(q)):
        power += (f[k] - zero[k]) * v[k]
    return kinetic, weight, elastic, L[0], L[1], L[2], H[0], H[1], H[2], power


@njit(**_options)
def _world(I, K, i, E):
    """E[i] = (R, p) of link i in the world."""
    j = I[i, 0]
    for c in range(3):
        t = -(K[i, c] * K[i, 9] + K[i, 3 + c] * K[i, 10] + K[i, 6 + c] * K[i, 11])  # the link seen from its parent
        E[i, 9 + c] = t
        for k in range(3):
            E[i, 3 * c + k] = K[i, 3 * k + c]
    if j < 0:
        return
    x, y, z = E[i, 9], E[i, 10], E[i, 11]
    for c in range(3):
        E[i, 9 + c] = E[j, 9 + c] + E[j, 3 * c] * x + E[j, 3 * c + 1] * y + E[j, 3 * c + 2] * z
        for k in range(3):
            row = K[i, 3 * k : 3 * k + 3]
            E[i, 3 * c + k] = E[j, 3 * c] * row[0] + E[j, 3 * c + 1] * row[1] + E[j, 3 * c + 2] * row[2]


@njit(**_options)
def _stored(F, s, dof, first, turn, q, T):
    """k/2 |e|^2 of one spring."""
    total = 0.0
    for c in range(dof):
        if turn < 0 or c < turn or c >= turn + 3:
            total += (q[first + c] - F[s, 2 + c]) ** 2
    if turn >= 0:
        relative_rotation(F[s, 2 + turn : 5 + turn], q, first + turn, T[18:21], T[:8])
        total += T[18] ** 2 + T[19] ** 2 + T[20] ** 2
    return 0.5 * F[s, 0] * total
