"""Every joint: Q is a rigid frame, S is its body velocity, the rate of S is the derivative of S."""

import numpy as np
import pytest

from pliant.articulated.joints import Revolute, examples
from pliant.articulated.joints.stacking import batches
from pliant.articulated.se3 import exp6, log6, reparameterise
from pliant.errors import SceneError

name = lambda joint: type(joint).__name__


def sample(joint, seed=3, scale=1.0):
    rng = np.random.default_rng(seed)
    return rng.uniform(0.1, 0.9, joint.dof) * scale, rng.normal(size=joint.dof)


def body_velocity(E, dE):
    """(omega, nu) from E^-1 dE, taken entry by entry (independent of the library's own formulas)."""
    X = np.linalg.inv(E) @ dE
    return np.array([X[2, 1], X[0, 2], X[1, 0], *X[:3, 3]])


@pytest.mark.parametrize("joint", examples(), ids=name)
def test_frame_is_rigid(joint):
    q, _ = sample(joint)
    E = joint.transform(q)
    assert np.allclose(E[:3, :3].T @ E[:3, :3], np.eye(3), atol=1e-13)
    assert np.linalg.det(E[:3, :3]) > 0 and np.allclose(E[3], [0, 0, 0, 1])


@pytest.mark.parametrize("scale", [1.0, 1e-3, 3.0])
@pytest.mark.parametrize("joint", examples(), ids=name)
def test_subspace_is_the_derivative_of_the_frame(joint, scale):
    if scale == 3.0 and not joint.exponential:
        scale = 0.3
    q, v = sample(joint, scale=scale)
    S, Sdot, e = joint.subspace(q), joint.subspace_rate(q, v), 1e-6
    assert S.shape == Sdot.shape == (6, joint.dof)
    for i in range(joint.dof):
        d = np.eye(joint.dof)[i] * e
        column = body_velocity(joint.transform(q), (joint.transform(q + d) - joint.transform(q - d)) / (2 * e))
        assert np.allclose(S[:, i], column, atol=1e-8)
    assert np.allclose(Sdot, (joint.subspace(q + e * v) - joint.subspace(q - e * v)) / (2 * e), atol=1e-7)


@pytest.mark.parametrize("joint", examples(), ids=name)
def test_complex_steps_differentiate(joint):
    q, v = sample(joint)
    rate = joint.subspace(q + 1e-30j * v).imag / 1e-30
    assert np.allclose(rate, joint.subspace_rate(q, v), atol=1e-12)


def test_a_batch_equals_its_members():
    joints = [j for j in examples() for _ in range(3)]
    for batch, members in batches(joints):
        qs = np.stack([sample(joints[i], seed=i)[0] for i in members])
        vs = np.stack([sample(joints[i], seed=i)[1] for i in members])
        E, S, Sdot = batch.transform(qs), batch.subspace(qs), batch.subspace_rate(qs, vs)
        for k, i in enumerate(members):
            assert np.allclose(E[k], joints[i].transform(qs[k]), atol=1e-15)
            assert np.allclose(S[k], joints[i].subspace(qs[k]), atol=1e-15)
            assert np.allclose(Sdot[k], joints[i].subspace_rate(qs[k], vs[k]), atol=1e-15)


@pytest.mark.parametrize("joint", [j for j in examples() if j.exponential], ids=name)
def test_reparameterisation_keeps_frame_and_velocity(joint):
    q, v = sample(joint)
    i = joint.exponential[0]
    q[i : i + 3] = [3.0, 3.0, 3.0]
    q1, v1 = q.copy(), v.copy()
    q1[i : i + 3], v1[i : i + 3] = reparameterise(q[i : i + 3], v[i : i + 3])
    assert np.linalg.norm(q1[i : i + 3]) < np.pi
    assert np.allclose(joint.transform(q), joint.transform(q1), atol=1e-12)
    assert np.allclose(joint.subspace(q) @ v, joint.subspace(q1) @ v1, atol=1e-12)


@pytest.mark.parametrize("angle", [1e-7, 0.3, 2.0, 3.1])
def test_the_logarithm_of_a_frame_is_its_twist(angle):
    rng = np.random.default_rng(5)
    axis = rng.normal(size=3)
    twist = np.array([*(angle * axis / np.linalg.norm(axis)), *rng.normal(size=3)])
    assert np.allclose(log6(exp6(twist)), twist, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("axis", ["1 kg", {}, None, [1.0, [2.0, 3.0]], 1j])
def test_an_axis_that_is_no_array_of_numbers_is_refused_in_one_line(axis):
    with pytest.raises(SceneError, match="three numbers"):
        Revolute(axis)
