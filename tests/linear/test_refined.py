"""A factor in single precision, refined: as exact as one in double where it converges, and one in double elsewhere."""

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.linear import Cholesky, RefinedCholesky


def conditioned(kappa: float, n: int = 40) -> sp.csr_matrix:
    """A matrix with eigenvalues from 1/kappa to 1."""
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))[0]
    A = (Q * np.geomspace(1.0 / kappa, 1.0, n)) @ Q.T
    return sp.csr_matrix(0.5 * (A + A.T))


def residual(A: sp.csr_matrix, x: np.ndarray, b: np.ndarray) -> float:
    return float((np.linalg.norm(A @ x - b, axis=0) / np.linalg.norm(b, axis=0)).max())


@pytest.mark.parametrize("columns", [(), (3,)])
@pytest.mark.parametrize("kappa", [1e2, 1e5, 1e10])
def test_solutions_are_those_of_double_precision(kappa, columns):
    A = conditioned(kappa)
    b = A @ np.random.default_rng(1).normal(size=(40, *columns))
    factor = RefinedCholesky().factor(A)
    assert residual(A, factor.solve(b), b) < 1e-10
    assert residual(A, Cholesky("single").factor(A).solve(b), b) > 1e-9 or kappa == 1e10  # which float32 cannot factor


def test_a_refinement_that_does_not_converge_is_given_up():
    """The factor of another matrix stands for one that has lost its digits."""
    A = conditioned(1e3)
    b = np.random.default_rng(1).normal(size=40)
    factor = RefinedCholesky().factor(A)
    factor.memory.engine.L *= 1.5
    assert residual(A, factor.solve(b), b) < 1e-10


def test_older_factors_stay_right():
    A, b = conditioned(1e4), np.random.default_rng(1).normal(size=40)
    first = RefinedCholesky().factor(A)
    x = first.solve(b)
    second = RefinedCholesky().factor(2.0 * A, first.memory)
    assert not second.analysed
    assert np.allclose(second.solve(b), 0.5 * x, rtol=1e-6)
    assert residual(A, first.solve(b), b) < 1e-10
