"""The Krylov exponential against dense expm: accuracy, substeps, breakdown."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import expm

from pliant.linear._arnoldi import basis
from pliant.linear.krylov import arnoldi, expv


def oscillators(n, stiffness, damping=0.0, seed=0):
    """J = [[0, I], [-K, -damping K]] of a random SPD K with the given largest eigenvalue."""
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    K = B @ B.T
    K *= stiffness / np.linalg.eigvalsh(K)[-1]
    zero, one = np.zeros((n, n)), np.eye(n)
    return np.block([[zero, np.sqrt(stiffness) * one], [-K / np.sqrt(stiffness), -damping * K]])


@pytest.mark.parametrize("stiffness, damping", [(1e2, 0.0), (1e4, 0.0), (1e6, 0.0), (1e4, 1e-3)])
@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-10])
def test_matches_the_dense_exponential(stiffness, damping, tolerance):
    J = oscillators(60, stiffness, damping)
    v = np.random.default_rng(1).normal(size=len(J))
    result = expv(lambda x: J @ x, v, 1 / 30, tolerance=tolerance)
    exact = expm(J / 30) @ v
    assert result.converged
    assert np.linalg.norm(result.w - exact) <= 10 * tolerance * np.linalg.norm(v)
    assert result.products >= 30 * result.substeps


def test_twice_the_time_takes_at_most_twice_the_substeps():
    J = oscillators(80, 1e6)
    v = np.ones(len(J))
    counts = [expv(lambda x: J @ x, v, t).substeps for t in (1 / 120, 1 / 60, 1 / 30, 1 / 15)]
    assert all(b <= 2 * a + 1 for a, b in zip(counts, counts[1:], strict=False))
    assert counts[-1] > counts[0]


def test_growing_modes_are_followed():
    J = np.diag([5.0, -3.0, 0.5, -20.0])
    result = expv(lambda x: J @ x, np.ones(4), 1.0)
    assert np.allclose(result.w, np.exp(np.diag(J)), rtol=1e-6)


def test_zero_matrix_and_zero_vector_return_themselves():
    assert np.allclose(expv(lambda x: 0 * x, np.arange(5.0), 1.0).w, np.arange(5.0), rtol=1e-15)
    assert np.array_equal(expv(lambda x: x, np.zeros(5), 1.0).w, np.zeros(5))


def test_an_invariant_space_is_taken_in_one_exact_substep():
    J = oscillators(40, 1e6)
    lam, U = np.linalg.eigh(-J[40:, :40])
    v = np.concatenate([U[:, 3], np.zeros(40)])
    result = expv(lambda x: J @ x, v, 0.1)
    assert result.substeps == 1 and result.products <= 4
    assert np.allclose(result.w, expm(0.1 * J) @ v, atol=1e-9)


@pytest.mark.parametrize("damped", [False, True])
def test_the_compiled_arnoldi_process_is_the_plain_one(damped):
    rng = np.random.default_rng(2)
    n, w0, h = 20, 3.0, 0.1
    K = sp.random(n, n, 0.3, random_state=1, format="csr")
    D = sp.random(n, n, 0.2, random_state=3, format="csr") if damped else sp.csr_matrix((n, n))
    border, v = rng.normal(size=(2 * n, 2)), rng.normal(size=2 * n + 2)
    J = np.zeros((2 * n + 2, 2 * n + 2))
    J[:n, n : 2 * n], J[n : 2 * n, :n], J[n : 2 * n, n : 2 * n] = w0 * np.eye(n), -K.toarray(), -D.toarray()
    J[: 2 * n, 2 * n :], J[-1, -2] = border, 1 / h
    v /= np.linalg.norm(v)
    V, H, exact, after = arnoldi(lambda x: J @ x, v, 12)
    csr = lambda A: (A.indptr, A.indices.view(np.uint32), A.data)
    W, G, k, last = basis(*csr(K), *csr(D), w0, border, h, v, 12)
    assert not exact and k == 13
    assert np.allclose(W, V, atol=1e-10) and np.allclose(G, H, atol=1e-10) and last == pytest.approx(after)
