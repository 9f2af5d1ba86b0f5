"""Numerical stiffening in one dimension: a coarse mesh vibrates too fast. [Chen2019, Eq. 2.17, corrected]

    u_tt = c^2 u_xx on (0, 1), u(0) = u(1) = 0:   K = (c^2/l) tridiag(-1, 2, -1),  M = (l/6) tridiag(1, 4, 1),  l = 1/N

The consistent mass approaches the frequencies (j pi c)^2 from above, lumped masses from below, both with l^2.
"""

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array


def string(N: int, c: float = 1.0, *, lumped: bool = False) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """(K, M) of N linear elements on the unit interval with fixed ends, (N - 1, N - 1)."""
    l = 1.0 / N
    one = np.ones(N - 2)
    K = c * c / l * sp.diags([-one, 2.0 * np.ones(N - 1), -one], [-1, 0, 1])
    M = l * sp.identity(N - 1) if lumped else l / 6.0 * sp.diags([one, 4.0 * np.ones(N - 1), one], [-1, 0, 1])
    return sp.csr_matrix(K), sp.csr_matrix(M)


def eigenvalues(N: int, c: float = 1.0, *, lumped: bool = False) -> Array:
    """lam_j = 6 c^2/l^2 (1 - cos j pi l)/(2 + cos j pi l), lumped 2 c^2/l^2 (1 - cos j pi l), j = 1 ... N - 1."""
    l = 1.0 / N
    x = np.cos(np.pi * l * np.arange(1, N))
    return 2.0 * c * c / l**2 * (1.0 - x) if lumped else 6.0 * c * c / l**2 * (1.0 - x) / (2.0 + x)
