"""phi1 of a modal system in closed form: how each captured mode moves during a step.

    [y_q; y_v] = h phi1(h J_r) [a; c],    J_r = [[0, I], [-Lam, -D_r]]

for modal velocities a = U^T M v and modal forces c = U^T f. [Chen2019, Eq. 6.6-6.7, damping added]
"""

import numpy as np
from scipy.linalg import expm

from pliant.arrays import Array

SMALL = 1e-2  # |h^2 lam| below which the series is more accurate than the functions


def undamped(lam: Array, a: Array, c: Array, h: float) -> tuple[Array, Array]:
    """y_q = h S a + h^2 C c and y_v = -lam h^2 C a + h S c with S = sin(x)/x, C = (1 - cos x)/x^2, x^2 = h^2 lam.

    Both are entire in h^2 lam: rigid modes (lam = 0) fly freely, negative ones grow with sinh and cosh.
    """
    S, C = sine_cosine(h * h * lam)
    return h * S * a + h * h * C * c, -lam * h * h * C * a + h * S * c


def sine_cosine(z: Array) -> tuple[Array, Array]:
    """S(z) = sin(sqrt z)/sqrt z and C(z) = (1 - cos sqrt z)/z for any real z."""
    S = 1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72)))
    C = 0.5 * (1 - z / 12 * (1 - z / 30 * (1 - z / 56 * (1 - z / 90))))
    big, low = z > SMALL, z < -SMALL
    x = np.sqrt(z[big])
    S[big], C[big] = np.sin(x) / x, 2.0 * np.sin(0.5 * x) ** 2 / z[big]
    x = np.sqrt(-z[low])
    S[low], C[low] = np.sinh(x) / x, -2.0 * np.sinh(0.5 * x) ** 2 / z[low]
    return S, C


def damped(lam: Array, D: Array, a: Array, c: Array, h: float) -> tuple[Array, Array]:
    """The same with a damping matrix D (s, s) in modal coordinates, by one exponential of size 2 s + 1.

    The complex eigenvector formula of the source loses all digits for small lam and is not used.
    """
    s = len(lam)
    J = np.zeros((2 * s + 1, 2 * s + 1))
    J[:s, s : 2 * s] = np.eye(s)
    J[s : 2 * s, :s] = -np.diag(lam)
    J[s : 2 * s, s : 2 * s] = -D
    J[:s, -1], J[s : 2 * s, -1] = a, c
    y = expm(h * J)[:, -1]
    return y[:s], y[s : 2 * s]
