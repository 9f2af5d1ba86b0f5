"""The dense derivatives of a Cholesky factor [Weidner2022, Ch. 5] against the identity, differences, closed form."""

import numpy as np
import pytest

from pliant.errors import NotPositiveDefinite
from pliant.linear import dchol_blocks, dchol_dense

N = 17


def spd(seed):
    B = np.random.default_rng(seed).normal(size=(N, N))
    return B @ B.T + N * np.eye(N)


def symmetric(seed):
    B = np.random.default_rng(seed).normal(size=(N, N))
    return B + B.T


METHODS = {
    "dense": dchol_dense,
    **{
        str(sizes): lambda A, dA, sizes=sizes: dchol_blocks(A, dA, np.array(sizes))
        for sizes in ([17], [1] * 17, [3, 4, 1, 6, 3], [3, 3, 3, 3, 3, 2])
    },
}


@pytest.fixture(params=METHODS.values(), ids=METHODS)
def method(request):
    return request.param


def test_identity_and_factor(method):
    A, dA = spd(0), symmetric(1)
    L, dL = method(A, dA)
    assert np.abs(L - np.linalg.cholesky(A)).max() < 1e-13
    assert np.abs(dL @ L.T + L @ dL.T - dA).max() < 1e-12
    assert np.array_equal(L, np.tril(L)) and np.array_equal(dL, np.tril(dL))


def test_finite_differences(method):
    A, dA, e = spd(0), symmetric(1), 1e-6
    _, dL = method(A, dA)
    slope = (np.linalg.cholesky(A + e * dA) - np.linalg.cholesky(A - e * dA)) / (2 * e)
    assert np.abs(dL - slope).max() < 1e-8


def test_factor_linear_in_time_is_extrapolated_exactly(method):
    L0, dL0 = np.linalg.cholesky(spd(0)), np.tril(symmetric(1)) * 0.1
    A, dA = L0 @ L0.T, dL0 @ L0.T + L0 @ dL0.T
    L, dL = method(A, dA)
    assert np.abs(dL - dL0).max() < 1e-12
    assert np.abs((L + 0.3 * dL) @ (L + 0.3 * dL).T - (L0 + 0.3 * dL0) @ (L0 + 0.3 * dL0).T).max() < 1e-11


def test_indefinite_is_refused_by_row():
    A = spd(0)
    A[5, 5] = -1.0
    with pytest.raises(NotPositiveDefinite, match="row 5"):
        dchol_dense(A, symmetric(1))
