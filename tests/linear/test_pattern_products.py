"""Products and pieces of sparse matrices in one pass, against SciPy's."""

import numpy as np
import scipy.sparse as sp
from lattice import lattice

from pliant.pattern import added, empty, product, pulled_back, stacked, summed, taken, times, transposed_times


def sample(shape, seed, density=0.1):
    A = sp.random(*shape, density=density, random_state=seed, format="csr")
    A.sort_indices()
    return A


def test_pulled_back_is_the_triple_product():
    """Many entries (the storage grows), few, and none."""
    for density in (0.5, 0.02, 0.0):
        J, A = sample((90, 60), 1), sample((90, 90), 2, density)
        found = pulled_back(J, A)
        assert found.has_sorted_indices and found.shape == (60, 60)
        assert np.allclose(found.toarray(), (J.T @ A @ J).toarray(), atol=1e-14)


def test_products_with_vectors():
    J, rng = sample((90, 60), 5), np.random.default_rng(5)
    x, f = rng.normal(size=60), rng.normal(size=90)
    assert np.allclose(times(J, x), J @ x, rtol=0, atol=1e-14)
    assert np.allclose(transposed_times(J, f), J.T @ f, rtol=0, atol=1e-14)


def test_products_of_matrices_and_rows_below_each_other():
    """Doubled entries of the first factor count twice; matrices without rows are left out."""
    A, B = sample((30, 90), 8), sample((90, 60), 9)
    twice = sp.csr_matrix((np.tile(A.data, 2), np.tile(A.indices, 2), [0, 2 * A.nnz]), shape=(1, 90))
    assert np.allclose(product(A, B).toarray(), (A @ B).toarray(), rtol=0, atol=1e-14)
    assert np.allclose(product(twice, B).toarray(), (twice @ B).toarray(), rtol=0, atol=1e-13)
    below = stacked([empty(0, 60), B, product(A, B)])
    assert below.has_canonical_format
    assert np.array_equal(below.toarray(), sp.vstack([B, product(A, B)]).toarray())
    assert stacked([empty(0, 60), B]) is B and stacked([empty(0, 60)]).shape == (0, 60)


def test_added_is_the_sum():
    """With rows that only one of them has, and to nothing."""
    A, B = sample((40, 40), 6), sample((40, 40), 7)
    B.data[B.indptr[10] : B.indptr[20]] = 0.0
    B.eliminate_zeros()
    for first in (A, empty(40, 40)):
        found = added(first, B, -0.5)
        assert found.has_canonical_format and np.array_equal(found.toarray(), (first - 0.5 * B).toarray())


def test_taken_is_a_piece():
    A, rows, columns = sample((50, 40), 3), np.array([7, 3, 3, 20]), np.array([0, 5, 6, 39])
    assert np.array_equal(taken(A, rows, columns).toarray(), A[rows][:, columns].toarray())
    assert np.array_equal(taken(A, None, columns).toarray(), A[:, columns].toarray())
    zeros = lattice((2, 2, 2))
    zeros.data[:] = 0.0
    assert taken(zeros, None, np.arange(zeros.shape[1])).nnz == zeros.nnz


def test_blocks_of_one_place_are_summed():
    """Short rows, a long one with many blocks of the same place, and rows without any."""
    rng = np.random.default_rng(4)
    for k in (0, 30, 3000):
        rows, columns = np.where(rng.random(k) < 0.5, 11, rng.integers(40, size=k)), rng.integers(40, size=k)
        blocks = rng.normal(size=(k, 3, 3))
        found = summed(rows, columns, blocks, 50)
        expected = np.zeros((50, 3, 50, 3))
        np.add.at(expected, (rows, slice(None), columns), blocks)
        assert found.shape == (150, 150) and found.nnz == 9 * len(np.unique(50 * rows + columns))
        assert np.allclose(found.toarray(), expected.reshape(150, 150), rtol=0, atol=1e-12)
        assert sp.csr_matrix((found.data, found.indices, found.indptr), shape=found.shape).has_canonical_format
