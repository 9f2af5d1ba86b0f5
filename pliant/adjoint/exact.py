"""The exact tangent: what solvers leave out because it is not symmetric belongs into derivatives."""

from typing import Any

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.forces.base import Approximate
from pliant.systems.base import Composed, Weights


def exact_tangent(
    system: Any, q: Array, v: Array, t: float, weights: Weights, a: Array | None
) -> tuple[sp.csr_matrix, bool]:
    """w_M M - w_D D - w_K df/dq over all coordinates, unprojected, and whether it is symmetric.

    Forces that leave terms out of their stiffness give them here.
    """
    A, symmetric = system.tangent(q, v, t, weights, psd=False, a=a), system.symmetric
    if isinstance(system, Composed):
        for force in system.force_terms:
            if isinstance(force, Approximate):
                A = A - weights[2] * (force.stiffness_exact(q, v, t) - force.stiffness(q, v, t))
                symmetric = False
    return sp.csr_matrix(A), symmetric
