"""Vibration modes against dense eigensolvers and the closed form of a chain."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from lattice import lattice

from pliant.errors import PliantError
from pliant.linear import Cholesky, ShiftInvert, highest, lowest
from pliant.linear.tracking import Pencil, track


def system(seed=0):
    """A free body (three zero modes for this scalar-like matrix) with a lumped mass that varies."""
    K = lattice((8, 3, 3), mass=0.0)
    M = sp.csr_matrix(sp.diags_array(np.random.default_rng(seed).uniform(1.0, 2.0, K.shape[0])))
    return K, M


def dense(K, M):
    return scipy.linalg.eigh(K.toarray(), M.toarray())


def test_lowest_are_the_dense_ones_with_rigid_modes():
    K, M = system()
    modes = lowest(K, M, 9)
    lam, _ = dense(K, M)
    assert modes.converged and np.all(np.diff(modes.lam) >= 0)
    assert np.abs(modes.lam - lam[:9]).max() < 1e-9 * lam[8]
    assert np.abs(modes.lam[:3]).max() < 1e-9 * lam[3] + 1e-12
    assert np.abs(modes.U.T @ (M @ modes.U) - np.eye(9)).max() < 1e-12
    assert np.abs(K @ modes.U - M @ modes.U * modes.lam).max() < 1e-5 * lam[8]


def test_indefinite_stiffness_gives_the_algebraically_smallest():
    K, M = system()
    K = sp.csr_matrix(K - 0.3 * M)
    modes = lowest(K, M, 6)
    assert np.abs(modes.lam - dense(K, M)[0][:6]).max() < 1e-8


def test_factor_of_an_implicit_step_is_a_shift_invert():
    K, M = system()
    h, alpha, beta = 0.3, 0.1, 0.02
    A = sp.csr_matrix(M + h * (alpha * M + beta * K) + h**2 * K)
    scale = h**2 + h * beta
    inverse = ShiftInvert(Cholesky().factor(A), -(1 + h * alpha) / scale, scale)
    modes = lowest(K, M, 5, inverse=inverse, tolerance=1e-8)
    assert modes.converged and np.abs(modes.lam - dense(K, M)[0][:5]).max() < 1e-9


def test_warm_start_saves_solves_and_bytes_repeat():
    K, M = system()
    first, again = lowest(K, M, 5), lowest(K, M, 5)
    assert first.U.tobytes() == again.U.tobytes()
    warm = lowest(sp.csr_matrix(1.001 * K), M, 5, guess=first.U)
    assert warm.solves < first.solves
    assert np.abs(warm.lam - 1.001 * first.lam).max() < 1e-9


def test_chain_with_fixed_ends():
    """Unit masses and springs: lam_k = 4 sin^2(k pi / (2 (n + 1)))."""
    n = 200
    K = sp.csr_matrix(sp.diags_array([2 * np.ones(n), -np.ones(n - 1), -np.ones(n - 1)], offsets=[0, 1, -1]))
    M = sp.csr_matrix(sp.eye_array(n))
    exact = 4 * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1))) ** 2
    assert np.abs(lowest(K, M, 8).lam / exact[:8] - 1).max() < 1e-8
    assert highest(K, M) == pytest.approx(exact[-1], rel=1e-3) and highest(K, M) <= exact[-1] * (1 + 1e-12)


def test_small_systems_and_all_modes():
    K, M = lattice((1, 1, 1)), sp.csr_matrix(sp.eye_array(24))
    assert np.allclose(lowest(K, M, 24).lam, dense(K, M)[0])
    assert highest(K, M) == pytest.approx(dense(K, M)[0][-1])
    with pytest.raises(PliantError, match="25 modes"):
        lowest(K, M, 25)


def test_consistent_mass():
    K, _ = system()
    M = sp.csr_matrix(0.1 * lattice((8, 3, 3), seed=4) + sp.eye_array(K.shape[0]))
    lam, _ = dense(K, M)
    assert np.abs(lowest(K, M, 6).lam - lam[:6]).max() < 1e-9
    assert highest(K, M) == pytest.approx(lam[-1], rel=1e-3)


def test_tracked_modes_stay_orthonormal_and_converge_over_many_blocks():
    """A weak shift needs many blocks, more than the space has room for; the modes must come out right all the same."""
    K, M = system()
    h2 = 1e-2
    factor = Cholesky().factor(sp.csr_matrix(M + h2 * K))
    pencil = Pencil(lambda x: K @ x, lambda x: M @ x, factor.solve, (1.0, h2))
    lam, exact = dense(K, M)
    rng = np.random.default_rng(1)
    start = exact[:, :7] + 0.05 * exact @ rng.normal(size=(exact.shape[0], 7)) / np.sqrt(len(exact))
    start = start @ np.linalg.inv(np.linalg.cholesky(start.T @ (M @ start)).T)
    for _ in range(4):
        tracked = track(pencil, start, 5, np.zeros(K.shape[0]), tolerance=1e-9, blocks=40)
        start = tracked.U
    assert np.abs(start.T @ (M @ start) - np.eye(7)).max() < 1e-9
    assert np.abs(tracked.lam[:5] - lam[:5]).max() < 1e-6 * lam[5]
