"""Forces of contacts on vertices, and their pair blocks as matrix entries. Compiled; no policy."""

import numpy as np
from numba import njit

# mypy: disable-error-code="no-untyped-def"


@njit(cache=True, error_model="numpy")
def spread(nodes, weights, f, n):
    """sum_c w_cr f_c (3 n,) of ``f (c, 3)`` over ``nodes (c, 4)`` with ``weights (c, 4)``, column by column."""
    out = np.zeros(3 * n)
    for r in range(4):
        for i in range(len(nodes)):
            if weights[i, r] != 0.0:
                for a in range(3):
                    out[3 * nodes[i, r] + a] += weights[i, r] * f[i, a]
    return out


@njit(cache=True, error_model="numpy")
def gathered(nodes, forces, n):
    """The sum (3 n,) of ``forces (c, m, 3)`` on ``nodes (c, m)``, in their order."""
    out = np.zeros(3 * n)
    for i in range(nodes.shape[0]):
        for r in range(nodes.shape[1]):
            for a in range(3):
                out[3 * nodes[i, r] + a] += forces[i, r, a]
    return out


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
