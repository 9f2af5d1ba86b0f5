"""Programmes with bounds: what counts as optimal, factors of narrow and of wide matrices."""

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.errors import NotPositiveDefinite
from pliant.linear.box_matrix import Envelope, SparseBox, box_matrix
from pliant.linear.box_qp import _suboptimality


def test_the_duality_gap_does_not_count_round_off():
    """Opposing friction impulses of 1e9 cancel to 0.3: what is left of the gradient is the rounding of their sum."""
    H, g, hi = np.ones((2, 2)), np.array([0.3, 0.3]), np.full(2, 1e12)
    best = np.array([1e9 + 0.3, -1e9])
    assert _suboptimality(box_matrix(H), g, -hi, hi, best) == 0.0
    worse = best + [0.01, 0.0]  # far more than rounding
    assert _suboptimality(box_matrix(H), g, -hi, hi, worse) > 1e-6


def band(rng, n, width):
    """A shuffled positive definite band, and all of it as an array."""
    B = np.tril(np.triu(rng.normal(size=(n, n)), -width))
    shuffled = rng.permutation(n)
    H = (B @ B.T + 1e-3 * np.eye(n))[np.ix_(shuffled, shuffled)]
    return sp.csr_matrix(H), H


@pytest.mark.parametrize(("n", "width", "narrow"), [(300, 7, True), (250, 249, False)])
def test_narrow_and_wide_programmes_are_solved_on_their_free_variables(n, width, narrow):
    rng = np.random.default_rng(3)
    sparse, H = band(rng, n, width)
    box, add, b = SparseBox(sparse), rng.random(n), rng.normal(size=n)
    for free in (np.ones(n, dtype=bool), rng.random(n) > 0.3):
        expected = np.zeros(n)
        expected[free] = np.linalg.solve((H + np.diag(add))[np.ix_(free, free)], b[free])
        assert np.allclose(box.factor(free, add)(b), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert isinstance(box.analysis, Envelope) == narrow
    assert SparseBox(sparse, box.analysis).analysis is box.analysis
    with pytest.raises(NotPositiveDefinite):
        box.factor(np.ones(n, dtype=bool), -add - 10.0 * box.diagonal.max())
