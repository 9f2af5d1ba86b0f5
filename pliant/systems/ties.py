"""Points that are tied together, B x = 0 with B (d k, 3 p), d rows for every tie: without what is only round-off.

A hinge does not move points along its axis, and the Jacobian of a link says so up to rounding: a row such as (0, 7e-18,
0). To a solver that weighs rows by what they move it is as good as any other, and a gap of 1e-17 m along it asks for
rates of 1 rad. Both are zero here.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit

from pliant.arrays import Array
from pliant.pattern import as_csr, product, sizes

ROUND_OFF = 1e-14  # of the terms of a sum: positions and Jacobians are products along a chain of links


def tie_gaps(B: sp.csr_matrix, x: Array) -> Array:
    """B x (d k,) [m]."""
    gap = B @ x
    gap[np.abs(gap) <= ROUND_OFF * sizes(B, x)] = 0.0
    return np.asarray(gap, dtype=np.float64)


def tie_jacobian(B: sp.csr_matrix, J: sp.csr_matrix, d: int) -> sp.csr_matrix:
    """B J (d k, N): how the velocities of all coordinates open the ties."""
    J = as_csr(J)
    G, terms = product(B, J), product(abs(B), abs(J))
    _silence(G.indptr, G.indices, G.data, terms.data, d)
    return G


@njit(cache=True)
def _silence(indptr, indices, data, terms, d):  # type: ignore[no-untyped-def]
    """Set entries to zero that are round-off beside what the d rows of their tie add up for the same coordinate."""
    for k in range((len(indptr) - 1) // d):
        first, last = indptr[d * k], indptr[d * (k + 1)]
        for e in range(first, last):
            most = 0.0
            for f in range(first, last):
                if indices[f] == indices[e]:
                    most = max(most, terms[f])
            if abs(data[e]) <= ROUND_OFF * most:
                data[e] = 0.0
