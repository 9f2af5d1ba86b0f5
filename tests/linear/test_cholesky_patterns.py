"""A matrix whose pattern lost one of a pair of entries is still factored right."""

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.linear.cholesky import Cholesky


@pytest.mark.parametrize("backend", ["supernodal", "superlu"])
def test_unsymmetric_pattern_of_a_symmetric_matrix(backend):
    rng = np.random.default_rng(3)
    B = sp.random(40, 40, 0.08, random_state=rng, format="csr")
    A = sp.csr_matrix(B @ B.T + 10 * sp.identity(40))
    A.sort_indices()
    row = next(i for i in range(40) if A.indptr[i + 1] - A.indptr[i] > 3)
    place = next(p for p in range(A.indptr[row], A.indptr[row + 1]) if A.indices[p] != row)
    column = A.indices[place]
    A[row, column] = 0.0
    A[column, row] = 1e-300  # what round-off leaves of the other one
    A.eliminate_zeros()
    b = rng.normal(size=40)
    x = Cholesky(backend).factor(A).solve(b)
    assert np.allclose(A.toarray() @ x, b, atol=1e-12)
