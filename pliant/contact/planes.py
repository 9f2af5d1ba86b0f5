"""Vertices above the planes of triangles: gap, normal, weights, and how they change with all four vertices.

    g = n . (x_p - x_a),   n = side e_1 x e_2 / |e_1 x e_2|,      dg = n . S dx,      dn = -sum_r b_r (n . dx_r)
    d^2 g = 2 (S dx) . dn - g |dn|^2,       S dx = dx_p - sum_r w_r dx_r

w_r are the barycentric weights of the vertex's foot in the plane and b_r their slopes within it. The gap does not
change when all turn together, so its forces have no torque. Formulas as in `pliant.contact.vectors`.
"""

from typing import Any

import numpy as np
from numpy import maximum, sqrt

from pliant.arrays import Array, IntArray
from pliant.contact.vectors import Vector, components, cross, dot, minus, scaled, stacked


def plane_frame(
    p: Vector, a: Vector, b: Vector, c: Vector, side: Any
) -> tuple[Vector, Vector, tuple[Vector, Vector, Vector], Any]:
    """Normal, weights of the foot, their slopes [1/m] and the gap of vertex p above triangle abc.

    ``side`` is 1 where e_1 x e_2 points to the vertex, else -1.
    """
    y, m = minus(p, a), cross(minus(b, a), minus(c, a))
    area2 = maximum(dot(m, m), 1e-300)
    s = 1.0 / area2
    b1, b2, b3 = scaled(s, cross(m, minus(c, b))), scaled(s, cross(m, minus(a, c))), scaled(s, cross(m, minus(b, a)))
    n = scaled(side / sqrt(area2), m)
    w2, w3 = dot(b2, y), dot(b3, y)
    return n, (1.0 - w2 - w3, w2, w3), (b1, b2, b3), dot(n, y)


def turning(w_r: Any, t_r: Vector, w_s: Any, t_s: Vector, n: Vector, g: Any) -> tuple[Any, ...]:
    """The block (r, s) of d^2 g (3x3, row by row): w_r t_s n^T + w_s n t_r^T - g (t_r . t_s) n n^T.

    ``w`` are the weights of S, ``t`` those of dn = sum_r t_r (n . dx_r).
    """
    bend = g * dot(t_r, t_s)
    return (
        w_r * t_s[0] * n[0] + w_s * t_r[0] * n[0] - bend * n[0] * n[0],
        w_r * t_s[0] * n[1] + w_s * t_r[1] * n[0] - bend * n[0] * n[1],
        w_r * t_s[0] * n[2] + w_s * t_r[2] * n[0] - bend * n[0] * n[2],
        w_r * t_s[1] * n[0] + w_s * t_r[0] * n[1] - bend * n[1] * n[0],
        w_r * t_s[1] * n[1] + w_s * t_r[1] * n[1] - bend * n[1] * n[1],
        w_r * t_s[1] * n[2] + w_s * t_r[2] * n[1] - bend * n[1] * n[2],
        w_r * t_s[2] * n[0] + w_s * t_r[0] * n[2] - bend * n[2] * n[0],
        w_r * t_s[2] * n[1] + w_s * t_r[1] * n[2] - bend * n[2] * n[1],
        w_r * t_s[2] * n[2] + w_s * t_r[2] * n[2] - bend * n[2] * n[2],
    )


def plane_frames(x: Array, nodes: IntArray, side: Array) -> tuple[Array, Array, Array]:
    """Normals (c, 3), weights (c, 3) of the feet and gaps (c,) [m] for ``nodes (c, 4)``, a vertex and its triangle."""
    n, w, _, g = _frames(x, nodes, side)
    return stacked(n, g.shape), stacked(w, g.shape), g


def turning_triplets(x: Array, nodes: IntArray, normals: Array, force: Array) -> tuple[IntArray, IntArray, Array]:
    """Rows, columns, values of sum_c f_c d^2 g_c; normals (c, 3) tell on which side of its plane a vertex lies."""
    corners = x[nodes[:, 1:]]
    upward = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    side = np.where((upward * normals).sum(axis=1) < 0.0, -1.0, 1.0)
    n, w, slopes, g = _frames(x, nodes, side)
    one = np.ones_like(g)
    weights = np.stack([one, *(-part for part in w)])  # (4, c)
    turns = [np.stack([0.0 * one, *(-b[axis] for b in slopes)]) for axis in range(3)]  # three of (4, c)
    t_r, t_s = ((t[:, None] for t in turns), (t[None, :] for t in turns))
    H = turning(weights[:, None], tuple(t_r), weights[None, :], tuple(t_s), n, g)  # type: ignore[arg-type]
    values = force * np.stack(H).reshape(3, 3, 4, 4, -1)
    places = 3 * nodes.T + np.arange(3)[:, None, None]  # (3, 4, c)
    rows, columns = places[:, None, :, None], places[None, :, None, :]
    return tuple(np.broadcast_to(a, values.shape).ravel() for a in (rows, columns, values))  # type: ignore[return-value]


def _frames(x: Array, nodes: IntArray, side: Array) -> Any:
    p, a, b, c = (components(x[nodes[:, r]]) for r in range(4))
    return plane_frame(p, a, b, c, side)
