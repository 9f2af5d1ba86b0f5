"""Buffers of factors are used again only when nobody can see them any more."""

import numpy as np
from lattice import lattice

from pliant.linear import Cholesky, dchol


def test_living_factors_share_nothing_and_dead_ones_are_used_again():
    A = lattice()
    memory = Cholesky().factor(A).memory
    first = dchol(A, A, memory)
    kept = first.panels.copy()
    second = dchol(2.0 * A, A, memory)
    buffers = {p.ctypes.data for p in (first.panels, first.rates, second.panels, second.rates, memory.engine.L)}
    assert len(buffers) == 5
    assert np.array_equal(first.panels, kept)
    part = second.panels[:3]
    del second
    third = dchol(A, A, memory)
    assert {third.panels.ctypes.data, third.rates.ctypes.data} & buffers  # the rates of the second are free again,
    assert not np.shares_memory(third.panels, part) and not np.shares_memory(third.rates, part)  # its panels are not
