"""Articulated motions as obstacles: surfaces that follow the bodies, and a hand that lifts a soft block."""

import numpy as np
import pytest

from pliant.articulated import ArticulatedSystem, Link, at, cuboid, sphere
from pliant.articulated.joints import Revolute
from pliant.articulated.obstacles import moving_obstacles
from pliant.contact.obstacles import Sphere
from pliant.errors import SceneError
from pliant.integrators import LinearlyImplicit
from pliant.scenes.redmax import gripper
from pliant.simulate import simulate
from pliant.state import State

Y = np.array([0.0, 1.0, 0.0])


def test_surfaces_follow_the_bodies():
    ball = sphere(0.1, 1000.0, at(0, 0, -1.0))
    rod = cuboid((0.1, 0.1, 1.0), 1000.0, at(0, 0, -0.5))
    system = ArticulatedSystem([Link(Revolute(Y), rod), Link(Revolute(Y), ball, 0)])
    states = [State(np.array([0.5, 0.2]), np.zeros(2))]
    for _ in range(5):
        states.append(LinearlyImplicit().step(system, states[-1], 0.01).state)
    bar, round_one = moving_obstacles(system, states)
    assert isinstance(round_one, Sphere)
    for state in states:
        x = system.positions(state.q)
        assert np.allclose(bar.motion.positions(bar.surface()[0], state.t), x[:8], atol=1e-12)
        assert np.allclose(round_one.motion.positions(np.zeros((1, 3)), state.t), x[8:].mean(axis=0), atol=1e-12)


def test_states_must_be_those_of_one_run():
    system = ArticulatedSystem([Link(Revolute(Y), sphere(0.1, 1000.0, at(0, 0, -1.0)))])
    with pytest.raises(SceneError, match="2 states whose times do not increase"):
        moving_obstacles(system, [State(np.zeros(1), np.zeros(1))] * 2)


def test_a_hand_lifts_a_soft_block():
    last = list(simulate(gripper(cells=3, h=1e-2)))[-1]
    x = last.state.q.reshape(-1, 3)
    assert x[:, 2].min() > 0.06  # of 0.08 m
    assert np.ptp(x[:, 0]) < 0.115 and last.report.penetration < 0.004
