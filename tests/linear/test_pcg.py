"""Conjugate gradients: exact in N steps, one step with an exact preconditioner, honest about the residual."""

import numpy as np
import pytest
import scipy.sparse as sp
from lattice import lattice

from pliant.errors import NotPositiveDefinite, PliantError
from pliant.kernels import blocks
from pliant.linear import PCG, Cholesky, pcg
from pliant.linear.pcg import BlockJacobi


def test_exact_preconditioner_needs_one_iteration():
    A = lattice()
    b = np.random.default_rng(0).normal(size=A.shape[0])
    factor = PCG(1e-8, preconditioner=Cholesky().factor(A)).factor(A)
    x = factor.solve(b)
    assert factor.inner == 1 and np.abs(A @ x - b).max() < 1e-8
    factor.solve(np.stack([b, 2 * b], axis=1))
    assert factor.inner == 3


def test_as_many_iterations_as_distinct_eigenvalues():
    values = np.repeat([1.0, 2.0, 5.0, 9.0], 6)
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(24, 24)))
    A = Q @ np.diag(values) @ Q.T
    b = np.random.default_rng(1).normal(size=24)
    result = pcg(A, b, lambda r: r, tolerance=1e-10)
    assert result.iterations == 4 and np.abs(A @ result.x - b).max() < 1e-9


def test_residual_is_the_true_one_also_when_stopped_early():
    A = lattice()
    b = np.random.default_rng(0).normal(size=A.shape[0])
    for most in (3, 400):
        x, iterations, residual = pcg(A, b, BlockJacobi(A).solve, tolerance=1e-6, max_iterations=most)
        assert iterations <= most
        assert residual == pytest.approx(np.linalg.norm(b - A @ x) / np.linalg.norm(b), rel=1e-6)
    assert residual <= 1e-6


def test_a_good_guess_saves_iterations():
    A = lattice()
    b = np.random.default_rng(0).normal(size=A.shape[0])
    exact = Cholesky().factor(A).solve(b)
    assert pcg(A, b, BlockJacobi(A).solve, guess=exact).iterations == 0


def test_block_jacobi_inverts_the_blocks_and_a_short_last_one():
    A = lattice((1, 1, 1))[:22][:, :22]
    b = np.random.default_rng(0).normal(size=22)
    x = BlockJacobi(A, 3).solve(b)
    for i in range(0, 22, 3):
        rows = slice(i, min(i + 3, 22))
        assert np.allclose(x[rows], np.linalg.solve(A[rows, rows].toarray(), b[rows]))


def test_negative_curvature_still_descends():
    A = np.diag([1.0, -2.0, 3.0])
    b = np.array([1.0, 1.0, 1.0])
    result = pcg(A, b, lambda r: r, tolerance=1e-10)
    assert np.isfinite(result.x).all() and b @ result.x > 0.0


def test_refusals():
    A = lattice((1, 1, 1))
    A[4, 4] = -1.0
    with pytest.raises(NotPositiveDefinite, match="rows 3"):
        PCG().factor(A)
    with pytest.raises(PliantError, match="tolerance"):
        PCG(tolerance=2.0)
    with pytest.raises(PliantError, match="preconditioner"):
        PCG(preconditioner="ilu")
    assert np.array_equal(PCG().factor(lattice((1, 1, 1))).solve(np.zeros(24)), np.zeros(24))


def test_compiled_loop_is_the_general_one():
    A = lattice()
    assert blocks.aligned(A.indptr, A.indices)
    b = np.random.default_rng(3).normal(size=A.shape[0])
    nodal = PCG(1e-9).factor(A)
    x = nodal.solve(b)
    general = pcg(A, b, BlockJacobi(A).solve, tolerance=1e-9)
    assert nodal.inner == general.iterations
    assert nodal.residual == pytest.approx(np.linalg.norm(b - A @ x) / np.linalg.norm(b), rel=1e-5)
    assert np.abs(x - general.x).max() < 1e-12 * np.abs(x).max()


def test_compiled_loop_descends_on_negative_curvature():
    A = sp.csr_matrix(np.kron([[1.0, 3.0], [3.0, 1.0]], np.full((3, 3), 0.1) + np.eye(3)))  # definite blocks, A is not
    for b in (np.array([1.0, 0.0, 0.0, -1.0, 0.0, 0.0]), np.arange(6.0)):
        assert b @ PCG(1e-9).factor(A).solve(b) > 0.0


def test_rows_that_do_not_come_in_threes_take_the_general_way():
    A = lattice((1, 1, 1))
    assert not blocks.aligned(A[1:, 1:].tocsr().indptr, A[1:, 1:].tocsr().indices)
    B = A[:22][:, :22].tocsr()
    b = np.random.default_rng(5).normal(size=22)
    x = PCG(1e-10, 400).factor(B).solve(b)
    assert np.abs(B @ x - b).max() < 1e-8
