"""The Arnoldi process of a linearised elastic body in one compiled call, for systems with a diagonal mass.

    J = [[0, w0 I], [-K, -D]] bordered by two columns, unknowns (w0 q, v, 1, t/h) in mass-scaled coordinates

The same as `krylov.arnoldi` on that operator; what it saves is some twenty array calls per product.
"""

import numpy as np
from numba import njit

from pliant.linear.krylov import BREAKDOWN


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def row(column, value, start, end, x):  # type: ignore[no-untyped-def]
    """One row of a sparse matrix times x; four sums at once, as one alone would wait for every addition."""
    a = b = c = d = 0.0
    k = start
    while k + 4 <= end:
        a += value[k] * x[column[k]]
        b += value[k + 1] * x[column[k + 1]]
        c += value[k + 2] * x[column[k + 2]]
        d += value[k + 3] * x[column[k + 3]]
        k += 4
    while k < end:
        a += value[k] * x[column[k]]
        k += 1
    return (a + b) + (c + d)


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def product(K_start, K_column, K_value, D_start, D_column, D_value, w0, border, h, x, y):  # type: ignore[no-untyped-def]
    """y = J x; D may be empty."""
    n = len(K_start) - 1
    q, v = x[:n], x[n : 2 * n]
    a, b = x[2 * n], x[2 * n + 1]
    damped = len(D_value) > 0
    for i in range(n):
        force = row(K_column, K_value, K_start[i], K_start[i + 1], q)
        if damped:
            force += row(D_column, D_value, D_start[i], D_start[i + 1], v)
        y[i] = w0 * v[i] + border[i, 0] * a + border[i, 1] * b
        y[n + i] = border[n + i, 0] * a + border[n + i, 1] * b - force
    y[2 * n] = 0.0
    y[2 * n + 1] = a / h


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def basis(K_start, K_column, K_value, D_start, D_column, D_value, w0, border, h, v, m):  # type: ignore[no-untyped-def]
    """(V, H, dimension, |J v_{m+1}|): rows of V are orthonormal; ``dimension`` < m + 1 says that they are invariant."""
    V, H = np.zeros((m + 1, len(v))), np.zeros((m + 2, m + 2))
    w = np.empty(len(v))
    V[0] = v
    largest = 1e-300
    for j in range(m):
        product(K_start, K_column, K_value, D_start, D_column, D_value, w0, border, h, V[j], w)
        before = np.sqrt(np.dot(w, w))
        c = np.dot(V[: j + 1], w)
        w -= np.dot(c, V[: j + 1])
        after = np.sqrt(np.dot(w, w))
        if after < 0.7 * before:
            again = np.dot(V[: j + 1], w)
            w -= np.dot(again, V[: j + 1])
            c += again
            after = np.sqrt(np.dot(w, w))
        H[: j + 1, j] = c
        largest = max(largest, np.abs(c).max())
        if after <= BREAKDOWN * largest:
            return V, H, j + 1, 0.0
        H[j + 1, j] = after
        largest = max(largest, after)
        V[j + 1] = w / after
    H[m + 1, m] = 1.0
    product(K_start, K_column, K_value, D_start, D_column, D_value, w0, border, h, V[m], w)
    return V, H, m + 1, np.sqrt(np.dot(w, w))
