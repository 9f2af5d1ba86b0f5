"""The supernodal factor against dense linear algebra: structure, values, derivative, extrapolation."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from lattice import lattice, scattered
from threadpoolctl import threadpool_limits

from pliant.errors import NotPositiveDefinite, PliantError
from pliant.linear import Cholesky, dchol, dchol_difference
from pliant.linear.ordering import group_graph, groups, minimum_degree
from pliant.linear.supernodal import SupernodalLayout
from pliant.linear.symbolic import analyse

MATRICES = [lattice(), lattice((1, 1, 1)), scattered(), scattered(200, density=0.01), sp.csr_matrix(np.eye(6) * 2.0)]


def permuted(A, order):
    return A.toarray()[np.ix_(order, order)]


@pytest.mark.parametrize("A", MATRICES, ids=lambda A: str(A.shape[0]))
def test_factor_is_the_dense_one(A):
    engine = Cholesky("supernodal").factor(A).memory.engine
    L, order = engine.lower()
    assert sorted(order) == list(range(A.shape[0]))
    assert np.abs(L.toarray() - np.linalg.cholesky(permuted(A, order))).max() < 1e-12
    assert L.nnz == engine.nnz


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("density", [0.002, 0.02, 0.2])
def test_any_pattern(seed, density):
    A = scattered(90, seed, density)
    A.data[:] *= 0.2
    A = sp.csr_matrix(A + 10.0 * sp.eye_array(90))
    B = np.random.default_rng(seed).normal(size=(90, 2))
    assert np.abs(A @ Cholesky().factor(A).solve(B) - B).max() < 1e-12


def test_ordering_without_metis(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    A = lattice(mass=1.0)
    b = np.ones(A.shape[0])
    assert np.abs(A @ Cholesky().factor(A).solve(b) - b).max() < 1e-12


def test_groups_are_nodes_of_three_rows():
    A = lattice()
    offset = groups(A.indptr, A.indices)
    assert np.array_equal(offset, np.arange(0, A.shape[0] + 1, 3))
    pointers, neighbours = group_graph(A.indptr, A.indices, offset)
    assert len(neighbours) == A.nnz // 9 - A.shape[0] // 3
    assert np.all(neighbours != np.repeat(np.arange(len(pointers) - 1), np.diff(pointers)))


def test_supernodes_cover_the_fill_of_elimination():
    """The structure contains that of a symbolic elimination done entry by entry, and every update finds its place."""
    A = scattered(80)
    structure = analyse(A.indptr, A.indices)
    dense = permuted(A, structure.order) != 0
    for k in range(len(dense)):
        below = np.flatnonzero(dense[k + 1 :, k]) + k + 1
        dense[np.ix_(below, below)] = True
    row, column = structure.coordinates()
    inside = np.zeros_like(dense)
    inside[row, column] = True
    assert np.all(inside[np.tril(dense)])
    assert np.array_equal(np.flatnonzero(row == column), structure.diagonal())


def test_every_entry_of_the_lower_triangle_has_its_place():
    A = scattered(80)
    layout = SupernodalLayout.of(A.indptr, A.indices)
    panels = layout.panels()
    layout.fill(panels, A.data[layout.entries])
    assert np.array_equal(layout.matrix(panels).toarray(), np.tril(permuted(A, layout.structure.order)))


def test_minimum_degree_is_a_permutation():
    A = lattice()
    pointers, neighbours = group_graph(A.indptr, A.indices, groups(A.indptr, A.indices))
    assert sorted(minimum_degree(pointers, neighbours)) == list(range(len(pointers) - 1))


def pair(A):
    rng = np.random.default_rng(5)
    Adot = A.copy()
    upper = sp.triu(A).tocoo()
    Adot.data[:] = 0.0
    for i, j, value in zip(upper.row, upper.col, rng.normal(size=upper.nnz)):
        Adot[i, j] = Adot[j, i] = value * 0.1
    return A, Adot


@pytest.fixture(scope="module")
def rate():
    A, Adot = pair(lattice((3, 2, 2), mass=1.0))
    return A, Adot, dchol(A, Adot)


def test_derivative_satisfies_its_equation(rate):
    A, Adot, result = rate
    L, dL = result.L.toarray(), result.Ldot.toarray()
    assert np.abs(dL @ L.T + L @ dL.T - permuted(Adot, result.order)).max() < 1e-12
    inverse = np.linalg.inv(L)
    S = inverse @ permuted(Adot, result.order) @ inverse.T
    assert np.abs(dL - L @ (np.tril(S, -1) + 0.5 * np.diag(np.diag(S)))).max() < 1e-12


def test_derivative_is_the_limit_of_differences(rate):
    A, Adot, result = rate
    difference = dchol_difference(A, Adot, result.memory)
    assert not difference.analysed
    assert np.abs((difference.Ldot - result.Ldot).toarray()).max() < 1e-5 * np.abs(result.Ldot.toarray()).max()


def test_extrapolation_overestimates_by_the_square(rate):
    """A linear in time: (L + dt Ldot)(L + dt Ldot)^T - A(t + dt) = dt^2 Ldot Ldot^T, and the solve uses it."""
    A, Adot, result = rate
    dt = 0.05
    b = np.random.default_rng(2).normal(size=(A.shape[0], 3))
    x = result.extrapolated(dt).solve(b)
    dL = result.Ldot.toarray()
    extrapolated = permuted(A + dt * Adot, result.order) + dt**2 * dL @ dL.T
    assert np.abs(extrapolated @ x[result.order] - b[result.order]).max() < 1e-10
    assert np.allclose(result.extrapolated(0.0).solve(b[:, 0]), np.linalg.solve(A.toarray(), b[:, 0]))


def test_difference_over_the_whole_step_is_the_predictor(rate):
    A, Adot, result = rate
    dt = 0.05
    b = np.ones(A.shape[0])
    x = dchol_difference(A, Adot, step=dt).extrapolated(dt).solve(b)
    assert np.abs((A + dt * Adot) @ x - b).max() < 1e-11


def test_lost_pivots_and_mixed_patterns_are_refused(rate):
    A, Adot, result = rate
    far = 10.0 / abs(1.0 - result.pivot_ratio(1.0))
    with pytest.raises(NotPositiveDefinite, match="extrapolated"):
        result.extrapolated(far)
    with pytest.raises(PliantError, match="patterns"):
        dchol(A, sp.csr_matrix(sp.eye_array(A.shape[0])))
    with pytest.raises(NotPositiveDefinite, match="row"):
        dchol(sp.csr_matrix(-A), Adot)


def test_threads_do_not_change_a_bit():
    A = lattice((9, 5, 5))
    b = np.random.default_rng(0).normal(size=(A.shape[0], 4))
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            results.append(Cholesky().factor(A).solve(b).tobytes() + dchol(A, A).rates.tobytes())
    assert results[0] == results[1]


@pytest.mark.slow
def test_a_bar_of_30_thousand_unknowns():
    A = lattice((44, 14, 14))
    b = np.random.default_rng(0).normal(size=(A.shape[0], 3))
    assert np.abs(A @ Cholesky().factor(A).solve(b) - b).max() < 1e-11


@pytest.mark.parametrize("A", MATRICES, ids=lambda A: str(A.shape[0]))
def test_single_precision_has_seven_digits(A):
    b = np.random.default_rng(0).normal(size=(A.shape[0], 3))
    factor = Cholesky("single").factor(A)
    assert factor.memory.engine.L.dtype == np.float32 and factor.solve(b).dtype == np.float64
    x = np.linalg.solve(A.toarray(), b)
    condition = np.linalg.cond(A.toarray())
    assert np.abs(factor.solve(b) - x).max() <= 1e-6 * condition * np.abs(x).max()
    assert np.array_equal(factor.solve(b[:, 0]), factor.solve(b[:, :1])[:, 0])


def test_what_is_indefinite_in_seven_digits_is_factored_in_sixteen():
    rng = np.random.default_rng(1)
    Q, _ = np.linalg.qr(rng.normal(size=(12, 12)))
    A = sp.csr_matrix(Q @ np.diag(np.logspace(-11, 0, 12)) @ Q.T)
    A = sp.csr_matrix(0.5 * (A + A.T))
    b = rng.normal(size=12)
    single = Cholesky("single")
    factor = single.factor(A)
    assert factor.memory.engine.L.dtype == np.float64
    assert np.array_equal(factor.solve(b), Cholesky().factor(A).solve(b))
    well = sp.csr_matrix(A + sp.eye_array(12))
    again = single.factor(well, factor.memory)  # the next matrix is tried in single precision again
    assert not again.analysed and again.memory.engine.L.dtype == np.float32
    assert np.abs(well @ again.solve(b) - b).max() < 1e-4
    with pytest.raises(NotPositiveDefinite):
        single.factor(sp.csr_matrix(A - sp.eye_array(12)))
