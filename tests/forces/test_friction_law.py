"""The law of friction by itself: the force is the derivative of its potential, and its slope that of the force."""

import numpy as np

from pliant.forces.friction import SmoothStick


def test_force_and_slope_are_derivatives():
    law, limit, eps = SmoothStick(0.02), 3.0, 1e-7
    s = np.array([1e-3, 7e-3, 0.015, 0.0199, 0.03, 0.5])  # sticking, nearly sliding, sliding [m/s]
    of = lambda s: law(np.full(len(s), limit), s, np.arange(len(s)))
    rate, slope, _ = of(s)
    force = lambda s: of(s)[0] * s
    np.testing.assert_allclose((of(s + eps)[2] - of(s - eps)[2]) / (2 * eps), rate * s, rtol=1e-6)
    np.testing.assert_allclose((force(s + eps) - force(s - eps)) / (2 * eps), slope, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(force(s)[-2:], limit)  # full friction where it slides
    y = s[:4] / 0.02
    np.testing.assert_allclose(force(s)[:4], limit * (2 * y - y * y))
