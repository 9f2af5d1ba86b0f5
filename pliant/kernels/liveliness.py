"""The rate of stretch Sdot of every element: how lively it is, rotation left out. [Weidner2022, sec. 4.6]"""

import numpy as np
from numba import njit

from pliant.kernels.svd import svd3


@njit(cache=True, error_model="numpy")
def stretch_rates(F, Fdot):
    """Sdot (m, 3, 3) [1/s] of the polar decomposition F = R S.

    With F = U s V^T and B = U^T Fdot V: Sdot = V Y V^T, Y_ij = (s_i B_ij + s_j B_ji) / (s_i + s_j).
    """
    out = np.empty_like(F)
    B = np.empty((3, 3))
    for e in range(len(F)):
        f, g = F[e], Fdot[e]
        r = svd3((f[0, 0], f[0, 1], f[0, 2], f[1, 0], f[1, 1], f[1, 2], f[2, 0], f[2, 1], f[2, 2]))
        U, s, V = r[0:9], r[9:12], r[12:21]
        for i in range(3):
            for j in range(3):
                total = 0.0
                for a in range(3):
                    for b in range(3):
                        total += U[3 * a + i] * g[a, b] * V[3 * b + j]
                B[i, j] = total
        for i in range(3):
            for j in range(i, 3):
                weight = s[i] + s[j]
                if abs(weight) < 1e-3:  # an inverted or collapsed element
                    weight = 1e-3
                y = B[i, i] if i == j else (s[i] * B[i, j] + s[j] * B[j, i]) / weight
                B[i, j] = y
                B[j, i] = y
        for a in range(3):
            for b in range(3):
                total = 0.0
                for i in range(3):
                    for j in range(3):
                        total += V[3 * a + i] * B[i, j] * V[3 * b + j]
                out[e, a, b] = total
    return out
