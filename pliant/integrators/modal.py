"""phi1 of a modal system in closed form: how each captured mode moves during a step.

    [y_q; y_v] = h phi1(h J_r) [a; c],    J_r = [[0, I], [-Lam, -D_r]]

for modal velocities a = U^T M v and modal forces c = U^T f. [Chen2019, Eq. 6.6-6.7, damping added]
"""

import numpy as np
from scipy.linalg import expm

from pliant.arrays import Array
from pliant.linear.rational import stumpff


def undamped(lam: Array, a: Array, c: Array, h: float) -> tuple[Array, Array]:
    """y_q = h S a + h^2 C c and y_v = -lam h^2 C a + h S c with S = sin(x)/x, C = (1 - cos x)/x^2, x^2 = h^2 lam.

    Both are entire in h^2 lam: rigid modes (lam = 0) fly freely, negative ones grow with sinh and cosh.
    """
    _, S, C = stumpff(h * h * lam, 2)
    return h * S * a + h * h * C * c, -lam * h * h * C * a + h * S * c


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
