"""Vertices above the planes of triangles: gap, normal, weights, and how they change with all four vertices.

    g = n . (x_p - x_a),   n = side e_1 x e_2 / |e_1 x e_2|,      dg = n . S dx,      dn = -sum_r b_r (n . dx_r)
    d^2 g = 2 (S dx) . dn - g |dn|^2,       S dx = dx_p - sum_r w_r dx_r

w_r are the barycentric weights of the vertex's foot in the plane and b_r their slopes within it. The gap does not
change when all turn together, so its forces have no torque.
"""

import numpy as np

from pliant.arrays import Array, IntArray, cross


def plane_frames(x: Array, nodes: IntArray, side: Array) -> tuple[Array, Array, Array, Array]:
    """Normals (c, 3), weights (c, 3) of the feet, slopes b (c, 3, 3) [1/m] and gaps (c,) [m].

    ``nodes (c, 4)`` are a vertex and its triangle, ``side (c,)`` is 1 where e_1 x e_2 points to the vertex, else -1.
    """
    p, a, b, c = np.moveaxis(x[nodes], 1, 0)
    e1, e2, y = b - a, c - a, p - a
    m = cross(e1, e2)
    area2 = np.maximum((m * m).sum(axis=1), 1e-300)[:, None]
    slopes = np.stack([cross(m, c - b), cross(m, a - c), cross(m, b - a)], axis=1) / area2[:, None]
    n = side[:, None] * m / np.sqrt(area2)
    w2, w3 = ((slopes[:, k] * y).sum(axis=1) for k in (1, 2))
    return n, np.stack([1.0 - w2 - w3, w2, w3], axis=1), slopes, (n * y).sum(axis=1)
