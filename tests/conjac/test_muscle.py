"""Flesh on bones: an ordinary scene of a condensed planar body, two links and an activation."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.attachments import Attachment
from pliant.bench.conjac.muscle import apart, imbalance, matrix
from pliant.errors import SceneError
from pliant.integrators import BDF2
from pliant.scenes.muscle import muscle
from pliant.simulate import simulate
from pliant.state import State
from pliant.velocity_step import Linearisation


def test_columns_of_the_map_leave_no_force_on_the_followers():
    """[PT-J8] [K_qd K_qa K_qq] J = 0, and the leading vertices move with u itself."""
    scene = muscle()
    flesh = scene.system().parts[0]
    rng = np.random.default_rng(0)
    state = State(flesh.rest + 1e-4 * rng.normal(size=flesh.X.size), rng.normal(size=flesh.X.size), 0.3)
    block = flesh.prepare(state, 5e-3, None, Linearisation(0.5)).block
    J = block.J.toarray().reshape(-1, 3, block.J.shape[1])[:, :2].reshape(flesh.X.size, -1)
    assert J.shape[1] == 2 * (1 + 14) and np.array_equal(block.x[:, :2].ravel(), state.q)
    K = flesh.stiffness(state.q, state.v, 0.305, psd=True)
    leading = (
        2 * np.unique(np.concatenate([flesh.reduction.nodes, flesh.reduction.attached]))[:, None] + [0, 1]
    ).ravel()
    following = np.setdiff1d(np.arange(len(J)), leading)
    assert abs((K @ J)[following]).max() < 1e-9 * abs(K).max() * abs(J).max()
    assert np.allclose(J[leading], np.eye(len(leading)), atol=1e-12)


def test_matrix_on_the_bones_is_small_and_positive():
    A = matrix(muscle())
    assert A.shape == (4, 4)
    assert np.linalg.eigvalsh(A).min() > 0


def test_attachments_stay_and_activation_bends_the_elbow():
    scene = muscle(duration=0.4)
    system = scene.system()
    steps = list(simulate(scene))
    assert all(apart(system, s.state) < 1e-14 for s in steps)
    assert steps[-1].state.q[-1] - steps[39].state.q[-1] > np.radians(10)


def test_what_activation_puts_in_is_booked():
    """The tension has no potential in the books; its work lifts the arm, strains the flesh, and some of it is lost."""
    rows = [s.ledger for s in simulate(muscle(duration=0.45))]
    assert all(row.work["activation"] == 0.0 for row in rows[:39])  # 0.2 s without activation
    put_in = sum(row.work["activation"] for row in rows)
    assert 0.0 < rows[-1].total - rows[39].total < put_in


def test_rest_is_the_equilibrium_of_the_full_model():
    """Held activation, damped until it stands: free flesh and joints are in balance, whatever was condensed."""
    scene = muscle(lambda t: 0.5, beta=3.0, duration=4.0)
    last = list(simulate(scene))[-1]
    assert abs(last.state.v).max() < 1e-6
    assert imbalance(scene.system(), last.state) < 1e-6


def test_heavier_flesh_slows_the_bones():
    light, heavy = (
        list(simulate(muscle(lambda t: 1.0, density=rho, gravity=0.0, duration=0.005)))[-1].state.q[-1]
        for rho in (1000.0, 10000.0)
    )
    assert 0 < heavy < 0.7 * light


def test_nothing_moves_without_weight_and_activation():
    scene = muscle(lambda t: 0.0, gravity=0.0, duration=0.05)
    last = list(simulate(scene))[-1]
    assert abs(last.state.q - scene.system().rest).max() < 1e-12


def test_wrong_attachments_are_refused():
    scene = muscle()
    twice = [*scene.attachments, Attachment("flesh", scene.attachments[0].vertices[:1], "arm", "forearm")]
    with pytest.raises(SceneError, match="two attachments"):
        replace(scene, attachments=twice).system()


def test_a_stage_does_not_take_a_condensed_body_for_a_full_one():
    with pytest.raises(SceneError, match="reduction of 'flesh'.*LinearlyImplicit"):
        replace(muscle(), integrator=BDF2())


def test_planar_flesh_is_tied_in_the_plane_for_stages_too():
    """Two rows for each vertex, none for z, which nobody can move; BDF2 meets them at its new positions."""
    scene = muscle(lambda t: 10.0 * t, duration=0.03)
    full = replace(scene, bodies=[replace(scene.bodies[0], reduction=None), scene.bodies[1]], integrator=BDF2())
    system = full.system()
    start = full.initial(system)
    G = system.closures(start.q, start.v, 0.0).G
    assert G.shape[0] == 2 * 14 and np.linalg.matrix_rank(G.toarray()) == 2 * 14
    steps = list(simulate(full))
    assert all(s.report.verdict != "failed" and apart(system, s.state) < 1e-9 for s in steps)
    assert steps[-1].state.q[-1] > np.radians(1)
