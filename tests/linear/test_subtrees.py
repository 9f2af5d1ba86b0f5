"""Factorization by subtrees: the same factor as panel by panel, the same bytes on one thread and on two."""

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from lattice import lattice

from pliant.errors import NotPositiveDefinite
from pliant.linear import Cholesky, subtrees
from pliant.linear.automatic import Automatic, estimate
from pliant.linear.symbolic import analyse


@pytest.fixture
def shared_out(monkeypatch):
    """Small matrices are factored as large ones are."""
    for name, value in (("WORTH", 0.0), ("HEAVY", 0.01), ("PIECE", 7)):
        monkeypatch.setattr(subtrees, name, value)


def test_subtrees_are_disjoint_and_everything_above_is_on_top(shared_out):
    A = lattice((9, 5, 5))
    structure = analyse(A.indptr, A.indices)
    schedule, parent = subtrees.Schedule.of(structure), subtrees.parents(structure)
    assert len(schedule.subtrees) >= 4 and len(schedule.below) + len(schedule.above) == len(parent)
    for begin, end in schedule.subtrees:
        assert all(begin <= parent[s] < end for s in range(begin, end - 1))
    assert set(parent[schedule.above]) <= {-1, *schedule.above}


def test_the_factor_is_that_of_dense_algebra(shared_out):
    A = lattice((9, 5, 5))
    factor = Cholesky("supernodal").factor(A)
    assert factor.memory.engine.layout.schedule.subtrees
    L, order = factor.memory.engine.lower()
    exact = np.linalg.cholesky(A.toarray()[np.ix_(order, order)])
    assert np.abs(L.toarray() - exact).max() <= 1e-12 * np.abs(exact).max()


def test_any_number_of_threads_gives_the_same_bytes(shared_out):
    A = lattice((9, 5, 5))
    found = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        found.append([Cholesky(kind).factor(A).memory.engine.L.tobytes() for kind in ("supernodal", "single")])
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["supernodal", "single"])
def test_substitution_by_subtrees_solves_for_any_right_hand_sides(shared_out, kind):
    """One and several at once, dense and sparse; the same bytes on one thread and on two."""
    A = lattice((9, 5, 5))
    factor = Cholesky(kind).factor(A)
    assert factor.memory.engine.layout.schedule.subtrees
    b = np.random.default_rng(3).normal(size=(A.shape[0], 5))
    rows = sp.random(11, A.shape[0], density=0.01, format="csr", random_state=4)
    close = 1e-11 if kind == "supernodal" else 1e-3
    inverse = np.linalg.inv(A.toarray())
    found = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        found.append([factor.solve(b[:, 0]), factor.solve(b), factor.gram(rows)])
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    for x, exact in zip(found[0], (inverse @ b[:, 0], inverse @ b, rows @ inverse @ rows.T), strict=True):
        assert np.abs(x - exact).max() <= close * np.abs(exact).max()
    assert [x.tobytes() for x in found[0]] == [x.tobytes() for x in found[1]]


@pytest.mark.parametrize("row", [0, 200, 1000])
def test_a_bad_pivot_is_found_wherever_it_is(shared_out, row):
    A = lattice((9, 5, 5))
    A[row, row] = -1.0
    with pytest.raises(NotPositiveDefinite):
        Cholesky("supernodal").factor(A)


@pytest.mark.parametrize("cells", [(24, 8, 8), (14, 14, 14), (3, 24, 24), (80, 4, 4)])
def test_the_estimate_is_near_the_work_of_the_analysis(cells):
    """Independent of it: one looks at distances in the graph, the other orders it and counts."""
    A = lattice(cells)
    costs, structure = estimate(A), analyse(A.indptr, A.indices)
    assert 1 / 3 < costs.factor * 6e10 / (1e6 * structure.megaflops) < 3
    assert 1 / 3 < costs.storage / (8 * structure.nnz) < 3


def test_small_matrices_are_factored(monkeypatch):
    A = lattice()
    assert Automatic().factor(A).backend == "supernodal"
    monkeypatch.setattr("pliant.linear.automatic.REFINED", 10)
    assert Automatic().factor(A).backend == "refined"
    for name, value in (("SMALL", 10), ("MARGIN", 0.0)):
        monkeypatch.setattr("pliant.linear.automatic." + name, value)
    assert Automatic().factor(A).backend == "pcg"
