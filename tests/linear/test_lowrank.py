"""Matrices with a low-rank correction pass for sparse ones: products, sums, dense copies, factors."""

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.linear.cholesky import Cholesky
from pliant.linear.lowrank import corrected
from pliant.linear.modes import lowest

RNG = np.random.default_rng(1)
A = sp.csr_matrix(sp.diags([np.full(59, -1.0), np.full(60, 4.0), np.full(59, -1.0)], [-1, 0, 1]))
B = sp.csr_matrix(sp.diags(RNG.uniform(1.0, 2.0, 60)))
V, W = RNG.normal(size=(60, 3)), RNG.normal(size=(60, 2))
P, Q = corrected(A, V, np.array([1.0, 2.0, 0.5])), corrected(B, W, np.array([0.3, 0.7]))
DENSE = {"P": A.toarray() + (V * P.c) @ V.T, "Q": B.toarray() + (W * Q.c) @ W.T}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (P + Q, DENSE["P"] + DENSE["Q"]),
        (P - 2.0 * Q, DENSE["P"] - 2.0 * DENSE["Q"]),
        (P + P, 2.0 * DENSE["P"]),
        (P + B, DENSE["P"] + B.toarray()),
        (P + corrected(B, None, None), DENSE["P"] + B.toarray()),
        (corrected(B, None, None) + P, DENSE["P"] + B.toarray()),
    ],
)
def test_sums_keep_the_corrections(made, expected):
    x = RNG.normal(size=(60, 4))
    assert np.allclose(made.toarray(), expected) and np.allclose(made @ x, expected @ x)


def test_factors_and_modes_are_those_of_the_whole():
    b = RNG.normal(size=60)
    assert np.allclose(DENSE["P"] @ Cholesky().factor(P).solve(b), b)
    whole = np.linalg.eigvalsh(DENSE["P"])
    assert np.allclose(lowest(P, sp.identity(60, format="csr"), 3).lam, whole[:3])
    assert np.allclose(lowest(P, sp.identity(60, format="csr"), 15).lam, whole[:15])  # densely
