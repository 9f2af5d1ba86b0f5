"""Programmes with bounds: what counts as optimal."""

import numpy as np

from pliant.linear.box_matrix import box_matrix
from pliant.linear.box_qp import _suboptimality


def test_the_duality_gap_does_not_count_round_off():
    """Opposing friction impulses of 1e9 cancel to 0.3: what is left of the gradient is the rounding of their sum."""
    H, g, hi = np.ones((2, 2)), np.array([0.3, 0.3]), np.full(2, 1e12)
    best = np.array([1e9 + 0.3, -1e9])
    assert _suboptimality(box_matrix(H), g, -hi, hi, best) == 0.0
    worse = best + [0.01, 0.0]  # far more than rounding
    assert _suboptimality(box_matrix(H), g, -hi, hi, worse) > 1e-6
