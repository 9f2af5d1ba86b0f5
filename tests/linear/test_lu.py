"""LU: general, saddle and singular matrices, small and large."""

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.linear import LU
from pliant.linear.lu import DenseLU, SparseLU


def saddle(n, rows, seed=0):
    """[[A, -G^T], [G, 0]] with a banded A that is not symmetric."""
    rng = np.random.default_rng(seed)
    A = sp.diags([rng.normal(size=n - 1), 6.0 + rng.random(n), rng.normal(size=n - 1)], [-1, 0, 1])
    G = sp.csr_matrix(np.eye(n)[rng.choice(n, rows, replace=False)] + 0.0)
    return sp.csr_matrix(sp.bmat([[A, -G.T], [G, None]]))


@pytest.mark.parametrize(("n", "kind"), [(60, DenseLU), (600, SparseLU)])
def test_solves_general_matrices(n, kind):
    A, b = saddle(n, 5), np.random.default_rng(1).normal(size=(n + 5, 2))
    factor = LU().factor(A)
    assert isinstance(factor, kind)
    assert np.allclose(A @ factor.solve(b), b, atol=1e-11)


@pytest.mark.parametrize("n", [60, 600])
def test_redundant_rows_do_no_harm(n):
    """The same closure twice: the multipliers are not unique, the motion is."""
    A = saddle(n, 5)
    G = A[n:, :n]
    twice = sp.csr_matrix(sp.bmat([[A[:n, :n], -G.T, -G.T], [G, None, None], [G, None, None]]))
    b = np.random.default_rng(2).normal(size=n + 5)
    x = LU().factor(A).solve(b)
    y = LU().factor(twice).solve(np.concatenate([b, b[n:]]))
    assert np.allclose(y[:n], x[:n], atol=1e-9 * np.abs(x).max())
    assert np.allclose(G.T @ (y[n : n + 5] + y[n + 5 :]), G.T @ x[n:], atol=1e-9 * np.abs(x).max())
