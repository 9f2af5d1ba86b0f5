"""Quadratic programmes: optimality conditions, a brute-force twin over active sets, redundancy, infeasibility."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.errors import PliantError
from pliant.linear import OSQP, Clarabel, solve_qp


@pytest.fixture(params=[Clarabel(), OSQP()], ids=["clarabel", "osqp"])
def solver(request):
    return request.param


def problem(seed, n=6, p=2, m=5, size=1.0):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    P, q = size * (B @ B.T + 0.1 * np.eye(n)), size * rng.normal(size=n)
    A, C = rng.normal(size=(p, n)), rng.normal(size=(m, n))
    inside = rng.normal(size=n)
    return P, q, A, A @ inside, C, C @ inside - rng.uniform(0.0, 1.0, m)


def brute_force(P, q, A, b, C, d):
    """The feasible stationary point with nonnegative multipliers, by trying every active set."""
    n, p = len(q), len(b)
    for k in range(len(d) + 1):
        for active in map(list, combinations(range(len(d)), k)):
            G, g = np.vstack([A, C[active]]), np.concatenate([b, d[active]])
            if len(g) > n:
                continue
            KKT = np.block([[P, -G.T], [G, np.zeros((len(g), len(g)))]])
            solution = np.linalg.solve(KKT, np.concatenate([-q, g]))
            x, z = solution[:n], solution[n + p :]
            if np.all(C @ x >= d - 1e-10) and np.all(z >= -1e-10):
                return x
    raise AssertionError("no optimal active set")


@pytest.mark.parametrize("seed", range(6))
def test_brute_force_twin(solver, seed):
    P, q, A, b, C, d = problem(seed)
    result = solve_qp(P, q, equality=(A, b), inequality=(C, d), solver=solver)
    assert result.converged and result.message == ""
    assert np.abs(result.x - brute_force(P, q, A, b, C, d)).max() < 1e-9


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_multipliers_are_impulses_in_any_units(solver, size):
    P, q, A, b, C, d = problem(1, n=30, p=4, m=20, size=size)
    result = solve_qp(sp.csr_matrix(P), q, equality=(sp.csr_matrix(A), b), inequality=(C, d), solver=solver)
    assert result.converged and result.residual <= result.tolerance
    slack = C @ result.x - d
    force = A.T @ result.y_equality + C.T @ result.z_inequality
    assert np.abs(P @ result.x + q - force).max() < 1e-9 * np.abs(force).max()
    assert np.abs(A @ result.x - b).max() < 1e-10 and slack.min() > -1e-10
    assert result.z_inequality.min() >= -1e-10 * size and np.abs(result.z_inequality * slack).max() < 1e-9 * size


def test_equalities_alone_with_redundant_rows():
    P, q, A, b, *_ = problem(2)
    twice = np.vstack([A, A[0] + A[1], A[0]])
    result = solve_qp(P, q, equality=(twice, np.concatenate([b, [b[0] + b[1], b[0]]])))
    single = solve_qp(P, q, equality=(A, b))
    assert result.converged and np.abs(result.x - single.x).max() < 1e-10
    assert np.abs(twice.T @ result.y_equality - A.T @ single.y_equality).max() < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_sparse_and_dense_programmes_agree(solver, seed, monkeypatch):
    P, q, A, b, C, d = problem(seed)
    rows = {"equality": (np.vstack([A, A[0]]), np.append(b, b[0])), "inequality": (C, d)}
    dense = solve_qp(P, q, **rows, solver=solver)
    monkeypatch.setattr("pliant.linear.qp.DENSE", 0)
    sparse = solve_qp(P, q, **rows, solver=solver)
    assert sparse.converged and np.abs(sparse.x - dense.x).max() < 1e-10
    assert np.abs(sparse.z_inequality - dense.z_inequality).max() < 1e-9
    assert np.abs(solve_qp(P, q).x - np.linalg.solve(P, -q)).max() < 1e-10


def test_no_rows_is_a_linear_solve():
    P, q, *_ = problem(3)
    assert np.abs(solve_qp(P, q).x - np.linalg.solve(P, -q)).max() < 1e-11


def test_contradictory_equalities_are_named():
    P, q, A, b, *_ = problem(2)
    result = solve_qp(P, q, equality=(np.vstack([A, A[1]]), np.append(b, b[1] + 1.0)))
    assert not result.converged and "equality 1, equality 2" in result.message
    assert np.isfinite(result.x).all()


def test_contradictory_inequalities_are_named(solver):
    P, q, _, _, C, d = problem(2)
    result = solve_qp(P, q, inequality=(np.vstack([C, -C[3]]), np.append(d, 1.0 - d[3])), solver=solver)
    assert not result.converged and "inequality 3, inequality 5" in result.message
    assert np.isfinite(result.x).all()


def test_unbounded_and_empty_rows_say_so(solver):
    result = solve_qp(np.zeros((2, 2)), np.ones(2), inequality=([[1.0, 0.0]], [0.0]), solver=solver)
    assert not result.converged and "unbounded" in result.message
    result = solve_qp(np.eye(2), np.ones(2), inequality=([[0.0, 0.0]], [1.0]), solver=solver)
    assert not result.converged and "inequality 0" in result.message


def test_warm_start_and_repetition(solver):
    P, q, A, b, C, d = problem(4, n=20, m=12)
    first = solve_qp(P, q, equality=(A, b), inequality=(C, d), solver=solver)
    again = solve_qp(P, q, equality=(A, b), inequality=(C, d), solver=solver)
    assert first.x.tobytes() == again.x.tobytes()
    warm = solve_qp(P, 1.001 * q, equality=(A, b), inequality=(C, d), solver=solver, warm=first.warm)
    assert warm.converged and warm.iterations <= first.iterations
    other = solve_qp(P, q, inequality=(C, d), solver=solver, warm=first.warm)
    assert other.converged


def test_a_bead_on_the_floor():
    """Mass 2 kg falling at 3 m/s onto z >= 0: the floor gives the impulse 6 N s and the bead stops."""
    result = solve_qp(2.0 * np.eye(3), -2.0 * np.array([1.0, 0.0, -3.0]), inequality=([[0.0, 0.0, 1.0]], [0.0]))
    assert np.allclose(result.x, [1.0, 0.0, 0.0], atol=1e-12) and result.z_inequality[0] == pytest.approx(6.0)


def test_wrong_input_is_refused():
    with pytest.raises(PliantError, match="shape"):
        solve_qp(np.eye(3), np.ones(2))
    with pytest.raises(PliantError, match="inequality has shape"):
        solve_qp(np.eye(2), np.ones(2), inequality=(np.ones((1, 3)), [0.0]))
    with pytest.raises(PliantError, match="not finite"):
        solve_qp(np.eye(2), np.array([np.nan, 0.0]))
