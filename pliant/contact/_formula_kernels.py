"""The formulas of contacts on all contacts of a scene, compiled for single ones: most scenes have few. No policy.

NumPy would evaluate the same formulas on arrays, at a microsecond for every product of a few numbers.
"""

import math
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit

from pliant.contact import formulas, laws
from pliant.kernels.bind import bind
from pliant.kernels.device import device

# mypy: disable-error-code="no-untyped-def"


@device
def _chosen(condition, a, b):
    return a if condition else b


@device
def _larger(a, b):
    return a if a > b else b


@device
def _smaller(a, b):
    return a if a < b else b


_MEANING: dict[Any, Any] = {np.where: _chosen, np.sqrt: math.sqrt, np.maximum: _larger, np.minimum: _smaller}


@cache
def _compiled(formula: FunctionType) -> Any:
    """A formula for single numbers: the few functions of NumPy that it names mean those of numbers."""
    named = {name: formula.__globals__[name] for name in formula.__code__.co_names if name in formula.__globals__}
    meant = {k: _MEANING[f] if f in _MEANING else _compiled(f) for k, f in named.items() if callable(f)}
    return device(bind(formula, "numbers", **meant))


plane_frame, turning = _compiled(formulas.plane_frame), _compiled(formulas.turning)
tangent_pair, bends, attached = (_compiled(f) for f in (formulas.tangent_pair, formulas.bends, formulas.attached))
turned, couples, slip_rate = (_compiled(f) for f in (formulas.turned, formulas.couples, formulas.slip_rate))
second_derivatives = _compiled(formulas.second_derivatives)
cross, spring = _compiled(formulas.cross), _compiled(laws.spring)


@njit(cache=True, error_model="numpy", inline="always")
def _at(x, i):
    return x[i, 0], x[i, 1], x[i, 2]


@njit(cache=True, error_model="numpy")
def _edge(x, a, b):
    return x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]


@njit(cache=True, error_model="numpy")
def _edges(x, frame):
    """Two edges of a frame (3,) and their product."""
    e1, e2 = _edge(x, frame[0], frame[1]), _edge(x, frame[0], frame[2])
    return e1, e2, cross(e1, e2)


@njit(cache=True, error_model="numpy")
def _relative(x, nodes, weights):
    """sum_r w_r x_r of one contact."""
    y = (0.0, 0.0, 0.0)
    for r in range(4):
        p, w = _at(x, nodes[r]), weights[r]
        y = y[0] + w * p[0], y[1] + w * p[1], y[2] + w * p[2]
    return y


# ------------------------------------------------------------------------------------------------ springs


@njit(cache=True, error_model="numpy")
def springs(gaps, k, nodes, weights, w):
    """psi, f_n and psi'' (c,) of springs as stiff as the softer side: ``k (n,)`` of the nodes that have a weight."""
    c = len(gaps)
    stored, pushed, stiff = np.empty(c), np.empty(c), np.empty(c)
    for i in range(c):
        softest = np.inf
        for r in range(4):
            if weights[i, r] != 0.0:
                softest = min(softest, k[nodes[i, r]])
        stored[i], pushed[i], stiff[i] = spring(gaps[i], softest, w)
    return stored, pushed, stiff


# ------------------------------------------------------------------------------------------------ planes


@njit(cache=True, error_model="numpy")
def plane_frames(x, nodes, side):
    """Normals (c, 3), weights (c, 3) of the feet and gaps (c,) of vertices above their triangles, ``nodes (c, 4)``."""
    c = len(nodes)
    normals, weights, gaps = np.empty((c, 3)), np.empty((c, 3)), np.empty(c)
    for i in range(c):
        p, q, r, s = _at(x, nodes[i, 0]), _at(x, nodes[i, 1]), _at(x, nodes[i, 2]), _at(x, nodes[i, 3])
        n, w, _, gaps[i] = plane_frame(p, q, r, s, side[i])
        for k in range(3):
            normals[i, k], weights[i, k] = n[k], w[k]
    return normals, weights, gaps


@njit(cache=True, error_model="numpy")
def turning_blocks(x, nodes, normals, force):
    """f d^2 g (c, 4, 4, 3, 3) of vertices above triangles; ``normals (c, 3)`` tell on which side they are."""
    c = len(nodes)
    H, t, w = np.empty((c, 4, 4, 3, 3)), np.zeros((4, 3)), np.ones(4)
    for i in range(c):
        p, q, r, s = _at(x, nodes[i, 0]), _at(x, nodes[i, 1]), _at(x, nodes[i, 2]), _at(x, nodes[i, 3])
        n, foot, slopes, g = plane_frame(p, q, r, s, 1.0)
        if n[0] * normals[i, 0] + n[1] * normals[i, 1] + n[2] * normals[i, 2] < 0.0:
            n, foot, slopes, g = plane_frame(p, q, r, s, -1.0)
        for k in range(3):
            w[k + 1] = -foot[k]
            t[1, k], t[2, k], t[3, k] = -slopes[0][k], -slopes[1][k], -slopes[2][k]
        for a in range(4):
            for b in range(4):
                block = turning(w[a], _at(t, a), w[b], _at(t, b), n, g)
                for k in range(9):
                    H[i, a, b, k // 3, k % 3] = force[i] * block[k]
    return H


# ------------------------------------------------------------------------------------------------ slip


@njit(cache=True, error_model="numpy")
def slip_frames(x, normals, frame):
    """Two directions along the surface of each contact: parts over its frame and what stays (c, 2, 3), and whether it
    turns (c,)."""
    c = len(normals)
    parts, still, turns = np.zeros((c, 2, 3)), np.empty((c, 2, 3)), np.zeros(c, np.bool_)
    for i in range(c):
        both = tangent_pair(_at(normals, i))
        for k in range(2):
            t = both[k]
            if frame[i, 0] >= 0:
                e1, e2, m = _edges(x, frame[i])
                turns[i] = bends(e1, e2, m)
                a, t = attached(t, e1, e2, m)
                parts[i, k, 0], parts[i, k, 1], parts[i, k, 2] = a
            still[i, k, 0], still[i, k, 1], still[i, k, 2] = t
    return parts, still, turns


@njit(cache=True, error_model="numpy")
def slip_map(x, nodes, weights, frame, still, parts, shared):
    """dU/dx over nodes and frame (c, 2, 7, 3), or over the nodes (c, 2, 4, 3) where the frame is ``shared`` with them;
    the directions (c, 2, 3)."""
    c = len(nodes)
    first = 1 if shared else 4
    B, t = np.zeros((c, 2, first + 3, 3)), np.empty((c, 2, 3))
    for i in range(c):
        (e1, e2, m), y = _edges(x, frame[i]), _relative(x, nodes[i], weights[i])
        for k in range(2):
            a = _at(parts[i], k)
            along = turned(_at(still[i], k), a, e1, e2, m)
            g1, g2 = couples(a, e1, e2, y)
            for d in range(3):
                t[i, k, d] = along[d]
                for r in range(4):
                    B[i, k, r, d] = weights[i, r] * along[d]
                B[i, k, first, d] -= g1[d] + g2[d]
                B[i, k, first + 1, d] += g1[d]
                B[i, k, first + 2, d] += g2[d]
    return B, t


@njit(cache=True, error_model="numpy")
def slip_rates(x, v, h, nodes, weights, drift, frame, still, parts):
    """u (c, 2): how contacts slip with velocities v over a stage of length h that comes from x - h v."""
    u, back = np.empty((len(nodes), 2)), x - h * v
    for i in range(len(nodes)):
        edges, speeds = _edges(x, frame[i]), _edges(v, frame[i])
        was = _edge(back, frame[i, 0], frame[i, 1])
        y, moving = _relative(back, nodes[i], weights[i]), _relative(v, nodes[i], weights[i])
        moving = moving[0] - drift[i, 0], moving[1] - drift[i, 1], moving[2] - drift[i, 2]
        for k in range(2):
            a = _at(parts[i], k)
            u[i, k] = slip_rate(_at(still[i], k), a, edges, (speeds[0], speeds[1]), was, moving, y)
    return u


@njit(cache=True, error_model="numpy")
def slip_turning(x, nodes, weights, frame, parts, f, shared):
    """sum_k f_k d^2 U_k/dx^2 (c, r, r, 3, 3) over nodes and frame, r = 7, or over the nodes that it is ``shared`` with.

    U = y . (a e_1 + b e_2 + c e_1 x e_2) is linear in y, e_1 and e_2, whose weights over the nodes are S.
    """
    c, last = len(nodes), 4 if shared else 7
    H, S = np.zeros((c, last, last, 3, 3)), np.zeros((3, last))
    S[1:, last - 3] = -1.0
    S[1, last - 2] = S[2, last - 1] = 1.0
    for i in range(c):
        for r in range(4):
            S[0, r] = weights[i, r]
        e1, e2, _ = _edges(x, frame[i])
        a = (
            f[i, 0] * parts[i, 0, 0] + f[i, 1] * parts[i, 1, 0],
            f[i, 0] * parts[i, 0, 1] + f[i, 1] * parts[i, 1, 1],
            f[i, 0] * parts[i, 0, 2] + f[i, 1] * parts[i, 1, 2],
        )
        second = second_derivatives(a, e1, e2, _relative(x, nodes[i], weights[i]))
        for n, (p, q) in enumerate(((0, 1), (0, 2), (1, 2))):
            block = second[n]
            for r in range(last):
                for s in range(last):
                    w = S[p, r] * S[q, s]
                    if w != 0.0:
                        for k in range(9):
                            H[i, r, s, k // 3, k % 3] += w * block[k]
                            H[i, s, r, k % 3, k // 3] += w * block[k]
    return H
