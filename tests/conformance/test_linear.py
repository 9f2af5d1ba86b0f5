"""Every linear solver: the right answer, the analysis made once, an honest refusal, the same bytes twice."""

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.errors import NotPositiveDefinite
from pliant.linear import LINEAR, Cholesky

DIRECT = [solver for solver in LINEAR if isinstance(solver, Cholesky)]


def blocks(seed=0, n=40):
    """A chain of 3x3 blocks with some long-range couplings; positive definite."""
    rng = np.random.default_rng(seed)
    i = np.concatenate([np.arange(n - 1), np.arange(0, n - 7, 5)])
    j = np.concatenate([np.arange(1, n), np.arange(7, n, 5)])
    W = sp.csr_matrix((rng.uniform(0.5, 1.5, len(i)), (i, j)), shape=(n, n))
    graph = W + W.T
    laplacian = sp.diags_array(np.asarray(graph.sum(axis=1)).ravel() + 0.1) - graph
    A = sp.csr_matrix(sp.kron(laplacian, [[2.0, 0.3, 0.2], [0.3, 1.5, 0.1], [0.2, 0.1, 1.0]]))
    A.sort_indices()
    return A


def name(solver):
    return getattr(solver, "backend", "pcg")


@pytest.fixture(params=LINEAR, ids=name)
def solver(request):
    return request.param


@pytest.fixture(params=DIRECT, ids=name)
def direct(request):
    return request.param


def test_solves_agree_with_dense(solver):
    A = blocks()
    b = np.random.default_rng(1).normal(size=A.shape[0])
    x = solver.factor(A).solve(b)
    exact = np.linalg.solve(A.toarray(), b)
    assert x.shape == b.shape and np.abs(x - exact).max() <= 1e-10 * np.abs(exact).max()


def test_many_right_hand_sides_are_its_columns(solver):
    A = blocks()
    B = np.random.default_rng(1).normal(size=(A.shape[0], 7))
    factor = solver.factor(A)
    X = factor.solve(B)
    assert X.shape == B.shape and X.flags.c_contiguous
    for k in range(7):
        assert np.abs(X[:, k] - factor.solve(B[:, k])).max() <= 1e-11 * np.abs(X).max()
    assert factor.solve(B[:, :0]).shape == (A.shape[0], 0)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_either_index_type(solver, index):
    A = blocks()
    A = sp.csr_matrix((A.data, A.indices.astype(index), A.indptr.astype(index)), shape=A.shape)
    b = np.ones(A.shape[0])
    assert np.abs(A @ solver.factor(A).solve(b) - b).max() < 1e-10


def test_same_pattern_reuses_the_analysis(direct):
    A, other = blocks(0), blocks(1)
    first = direct.factor(A)
    second = direct.factor(other, first.memory)
    assert first.analysed and not second.analysed
    b = np.ones(A.shape[0])
    assert np.abs(other @ second.solve(b) - b).max() < 1e-11


def test_changed_pattern_is_noticed(direct):
    A, b = blocks(), np.ones(120)
    first = direct.factor(A)
    changed = sp.csr_matrix(A + sp.csr_matrix(([0.01, 0.01], ([0, 100], [100, 0])), shape=A.shape))
    changed.sort_indices()
    second = direct.factor(changed, first.memory)
    assert second.analysed and np.abs(changed @ second.solve(b) - b).max() < 1e-11
    smaller = direct.factor(A[:60][:, :60], first.memory)
    assert smaller.analysed and smaller.solve(b[:60]).shape == (60,)


def test_a_superseded_factor_stays_right(direct):
    A, other = blocks(0), blocks(1)
    b = np.ones(A.shape[0])
    first = direct.factor(A)
    before = first.solve(b)
    second = direct.factor(other, first.memory)
    assert np.array_equal(first.solve(b), before)
    assert np.abs(other @ second.solve(b) - b).max() < 1e-11


@pytest.mark.parametrize("row", [0, 50, 119])
def test_indefinite_matrices_are_refused_by_row(direct, row):
    A = blocks()
    good = direct.factor(A)
    before = good.solve(np.ones(120))
    bad = A.copy()
    bad[row, row] -= 100.0
    with pytest.raises(NotPositiveDefinite, match=f"row {row} "):
        direct.factor(bad, good.memory)
    assert np.array_equal(good.solve(np.ones(120)), before)


@pytest.mark.parametrize("entries", [[[1, 1], [1, 1]], [[1, 2], [2, 1]], [[0, 1], [1, 0]], [[np.nan, 1], [1, 2]]])
def test_singular_and_nonsense_matrices_are_refused(direct, entries):
    with pytest.raises(NotPositiveDefinite):
        direct.factor(sp.csr_matrix(np.array(entries, dtype=float)))


def test_the_same_bytes_twice(solver):
    A = blocks()
    B = np.random.default_rng(1).normal(size=(A.shape[0], 5))
    first, second = solver.factor(A), solver.factor(A)
    refilled = solver.factor(A, second.memory)
    assert first.solve(B).tobytes() == second.solve(B).tobytes() == refilled.solve(B).tobytes()


def test_one_by_one_and_diagonal(solver):
    for n in (1, 4):
        A = sp.csr_matrix(sp.diags_array(np.arange(2.0, n + 2.0)))
        assert np.allclose(solver.factor(A).solve(np.ones(n)), 1.0 / np.arange(2.0, n + 2.0), rtol=1e-12)
