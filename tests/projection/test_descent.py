"""Descent toolbox: strong Wolfe steps, BFGS algebra, the iteration counts of textbooks, the root of Newton."""

import numpy as np
import pytest
from projection_stages import beam, guess_of, net, stage_of

from pliant.clock import Clock
from pliant.solvers.base import Tolerance
from pliant.solvers.descent import BFGS, LBFGS, DenseInverse, Function, LimitedInverse, SteepestDescent
from pliant.solvers.newton import Newton, start_trial
from pliant.solvers.wolfe import StrongWolfe


def rosenbrock():
    def value(x):
        return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2

    def gradient(x):
        e = x[1] - x[0] ** 2
        return np.array([-2 * (1 - x[0]) - 400 * x[0] * e, 200 * e])

    def hessian(x):
        return np.array([[2 - 400 * (x[1] - 3 * x[0] ** 2), -400 * x[0]], [-400 * x[0], 200.0]])

    return Function(2, value, gradient, hessian)


def quadratic(n=8, seed=1):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, n))
    A, b = B @ B.T + np.eye(n), rng.normal(size=n)
    return Function(n, lambda x: 0.5 * x @ A @ x - b @ x, lambda x: A @ x - b, lambda x: A), np.linalg.solve(A, b)


START = np.array([-1.2, 1.0])


@pytest.mark.parametrize("c2", [0.1, 0.9])
def test_accepted_steps_satisfy_both_conditions(c2):
    f, search = rosenbrock(), StrongWolfe(c2=c2)
    rng = np.random.default_rng(0)
    for _ in range(50):
        now = start_trial(f, rng.uniform(-2, 2, size=2), Clock())
        dz = -now.r * 10 ** rng.uniform(-4, 1)
        found = search.search(f, now, dz)
        slope = now.r @ dz
        assert found.merit <= now.merit + search.c1 * found.t * slope
        assert abs(found.r @ dz) <= c2 * abs(slope)
        assert (found.z - now.z) @ (found.r - now.r) > 0


def test_newton_step_on_a_quadratic_is_taken_whole_and_ascent_is_refused():
    f, x = quadratic()
    now = start_trial(f, np.zeros(8), Clock())
    assert StrongWolfe().search(f, now, x).t == 1.0
    assert StrongWolfe().search(f, now, now.r) is None


def test_a_value_that_is_not_finite_is_too_long():
    f = Function(1, lambda x: float(x[0] - np.log(x[0])) if x[0] > 0 else np.inf, lambda x: 1 - 1 / x)
    now = start_trial(f, np.array([3.0]), Clock())
    found = StrongWolfe().search(f, now, np.array([-40.0]))
    assert 0 < found.z[0] < 3 and found.merit < now.merit


def test_no_step_beyond_the_admissible_one():
    f = Function(1, lambda x: -float(x[0]), lambda x: -np.ones(1))
    f.limit = lambda z, dz: 3.5
    found = StrongWolfe().search(f, start_trial(f, np.zeros(1), Clock()), np.ones(1))
    assert found.t == 3.5


def test_rosenbrock_counts():
    """The ranking of the methods: steepest descent takes thousands of iterations, the others tens."""
    tight = Tolerance(0.0, 1e-8)
    f = rosenbrock()
    runs = {
        "steepest": SteepestDescent(tolerance=tight).solve(f, START),
        "bfgs": BFGS(tight).solve(f, START),
        "lbfgs": LBFGS(5, tight).solve(f, START),
        "newton": Newton(tolerance=tight, project="on_demand").solve(f, START),
    }
    for name, solution in runs.items():
        assert solution.report.converged, name
        assert np.allclose(solution.z, 1, atol=1e-6), name
    assert runs["steepest"].report.iterations > 1000
    assert runs["bfgs"].report.iterations < 60 and runs["lbfgs"].report.iterations < 60
    assert runs["newton"].report.iterations < 30


def test_bfgs_update_keeps_secant_symmetry_and_definiteness():
    rng = np.random.default_rng(2)
    n = 7
    B = rng.normal(size=(n, n))
    A = B @ B.T + np.eye(n)
    inverse = DenseInverse(np.ones(n))
    for _ in range(5):
        s = rng.normal(size=n)
        y = A @ s
        inverse.learn(s, y)
        assert np.allclose(inverse.H @ y, s, rtol=1e-12, atol=1e-12)
        assert abs(inverse.H - inverse.H.T).max() < 1e-13
        assert np.linalg.eigvalsh(inverse.H).min() > 0


def test_two_loops_equal_the_dense_update_from_the_same_start():
    rng = np.random.default_rng(3)
    n = 6
    s, y = rng.normal(size=(2, n))
    y *= np.sign(s @ y)
    dense, limited = DenseInverse(np.ones(n)), LimitedInverse(np.ones(n), 5)
    dense.learn(s, y)
    limited.learn(s, y)
    b = rng.normal(size=n)
    assert np.allclose(dense.apply(b), limited.apply(b), rtol=1e-12, atol=1e-13)


def test_bfgs_with_nearly_exact_search_ends_a_quadratic_in_n_steps():
    f, x = quadratic()
    solution = BFGS(Tolerance(0.0, 1e-7), StrongWolfe(c1=1e-5, c2=1e-4)).solve(f, np.zeros(8))
    assert solution.report.iterations <= 9
    assert np.allclose(solution.z, x, atol=1e-6)


@pytest.mark.parametrize("solver", [SteepestDescent, BFGS, LBFGS])
@pytest.mark.parametrize("build", [beam, net])
def test_implicit_euler_is_the_minimiser(solver, build):
    """Variational implicit Euler: descent on the incremental potential ends at the root of Newton."""
    stage = stage_of(build(), c=0.01)
    guess = guess_of(stage)
    exact = Newton(tolerance=Tolerance(1e-13, 1e-16), project="on_demand").solve(stage, guess).z
    solution = solver(tolerance=Tolerance(1e-9, 1e-13)).solve(stage, guess)
    assert solution.report.converged
    assert abs(solution.z - exact).max() < 1e-8 * stage.system.scale
    assert stage.merit(solution.z) <= stage.merit(guess)
