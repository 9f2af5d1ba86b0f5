"""QLB keeps at most 2 m N doubles more than Newton: its secant pairs."""

import numpy as np

from pliant.solvers.qlb import Pairs


def test_pairs_hold_two_m_vectors():
    m, N = 10, 1000
    rng = np.random.default_rng(0)
    pairs = Pairs(m)
    for _ in range(50):
        s = rng.normal(size=N)
        pairs.update(s, s + 0.1 * rng.normal(size=N))
    assert len(pairs) == m
    assert sum(s.nbytes + y.nbytes for s, y, _ in pairs._pairs) == 2 * m * N * 8
