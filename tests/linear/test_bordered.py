"""A symmetric matrix with a border: the same solutions as LU of everything, whatever the border is."""

import numpy as np
import pytest
import scipy.sparse as sp
from lattice import lattice

from pliant.errors import NotPositiveDefinite
from pliant.linear import LU, Cholesky
from pliant.linear.bordered import Bordered, BorderedFactor
from pliant.linear.inverse import Inverse
from pliant.linear.lowrank import corrected
from pliant.linear.lu import SparseLU


def bordered(k=7, seed=0, *, S=None, singular=False):
    """A shuffled matrix with k rows and columns that are not symmetric, and where these are."""
    rng = np.random.default_rng(seed)
    S = lattice((8, 5, 4)) if S is None else S
    C = sp.random(S.shape[0], k, density=0.05, random_state=seed)
    D = sp.random(k, S.shape[0], density=0.05, random_state=seed + 1)
    T = np.zeros((k, k)) if singular else rng.normal(size=(k, k))
    A = sp.csr_matrix(sp.bmat([[S, C], [D, sp.csr_matrix(T + 1e-300)]]))
    shuffle = rng.permutation(A.shape[0])
    A = sp.csr_matrix(A[shuffle][:, shuffle])
    A.sort_indices()
    return A, np.sort(np.argsort(shuffle)[-k:])


@pytest.mark.parametrize("singular", [False, True])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_agrees_with_LU(singular, columns):
    """Also with nothing in the corner, as multipliers have it."""
    A, border = bordered(singular=singular)
    b = np.random.default_rng(5).normal(size=(A.shape[0], *columns))
    factor = Bordered(border).factor(A)
    assert isinstance(factor, BorderedFactor)
    expected = LU().factor(A).solve(b)
    assert np.allclose(factor.solve(b), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_the_analysis_outlives_a_changing_border():
    A, border = bordered(seed=1)
    first = Bordered(border).factor(A)
    shuffled = np.concatenate([np.setdiff1d(np.arange(A.shape[0]), border), border])
    back = np.argsort(shuffled)
    other = sp.csr_matrix(sp.bmat([[A[shuffled][:, shuffled][:-7, :-7], None], [None, sp.identity(7)]]))[back][:, back]
    other = sp.csr_matrix(other)
    other.sort_indices()
    second = Bordered(border).factor(other, first.memory)
    assert first.analysed and not second.analysed
    b = np.arange(len(back), dtype=float)
    assert np.allclose(other @ second.solve(b), b, atol=1e-9 * len(b))


def test_an_indefinite_matrix_goes_to_LU_and_keeps_the_analysis():
    A, border = bordered()
    memory = Bordered(border).factor(A).memory
    worse = A - 3.0 * sp.identity(A.shape[0], format="csr")
    factor = Bordered(border).factor(sp.csr_matrix(worse), memory)
    assert isinstance(factor, SparseLU) and factor.memory is memory
    b = np.ones(A.shape[0])
    assert np.allclose(worse @ factor.solve(b), b, atol=1e-8)


def test_a_matrix_that_is_not_symmetric_after_all_is_solved_all_the_same():
    """Cholesky reads one triangle only; the residual tells."""
    S = lattice((8, 5, 4)).tolil()
    S[3, 4] = S[3, 4] - 0.5
    A, border = bordered(S=sp.csr_matrix(S))
    b = np.random.default_rng(3).normal(size=A.shape[0])
    assert np.linalg.norm(A @ Bordered(border).factor(A).solve(b) - b) <= 1e-6 * np.linalg.norm(b)


def test_redundant_closures_do_no_harm():
    """The same row twice: the multipliers are not unique, the motion is."""
    S, rng = lattice((8, 5, 4)), np.random.default_rng(0)
    n = S.shape[0]
    G = sp.csr_matrix(rng.normal(size=(2, n)) * (rng.random((2, n)) < 0.1))
    A = sp.csr_matrix(
        sp.bmat([[S, -G.T, -G.T], [G, 1e-300 * sp.identity(2), None], [G, None, 1e-300 * sp.identity(2)]])
    )
    once = sp.csr_matrix(sp.bmat([[S, -G.T], [G, 1e-300 * sp.identity(2)]]))
    b, e = rng.normal(size=n), rng.normal(size=2)
    x = Bordered(n + np.arange(4)).factor(A).solve(np.concatenate([b, e, e]))
    y = LU().factor(once).solve(np.concatenate([b, e]))
    assert np.allclose(x[:n], y[:n], atol=1e-8 * np.abs(y).max())


def test_definite_matrices_are_cholesky_everywhere():
    """Symmetric and definite, with and without a low-rank correction; what is not definite in the border is refused."""
    S, rng = lattice((8, 5, 4)), np.random.default_rng(0)
    n, k = S.shape[0], 6
    C = sp.csr_matrix(rng.normal(size=(n, k)) * (rng.random((n, k)) < 0.03))
    A = sp.csr_matrix(sp.bmat([[S, C], [C.T, 1e3 * sp.identity(k) + np.ones((k, k))]]))
    b, border = rng.normal(size=(n + k, 2)), n + np.arange(k)
    factor = Bordered(border, definite=True).factor(A)
    assert isinstance(factor, BorderedFactor)
    assert np.allclose(A @ factor.solve(b), b, atol=1e-9)
    W, c = rng.normal(size=(n + k, 3)), np.array([1.0, 2.0, 0.5])
    lifted = corrected(A, W, c)
    assert np.allclose(lifted @ Bordered(border, definite=True).factor(lifted).solve(b), b, atol=1e-8)
    A[n, n] = -1e3
    with pytest.raises(NotPositiveDefinite):
        Bordered(border, definite=True).factor(A)


@pytest.mark.parametrize("backend", ["supernodal", "superlu"])
@pytest.mark.parametrize("coupled", [True, False])
def test_rows_act_on_each_other_as_the_inverse_says(backend, coupled):
    """B A^-1 B^T by halves of factors, and by solves where an engine has none."""
    S, rng = lattice((8, 5, 4)), np.random.default_rng(0)
    n, k = S.shape[0], 6
    C = sp.csr_matrix(rng.normal(size=(n, k)) * (rng.random((n, k)) < (0.03 if coupled else 0.0)))
    A = sp.csr_matrix(sp.bmat([[S, C], [C.T, 1e3 * sp.identity(k) + np.ones((k, k))]]))
    B = sp.csr_matrix(sp.random(20, n + k, density=0.02, random_state=1) + sp.eye(20, n + k, k=n - 10))
    expected = B @ np.linalg.solve(A.toarray(), B.T.toarray())
    linear = Cholesky(backend)
    for solver in (Bordered(n + np.arange(k), linear, definite=True), linear):
        W = Inverse(A, solver).gram(B)
        assert np.array_equal(W, W.T)
        assert np.allclose(W, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("mass, crooked", [(1e-2, 0.0), (1e-7, 0.0), (1e-2, 0.5)])
def test_large_matrices_are_solved_to_the_digits_of_double_precision(mass, crooked):
    """Factored in single precision and refined; where no factor of S can help, by LU of everything."""
    S, rng = lattice((14, 10, 5), mass=mass).tolil(), np.random.default_rng(2)
    S[3, 4] = S[3, 4] - crooked
    n, k = S.shape[0], 5
    C = sp.csr_matrix(rng.normal(size=(n, k)) * (rng.random((n, k)) < 0.01))
    A = sp.csr_matrix(sp.bmat([[S, C], [2.0 * C.T, 30.0 * sp.identity(k) + rng.normal(size=(k, k))]]))
    A.sort_indices()
    x = rng.normal(size=n + k)
    b = A @ x
    assert np.linalg.norm(A @ Bordered(n + np.arange(k)).factor(A).solve(b) - b) <= 1e-9 * np.linalg.norm(b)
