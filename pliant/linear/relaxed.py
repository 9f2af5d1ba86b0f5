"""Quadratic programmes whose inequalities contradict each other: the rows share what they cannot have together."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.linear.kkt import Matrix
from pliant.linear.qp import Clarabel, QPSolution, Rows, solve_qp

PRICE = 1e4  # of a unit of slack, in units of the largest entry on the diagonal of P
GIVEN = 1e-6  # slack that counts


def solve_relaxed(P: Matrix, q: Array, *, equality: Rows | None, inequality: Rows) -> tuple[QPSolution, IntArray]:
    """The programme with C x + s >= d, s >= 0 and a stiff quadratic price on s; which rows (k,) got some."""
    C, d = inequality
    n, m = len(q), len(d)
    E, e = (sp.csr_matrix((0, n)), np.zeros(0)) if equality is None else equality
    slack = sp.identity(m, format="csr")
    wide = sp.block_diag([sp.csr_matrix(P), PRICE * float(P.diagonal().max()) * slack], format="csc")
    rows = sp.vstack([sp.hstack([sp.csr_matrix(C), slack]), sp.hstack([sp.csr_matrix((m, n)), slack])], format="csc")
    found = solve_qp(
        wide,
        np.concatenate([q, np.zeros(m)]),
        equality=(sp.hstack([sp.csr_matrix(E), sp.csr_matrix((len(e), m))], format="csc"), e),
        inequality=(rows, np.concatenate([d, np.zeros(m)])),
        solver=Clarabel(),
    )
    given = np.flatnonzero(found.x[n:] > GIVEN)
    return replace(found, x=found.x[:n], z_inequality=found.z_inequality[:m]), given
