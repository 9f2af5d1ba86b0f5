"""Cloth that starts inside a body is let out slowly, and may come as close as its gap from outside."""

import numpy as np

from pliant.cloth.prepare import FASTEST, RELIEF
from pliant.velocity_step import Relief


def test_depth_is_made_up_for_by_a_tenth_per_step_and_never_fast():
    h, depth = 0.01, np.geomspace(1e-6, 1.0, 30)
    out = Relief(h, h, RELIEF, FASTEST)(-depth)
    assert np.all(out > 0.0) and np.all(out <= 0.1)  # [m/s]
    shallow = depth < 0.1 * h / 0.1
    np.testing.assert_allclose(h * out[shallow], 0.1 * depth[shallow])


def test_from_outside_the_whole_gap_may_be_closed_in_a_step():
    np.testing.assert_allclose(Relief(0.01, 0.01, RELIEF)(np.array([1e-3, 0.2])), [-0.1, -20.0])
