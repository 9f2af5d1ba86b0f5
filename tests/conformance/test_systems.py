"""Every system of deformable bodies: f = -dW/dq + ..., K = df/dq, D = df/dv, signs, books, boundary."""

import numpy as np
import pytest
from small_systems import SCENES, rough_state

from pliant.state import State
from pliant.testing import check_system


@pytest.mark.parametrize("name", SCENES)
def test_everything_belongs_together(name):
    """Green damping leaves its position derivative out of K; it vanishes with v."""
    system, q, v = rough_state(SCENES[name]())
    check_system(system, State(q, v, 0.0), moving="Green" not in name)


@pytest.mark.parametrize("name", SCENES)
def test_a_system_without_a_potential_has_forces(name):
    system, q, _ = rough_state(SCENES[name]())
    assert system.potential(q, 0.0) is not None or system.force_terms


@pytest.mark.parametrize("name", SCENES)
def test_patterns_are_shared_between_calls(name):
    system, q, v = rough_state(SCENES[name]())
    A, B = (system.restrict(system.tangent(x, v, 0.0, (1.0, 0.1, 0.01))) for x in (q, 1.1 * q))
    assert A.indptr is B.indptr and A.indices is B.indices


def test_prescribed_coordinates_are_exact():
    scene = SCENES["beam shaken"]()
    system, q, _ = rough_state(scene)
    held = np.setdiff1d(np.arange(len(q)), system.free)
    X = system.X.ravel()
    moved = system.prescribe(q, 0.05)
    expected = X.reshape(-1, 3) + [0, 0.01 * np.sin(2 * np.pi * 3 * 0.05), 0]
    assert np.array_equal(moved[held], expected.ravel()[held])
    assert np.array_equal(moved[system.free], q[system.free])
