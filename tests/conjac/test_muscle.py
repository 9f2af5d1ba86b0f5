"""Flesh on bones: the coupled map, its system, and what it must leave alone."""

import numpy as np
import pytest

from pliant.bench.conjac.muscle import apart, imbalance, matrix
from pliant.errors import SceneError
from pliant.muscle import ConJacMuscle, FleshAndBones, Grown
from pliant.scenes.muscle import muscle
from pliant.simulate import simulate
from pliant.state import State


def moved(scene, seed=0):
    """A bent, shaken arm with its attachments in place."""
    arm = scene.arm
    rng = np.random.default_rng(seed)
    start = arm.initial()
    q, v = start.q.copy(), rng.normal(size=len(start.q))
    q[:2] = (0.3, 0.5)
    q[2:] += 1e-4 * rng.normal(size=len(q) - 2)
    x = arm.attachment(arm.bones.kinematics(q[:2], v[:2]))[0]
    q[2 + (2 * arm.attached[:, None] + np.arange(2)).ravel()] = x.ravel()
    return State(q, v)


def test_attachment_jacobian_is_the_derivative_of_the_positions():
    scene = muscle()
    arm, state = scene.arm, moved(scene)
    q = state.q[:2]
    _, J = arm.attachment(arm.bones.kinematics(q, 0 * q))
    for k in range(2):
        e = 1e-6 * np.eye(2)[k]
        ahead, behind = (arm.attachment(arm.bones.kinematics(q + s * e, 0 * q))[0] for s in (1, -1))
        assert np.allclose(J[:, k], ((ahead - behind) / 2e-6).ravel(), atol=1e-9)


def test_columns_of_the_map_leave_no_force_on_the_followers():
    """[PT-J8] [K_qd K_qa K_qq] G = 0."""
    scene = muscle()
    arm, state = scene.arm, moved(scene)
    _, K, condensed = scene.integrator.condensed(arm, arm.at(0.3), state, 0.3, None)
    G = condensed.J
    assert G.shape == (len(state.q) - 2, 4)
    following = np.setdiff1d(np.arange(len(G)), condensed.leading.dynamic)
    assert abs((K @ G)[following]).max() < 1e-9 * abs(K).max() * abs(G).max()
    assert np.allclose(G[condensed.leading.dynamic], condensed.leading.basis, atol=1e-12)


def test_matrix_is_small_symmetric_and_positive():
    A = matrix(muscle())
    assert A.shape == (4, 4) and np.array_equal(A, A.T)
    assert np.linalg.eigvalsh(A).min() > 0


def test_attachments_stay_and_activation_bends_the_elbow():
    scene = muscle(duration=0.4)
    steps = list(simulate(scene))
    assert all(apart(scene.arm, s.state) < 1e-14 for s in steps)
    assert steps[-1].state.q[1] - steps[39].state.q[1] > np.radians(10)
    assert sum(s.report.counts.analyses for s in steps) == 1
    assert all(s.report.counts.solves == 5 for s in steps)  # two for the node, two joints, one correction


def test_rest_is_the_equilibrium_of_the_full_model():
    """Held activation, damped until it stands: free flesh and joints are in balance, whatever was condensed."""
    node = muscle().integrator.nodes
    scene = muscle(lambda t: 0.5, integrator=ConJacMuscle(node, beta=3.0), duration=4.0)
    last = list(simulate(scene))[-1]
    assert abs(last.state.v).max() < 1e-6
    assert imbalance(scene.arm, last.state) < 1e-6


def test_heavier_flesh_slows_the_bones():
    light, heavy = (
        list(simulate(muscle(lambda t: 1.0, density=rho, gravity=0.0, duration=0.005)))[-1].state.q[1]
        for rho in (1000.0, 10000.0)
    )
    assert 0 < heavy < 0.7 * light


def test_nothing_moves_without_weight_and_activation():
    scene = muscle(lambda t: 0.0, gravity=0.0, duration=0.05)
    last = list(simulate(scene))[-1]
    assert abs(last.state.q - scene.arm.initial().q).max() < 1e-12


def test_wrong_attachments_are_refused():
    arm = muscle().arm
    twice = (Grown(np.array([0, 1]), "upper arm"), Grown(np.array([1]), "forearm"))
    with pytest.raises(SceneError, match="two bones"):
        FleshAndBones(arm.bones, arm.flesh, twice, arm.material)
