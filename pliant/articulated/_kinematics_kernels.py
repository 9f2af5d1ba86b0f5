"""Frames, Jacobian and twists of a tree from what its joints do, and of covered joints in one call; real or complex."""

import numpy as np
from numba import njit

from pliant.articulated._joint_kernels import PRISMATIC, REVOLUTE, _move
from pliant.articulated._kernels import apply, apply_rate, own_columns, place, relative

_options = {"cache": True, "error_model": "numpy"}


@njit(**_options)
def joined(parent, ptr, link, E0, Eb, Eij, Q, S, Sd, v):
    """What `Kinematics` holds, in its order, from the motions Q (n, 4, 4) of the joints and their columns (nr, 6)."""
    Ej, Ei = place(parent, E0, Q, Eb)
    R, p = relative(parent, Ei)
    B, Bd = own_columns(link, Eij, S), own_columns(link, Eij, Sd)
    phi = apply(parent, ptr, R, p, B, v)
    return Ej, Ei, R, p, B, Bd, phi, apply_rate(parent, ptr, R, p, B, Bd, phi, v)[1]


@njit(**_options)
def kinematics(I, C, E0, Eb, Eij, link, q, v):
    """The same of covered joints; see `_joint_kernels` for ``I`` and ``C``, of which the axes are read."""
    n, nr = len(I), len(q)
    parent, ptr = I[:, 0].copy(), np.append(I[:, 2], nr)
    Q = np.zeros((n, 4, 4), q.dtype)
    S, Sd = np.zeros((nr, 6), q.dtype), np.zeros((nr, 6), q.dtype)
    own, rate = np.zeros((6, 6), q.dtype), np.zeros((6, 6), q.dtype)
    move, T = np.zeros(12, q.dtype), np.zeros(27, q.dtype)
    for i in range(n):
        kind, f = I[i, 1], I[i, 2]
        _move(kind, C, i, q, v, f, move, own, rate, T)
        Q[i, 3, 3] = 1.0
        for a in range(3):
            for b in range(3):
                Q[i, a, b] = move[3 * a + b]
            Q[i, a, 3] = move[9 + a]
        if kind == REVOLUTE or kind == PRISMATIC:  # noqa: SIM109  (faster than a tuple)
            for a in range(3):
                S[f, a + (3 if kind == PRISMATIC else 0)] = C[i, 40 + a]
            continue
        for k in range(I[i, 3]):
            for a in range(6):
                S[f + k, a], Sd[f + k, a] = own[k, a], rate[k, a]
    return joined(parent, ptr, link, E0, Eb, Eij, Q, S, Sd, v)
