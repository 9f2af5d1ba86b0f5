"""SIERE that chooses its number of modes: those that a step can show."""

import numpy as np
import pytest
import scipy.linalg

from pliant.bench.time.cases import swinging_bar
from pliant.integrators import SIERE
from pliant.integrators.siere import modes_within


@pytest.mark.parametrize("h", [0.02, 0.05])
def test_modes_are_those_that_turn_by_less_than_half_a_circle(h):
    scene = swinging_bar()
    system = scene.system()
    state = scene.initial(system)
    K = -system.restrict(system.stiffness(state.q, state.v, 0.0)).toarray()
    M = system.restrict(system.mass(state.q)).toarray()
    count = int((np.sqrt(scipy.linalg.eigvalsh(K, M)) * h < np.pi).sum())
    assert 1 < count < 30 and modes_within(system, state, h) == count
    first = SIERE(s=None).step(system, state, h)
    assert first.memory.captured == count
    given = SIERE(s=count).step(system, state, h)
    assert np.array_equal(first.state.q, given.state.q)
    again = SIERE(s=None).step(system, first.state, h, first.memory)
    assert np.array_equal(again.state.q, SIERE(s=count).step(system, given.state, h, given.memory).state.q)
