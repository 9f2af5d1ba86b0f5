"""Block Davidson: the modes of the matrix whatever the preconditioner, an honest estimate of the turn, odd starts."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh

from pliant.linear.cholesky import Cholesky
from pliant.linear.davidson import refined

N, S, P = 120, 5, 7


def pencil(seed, size=0.0):
    """A string with springs to the ground, disturbed by ``size``; a tridiagonal mass."""
    rng = np.random.default_rng(seed)
    one = np.ones(N - 1)
    K = sp.diags([-one, 2.0 + 0.1 * np.arange(N) / N, -one], [-1, 0, 1]) * N**2
    K = K + sp.diags(size * N**2 * rng.random(N))
    M = sp.diags([one, 4.0 * np.ones(N), one], [-1, 0, 1]) / 6.0
    return sp.csr_matrix(K), sp.csr_matrix(M)


K0, M = pencil(0)
REST = eigh(K0.toarray(), M.toarray(), subset_by_index=[0, P - 1])
FACTOR = Cholesky().factor(K0)


def near(K, start, tolerance, blocks=12):
    return refined(K.__matmul__, M.__matmul__, FACTOR.solve, start, (S, P), tolerance=tolerance, blocks=blocks)


def sine(U, V):
    """Of the largest angle between two spaces, in M."""
    return float(np.linalg.norm(U - V @ (V.T @ (M @ U)), 2))


@pytest.mark.parametrize("size", [1e-3, 1e-2, 0.1])
def test_modes_are_those_of_the_matrix_not_of_the_preconditioner(size):
    K, _ = pencil(1, size)
    lam, U = eigh(K.toarray(), M.toarray(), subset_by_index=[0, P - 1])
    found = near(K, REST[1], 1e-7)
    assert found.turn <= 1e-7 and found.solves == P * found.blocks
    assert np.allclose(found.lam[:S], lam[:S], rtol=1e-10)
    assert sine(found.U[:, :S], U[:, :S]) < 1e-6
    assert np.allclose(found.U.T @ (M @ found.U), np.eye(P), atol=1e-8)


def test_the_turn_bounds_the_error_that_is_left_and_one_block_is_enough_for_a_small_change():
    K, _ = pencil(2, 1e-3)
    U = eigh(K.toarray(), M.toarray(), subset_by_index=[0, P - 1])[1]
    found = near(K, REST[1], 0.1)
    before = sine(U[:, :S], REST[1])  # what the start lacks
    assert found.blocks == 1
    assert 0.2 * before < found.turn < 2 * before
    assert sine(found.U[:, :S], U[:, :S]) < 0.3 * before


def test_a_wide_start_of_two_steps_extrapolates():
    """Modes of K + t dK at t = 0 and 1 span those at t = 2 to second order: better than the last alone."""
    paths = [K0 + t * (pencil(3, 0.003)[0] - K0) for t in range(3)]
    modes = [eigh(K.toarray(), M.toarray(), subset_by_index=[0, P - 1])[1] for K in paths]
    last = near(paths[2], modes[1], 1.0, blocks=1)
    both = near(paths[2], np.hstack([modes[1], modes[0]]), 1.0, blocks=1)
    assert both.turn < 0.2 * last.turn
    assert sine(both.U[:, :S], modes[2][:, :S]) < 0.5 * sine(last.U[:, :S], modes[2][:, :S])


def test_dependent_and_random_starts():
    twice = np.hstack([REST[1], REST[1]])
    assert np.allclose(near(K0, twice, 1e-8).lam, REST[0], rtol=1e-10)
    rough = np.random.default_rng(0).normal(size=(N, P))
    assert np.allclose(near(K0, rough, 1e-7, blocks=30).lam[:S], REST[0][:S], rtol=1e-9)
    assert near(K0, rough, 1e-12, blocks=2).turn > 1e-12  # says that it has not arrived
