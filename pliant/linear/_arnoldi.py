"""The Arnoldi process of a linearised elastic body in one compiled call, for systems with a diagonal mass.

    J = [[0, w0 I], [-K, -D]] bordered by two columns, unknowns (w0 q, v, 1, t/h) in mass-scaled coordinates

The same as `krylov.arnoldi` on that operator; what it saves is some twenty array calls per product.
"""

import numpy as np
from numba import njit

from pliant.linear.krylov import BREAKDOWN


@njit(cache=True, error_model="numpy", fastmath={"contract"})
def product(K_start, K_column, K_value, D_start, D_column, D_value, w0, border, h, x, y):  # type: ignore[no-untyped-def]
    """y = J x; D may be empty."""
    n = len(K_start) - 1
    a, b = x[2 * n], x[2 * n + 1]
    damped = len(D_value) > 0
    for i in range(n):
        force = 0.0
        for k in range(K_start[i], K_start[i + 1]):
            force += K_value[k] * x[K_column[k]]
        if damped:
            for k in range(D_start[i], D_start[i + 1]):
                force += D_value[k] * x[n + D_column[k]]
        y[i] = w0 * x[n + i] + border[i, 0] * a + border[i, 1] * b
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
