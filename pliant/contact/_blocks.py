"""Pair blocks of contacts as matrix entries. Compiled; no policy."""

import numpy as np
from numba import njit

# mypy: disable-error-code="no-untyped-def"


@njit(cache=True, error_model="numpy")
def triplets(nodes, weights, B, coupled):
    """Rows, columns, values of sum_c (w w^T) kron B_c; uncoupled: only blocks within one side.

    A first node of weight 1 is a side of its own (a vertex; its foot may lie beside the triangle, where weights have
    other signs), else the sides of a contact are told apart by the signs of their weights."""
    c = len(nodes)
    count = 0
    for i in range(c):
        for r in range(4):
            for s in range(4):
                if _within(weights, i, r, s, coupled):
                    count += 1
    rows, columns = np.empty(9 * count, np.int32), np.empty(9 * count, np.int32)
    values = np.empty(9 * count)
    k = 0
    for i in range(c):
        for r in range(4):
            for s in range(4):
                if _within(weights, i, r, s, coupled):
                    w = weights[i, r] * weights[i, s]
                    for a in range(3):
                        for b in range(3):
                            rows[k] = 3 * nodes[i, r] + a
                            columns[k] = 3 * nodes[i, s] + b
                            values[k] = w * B[i, a, b]
                            k += 1
    return rows, columns, values


@njit(cache=True, error_model="numpy")
def _within(weights, i, r, s, coupled):
    w = weights[i, r] * weights[i, s]
    if w == 0.0:
        return False
    if coupled:
        return True
    return (r == 0) == (s == 0) if weights[i, 0] == 1.0 else w > 0.0


@njit(cache=True, error_model="numpy")
def turning_triplets(x, nodes, normals, force):
    """Rows, columns, values of sum_c f_c d^2 g_c of vertices above planes of triangles, as in `pliant.contact.planes`.

    With dn = sum_r t_r (n . dx_r) and S dx = sum_r w_r dx_r, the block of nodes r and s is
    w_r t_s n^T + w_s n t_r^T - g (t_r . t_s) n n^T. Normals (c, 3) tell on which side of its plane a vertex lies.
    """
    c = len(nodes)
    rows, columns = np.empty(144 * c, np.int32), np.empty(144 * c, np.int32)
    values = np.empty(144 * c)
    n, y, m, w, t, corner = np.empty(3), np.empty(3), np.empty(3), np.empty(4), np.zeros((4, 3)), np.empty((3, 3))
    k = 0
    for i in range(c):
        for r in range(3):
            for a in range(3):
                corner[r, a] = x[nodes[i, r + 1], a]
        for a in range(3):
            b, d = (a + 1) % 3, (a + 2) % 3
            m[a] = (corner[1, b] - corner[0, b]) * (corner[2, d] - corner[0, d])
            m[a] -= (corner[1, d] - corner[0, d]) * (corner[2, b] - corner[0, b])
            y[a] = x[nodes[i, 0], a] - corner[0, a]
        area2 = max(m[0] * m[0] + m[1] * m[1] + m[2] * m[2], 1e-300)
        side = -1.0 if m[0] * normals[i, 0] + m[1] * normals[i, 1] + m[2] * normals[i, 2] < 0.0 else 1.0
        for r in range(3):  # the slope of the weight of a corner is across the edge between the two others
            for a in range(3):
                b, d = (a + 1) % 3, (a + 2) % 3
                edge_d = corner[(r + 2) % 3, d] - corner[(r + 1) % 3, d]
                edge_b = corner[(r + 2) % 3, b] - corner[(r + 1) % 3, b]
                t[r + 1, a] = -(m[b] * edge_d - m[d] * edge_b) / area2
        g = 0.0
        for a in range(3):
            n[a] = side * m[a] / np.sqrt(area2)
            g += n[a] * y[a]
        w[0] = 1.0
        w[2] = t[2, 0] * y[0] + t[2, 1] * y[1] + t[2, 2] * y[2]
        w[3] = t[3, 0] * y[0] + t[3, 1] * y[1] + t[3, 2] * y[2]
        w[1] = -1.0 - w[2] - w[3]
        for r in range(4):
            for s in range(4):
                bend = g * (t[r, 0] * t[s, 0] + t[r, 1] * t[s, 1] + t[r, 2] * t[s, 2])
                for a in range(3):
                    for b in range(3):
                        rows[k] = 3 * nodes[i, r] + a
                        columns[k] = 3 * nodes[i, s] + b
                        values[k] = force[i] * (w[r] * t[s, a] * n[b] + w[s] * t[r, b] * n[a] - bend * n[a] * n[b])
                        k += 1
    return rows, columns, values
