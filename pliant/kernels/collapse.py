"""The volume ratios of elements, and the first step along a direction at which one loses its volume."""

import numpy as np
from numba import njit

FAR = 1e30  # steps beyond this one are none


@njit(cache=True, error_model="numpy")
def first_collapse(x, dx, nodes, gradients):
    """Smallest t > 0 with det F(x + t dx) = 0 over all elements with det F(x) > 0; inf if there is none.

    The determinant is a cubic, a + b t + c t^2 + d t^3. An element matters only if it can vanish before the smallest t
    so far, T: not if |b| T + |c| T^2 + |d| T^3 < a.
    x, dx (n, k); nodes (m, k+1); gradients (m, >= k, >= k) with F = sum_a (x_a - x_0) gradients_a^T, k = 2 or 3.
    """
    k = x.shape[1]
    F, G = np.eye(3), np.zeros((3, 3))  # in the plane the third row and column of F are those of the identity
    best = FAR
    for e in range(len(nodes)):
        for i in range(k):
            for j in range(k):
                f = g = 0.0
                for a in range(k):
                    f += (x[nodes[e, a + 1], i] - x[nodes[e, 0], i]) * gradients[e, a, j]
                    g += (dx[nodes[e, a + 1], i] - dx[nodes[e, 0], i]) * gradients[e, a, j]
                F[i, j], G[i, j] = f, g
        a, b = determinant(F), mixed(F, G)
        c, d = mixed(G, F), determinant(G)
        if a > 0.0 and not abs(b) * best + abs(c) * best * best + abs(d) * best * best * best < a:
            best = min(best, first_root(a, b, c, d, best))
    return best if best < FAR else np.inf


@njit(cache=True, error_model="numpy")
def determinants(x, nodes, gradients):
    """det F of every element (m,); arguments as above."""
    k, out = x.shape[1], np.empty(len(nodes))
    F = np.eye(3)
    for e in range(len(nodes)):
        for i in range(k):
            for j in range(k):
                f = 0.0
                for a in range(k):
                    f += (x[nodes[e, a + 1], i] - x[nodes[e, 0], i]) * gradients[e, a, j]
                F[i, j] = f
        out[e] = determinant(F)
    return out


@njit(cache=True, error_model="numpy")
def determinant(A):
    return (
        A[0, 0] * (A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1])
        - A[0, 1] * (A[1, 0] * A[2, 2] - A[1, 2] * A[2, 0])
        + A[0, 2] * (A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0])
    )


@njit(cache=True, error_model="numpy")
def mixed(A, B):
    """cof(A) : B, the derivative of det A along B."""
    total = 0.0
    for i in range(3):
        p, q = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            r, s = (j + 1) % 3, (j + 2) % 3
            total += (A[p, r] * A[q, s] - A[p, s] * A[q, r]) * B[i, j]
    return total


@njit(cache=True, error_model="numpy")
def first_root(a, b, c, d, end):
    """Smallest root of a + b t + c t^2 + d t^3, a > 0, in (0, end]; inf if there is none.

    Between its extrema the cubic is monotone, so the first of them where it is not positive encloses the root.
    """
    extrema = [end, end]
    if abs(d) * end > 1e-14 * abs(c):
        inside = c * c - 3.0 * b * d
        if inside >= 0.0:
            w = -(c + np.copysign(np.sqrt(inside), c))
            extrema[0] = w / (3.0 * d)
            if w != 0.0:
                extrema[1] = b / w
    elif c != 0.0:
        extrema[0] = -b / (2.0 * c)
    low = 0.0
    for high in (min(extrema[0], extrema[1]), max(extrema[0], extrema[1]), end):
        if not low < high <= end:
            continue
        if a + high * (b + high * (c + high * d)) <= 0.0:
            for _ in range(400):
                t = 0.5 * (low + high)
                if not low < t < high:
                    break
                if a + t * (b + t * (c + t * d)) > 0.0:
                    low = t
                else:
                    high = t
            return high
        low = high
    return np.inf
