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
def shared_blocks(nodes, weights, B, coupled):
    """Block rows, block columns and blocks (k, 3, 3) of sum_c (w w^T) kron B_c; uncoupled: only within one side.

    A first node of weight 1 is a side of its own (a vertex; its foot may lie beside the triangle, where weights have
    other signs), else the sides of a contact are told apart by the signs of their weights."""
    c = len(nodes)
    count = 0
    for i in range(c):
        for r in range(4):
            for s in range(4):
                if _within(weights, i, r, s, coupled):
                    count += 1
    rows, columns, blocks = np.empty(count, np.int64), np.empty(count, np.int64), np.empty((count, 3, 3))
    k = 0
    for i in range(c):
        for r in range(4):
            for s in range(4):
                if _within(weights, i, r, s, coupled):
                    w = weights[i, r] * weights[i, s]
                    rows[k], columns[k] = nodes[i, r], nodes[i, s]
                    for a in range(3):
                        for b in range(3):
                            blocks[k, a, b] = w * B[i, a, b]
                    k += 1
    return rows, columns, blocks


@njit(cache=True, error_model="numpy")
def _within(weights, i, r, s, coupled):
    w = weights[i, r] * weights[i, s]
    if w == 0.0:
        return False
    if coupled:
        return True
    return (r == 0) == (s == 0) if weights[i, 0] == 1.0 else w > 0.0


@njit(cache=True, error_model="numpy")
def along(B, D):
    """B^T D B (c, m, m, 3, 3) of ``B (c, 2, m, 3)`` and ``D (c, 2, 2)``."""
    c, _, m, _ = B.shape
    out = np.empty((c, m, m, 3, 3))
    for i in range(c):
        for s in range(m):
            for b in range(3):
                p = D[i, 0, 0] * B[i, 0, s, b] + D[i, 0, 1] * B[i, 1, s, b]
                q = D[i, 1, 0] * B[i, 0, s, b] + D[i, 1, 1] * B[i, 1, s, b]
                for r in range(m):
                    for a in range(3):
                        out[i, r, s, a, b] = B[i, 0, r, a] * p + B[i, 1, r, a] * q
    return out
