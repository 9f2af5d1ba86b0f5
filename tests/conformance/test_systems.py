"""Every system: f = -dW/dq + ..., K = df/dq, D = df/dv, signs, books, boundary."""

import numpy as np
import pytest
from small_systems import SCENES, rough_state


def central(function, x, eps):
    columns = []
    for k in range(len(x)):
        e = np.zeros_like(x)
        e[k] = eps
        columns.append((function(x + e) - function(x - e)) / (2 * eps))
    return np.array(columns).T


def relative(A, B):
    return abs(A - B).max() / max(abs(B).max(), 1e-12)


@pytest.mark.parametrize("name", SCENES)
def test_stiffness_is_the_derivative_of_the_force(name):
    system, q, v = rough_state(SCENES[name]())
    v0 = np.zeros_like(v)  # Green damping leaves its position derivative out of K, and it vanishes with v
    K = system.stiffness(q, v0, 0.0).toarray()
    assert relative(K, central(lambda x: system.force(x, v0, 0.0), q, 1e-6)) < 1e-7


@pytest.mark.parametrize("name", SCENES)
def test_damping_is_the_derivative_of_the_force(name):
    system, q, v = rough_state(SCENES[name]())
    D = system.damping(q, v, 0.0).toarray()
    assert relative(D, central(lambda u: system.force(q, u, 0.0), v, 1e-4)) < 1e-7
    assert np.linalg.eigvalsh(0.5 * (D + D.T)).max() <= 1e-10 * max(abs(D).max(), 1.0)


@pytest.mark.parametrize("name", SCENES)
def test_force_is_minus_the_gradient_of_the_potential(name):
    system, q, v = rough_state(SCENES[name]())
    if system.potential(q, 0.0) is None:
        assert system.force_terms
        return
    g = central(lambda x: np.array([system.potential(x, 0.0)]), q, 1e-6)[0]
    assert relative(-system.force(q, v, 0.0), g) < 1e-6


@pytest.mark.parametrize("name", SCENES)
def test_tangent_is_the_weighted_sum(name):
    system, q, v = rough_state(SCENES[name]())
    M, D = system.mass(q), system.damping(q, v, 0.0)
    for psd in (False, True):
        K = system.stiffness(q, v, 0.0, psd=psd)
        A = system.tangent(q, v, 0.0, (1.0, 0.1, 0.01), psd=psd).toarray()
        assert relative(A, (M - 0.1 * D - 0.01 * K).toarray()) < 1e-14
    A = system.restrict(system.tangent(q, v, 0.0, (1.0, 0.1, 0.01)))
    full = system.tangent(q, v, 0.0, (1.0, 0.1, 0.01)).toarray()
    assert np.array_equal(A.toarray(), full[np.ix_(system.free, system.free)])
    assert np.linalg.eigvalsh(A.toarray()).min() > 0.0


@pytest.mark.parametrize("name", SCENES)
def test_patterns_are_shared_between_calls(name):
    system, q, v = rough_state(SCENES[name]())
    A, B = (system.restrict(system.tangent(x, v, 0.0, (1.0, 0.1, 0.01))) for x in (q, 1.1 * q))
    assert A.indptr is B.indptr and A.indices is B.indices


@pytest.mark.parametrize("name", SCENES)
def test_acceleration_solves_with_the_mass(name):
    system, q, v = rough_state(SCENES[name]())
    a = system.acceleration(q, v, 0.0)
    held = np.setdiff1d(np.arange(len(q)), system.free)
    assert not a[held].any()
    f = system.force(q, v, 0.0)[system.free]
    M = system.mass(q)[system.free][:, system.free]
    assert relative(M @ a[system.free], f) < 1e-12


def test_prescribed_coordinates_are_exact():
    scene = SCENES["beam shaken"]()
    system, q, _ = rough_state(scene)
    held = np.setdiff1d(np.arange(len(q)), system.free)
    X = system.X.ravel()
    moved = system.prescribe(q, 0.05)
    expected = X.reshape(-1, 3) + [0, 0.01 * np.sin(2 * np.pi * 3 * 0.05), 0]
    assert np.array_equal(moved[held], expected.ravel()[held])
    assert np.array_equal(moved[system.free], q[system.free])
