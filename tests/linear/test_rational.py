"""The motion of a linear body in a rational Krylov space: against dense exponentials, closed forms, its energy."""

from fractions import Fraction
from math import factorial

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import expm

from pliant.linear.rational import motion, stumpff

H = 0.7


def body(n=20, stiff=1.0, seed=0):
    """M, K, D, v and three loads of a random body."""
    rng = np.random.default_rng(seed)
    R, S = rng.normal(size=(2, n, n))
    M, K, D = np.diag(rng.uniform(1.0, 2.0, n)), stiff * (R @ R.T), 0.1 * (S @ S.T)
    return *map(sp.csr_matrix, (M, K, D)), rng.normal(size=n), list(rng.normal(size=(3, n)))


def dense(M, K, D, v, loads):
    """q(h) and q'(h) - v from one exponential of everything."""
    n, p = len(v), len(loads)
    J, inverse = np.zeros((2 * n + p, 2 * n + p)), np.linalg.inv(M.toarray())
    J[:n, n : 2 * n] = np.eye(n)
    J[n : 2 * n, :n] = -inverse @ K.toarray()
    J[n : 2 * n, n : 2 * n] = 0.0 if D is None else -inverse @ D.toarray()
    for k, f in enumerate(loads):
        J[n : 2 * n, 2 * n + k] = inverse @ f
        if k:
            J[2 * n + k, 2 * n + k - 1] = k / H
    start = np.concatenate([np.zeros(n), v, np.eye(1, p)[0]])
    end = expm(H * J) @ start
    return end[:n], end[n : 2 * n] - v


def solver(M, K, D):
    A = (M + H * H * K + (0 * M if D is None else H * D)).toarray()
    return lambda b: np.linalg.solve(A, b)


@pytest.mark.parametrize("damped", [False, True])
def test_the_whole_space_holds_the_exact_motion(damped):
    M, K, D, v, loads = body()
    D = D if damped else None
    found = motion(M, K, D, solver(M, K, D), v, loads, H, m=len(v), tolerance=0.0)
    for ours, exact in zip((found.dq, found.dv), dense(M, K, D, v, loads)):
        np.testing.assert_allclose(ours, exact, atol=1e-12)


@pytest.mark.parametrize("m", [3, 6, 11])
def test_the_energy_of_a_linear_body_is_kept_by_any_number_of_vectors(m):
    M, K, _, v, (f, *_) = body(stiff=1e4)
    found = motion(M, K, None, solver(M, K, None), v, [f], H, m=m, tolerance=0.0)
    dq, after = found.dq, v + found.dv
    energy = 0.5 * after @ (M @ after) + 0.5 * dq @ (K @ dq) - f @ dq
    assert np.isclose(energy, 0.5 * v @ (M @ v), rtol=1e-10)


def test_stiff_modes_that_do_not_move_cost_nothing():
    """A chain under a smooth load: six more decades of stiffness in a direction that rests, no more vectors."""
    n = 60
    K = sp.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1])
    wall = sp.csr_matrix(sp.block_diag([K, 1e6 * K]))
    M = sp.identity(2 * n, format="csr")
    f = np.concatenate([np.sin(np.pi * np.arange(1, n + 1) / (n + 1)), np.zeros(n)])
    found = motion(M, wall, None, solver(M, wall, None), 0.1 * f, [f], H, m=30, tolerance=1e-9)
    assert found.solves <= 6 and found.error <= 1e-9
    lam = 2.0 - 2.0 * np.cos(np.pi / (n + 1))
    c = stumpff(np.array([H * H * lam]), 2)
    np.testing.assert_allclose(found.dq, (0.1 * H * c[1][0] + H * H * c[2][0]) * f, atol=1e-9)


def test_the_error_is_told():
    """Many excited fast modes: the space is too small, and the change of the last vectors is of the error's size."""
    M, K, _, v, loads = body(n=60, stiff=1e3)
    exact = dense(M, K, None, v, loads)
    root = np.sqrt(M.diagonal())
    size = lambda q, w: np.hypot(np.linalg.norm(root * q) / H, np.linalg.norm(root * w))
    for m in (9, 18, 36):
        found = motion(M, K, None, solver(M, K, None), v, loads, H, m=m, tolerance=1e-9)
        error = size(found.dq - exact[0], found.dv - exact[1]) / size(*exact)
        assert error < 10.0 * found.error


def test_nothing_moves_without_velocity_and_load():
    M, K, _, v, _ = body()
    found = motion(M, K, None, solver(M, K, None), 0 * v, [0 * v], H, m=10, tolerance=1e-9)
    assert not found.dq.any() and not found.dv.any() and found.solves == 0


@pytest.mark.parametrize("z", [-50.0, -1.001, -0.999, -1e-9, 0.0, 1e-12, 0.5, 0.999, 1.001, 10.0, 400.0])
def test_stumpff_functions_are_their_series(z):
    for j, c in enumerate(stumpff(np.array([z]), 5)):
        exact = float(sum(_term(z, i, j) for i in range(120)))
        assert np.isclose(c[0], exact, rtol=1e-12, atol=1e-14)


def _term(z, i, j):

    return (-Fraction(z)) ** i / factorial(2 * i + j)
