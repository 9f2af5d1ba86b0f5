"""Constraints: rows are derivatives of their errors, limits hold, contacts do not sink, motors report their torque."""

import numpy as np
import pytest
from articulated_samples import pendulum, zoo

from pliant.articulated import BISP, ArticulatedSystem, Friction, Link, at, cuboid, sphere
from pliant.articulated.constraints import (
    BallClosure,
    BoxContact,
    CoupledJoints,
    FloorContact,
    JointLimit,
    LoopClosure,
    PrescribedJoint,
)
from pliant.articulated.joints import Fixed, Free3D, Revolute
from pliant.articulated.quirks import Quirks
from pliant.errors import SceneError
from pliant.integrators import LinearlyImplicit
from pliant.scenes.redmax import NUMBERED, run
from pliant.state import State

X1, X2 = np.array([0.3, 0.1, -0.2]), np.array([-0.4, 0.5, 0.2])


@pytest.mark.parametrize("closure", [BallClosure(3, X1, 8, X2), BallClosure(5, X1, None, X2), CoupledJoints(1, 2, 0.7)])
def test_rows_differentiate_the_position_error(closure):
    system, q, v = zoo()
    bound = closure.bind(system.tree)
    g = lambda q: bound.rows(system.kinematics(q, v), 0.0, Quirks()).g
    kin, e = system.kinematics(q, v), 1e-6
    rows = bound.rows(kin, 0.0, Quirks())
    G = kin.project_rows(rows.G) if rows.maximal else rows.G
    assert np.allclose(G @ v, (g(q + e * v) - g(q - e * v)) / (2 * e), atol=1e-7)


def test_loop_closure_rows_keep_their_directions_during_a_step():
    system, q, v = zoo()
    bound = LoopClosure(3, X1, 8, X2, np.array([0.0, 1.0, 0.0])).bind(system.tree)
    kin, e = system.kinematics(q, v), 1e-6
    rows = bound.rows(kin, 0.0, Quirks())
    gap = lambda k: k.point(3, X1) - k.point(8, X2)
    rate = (gap(system.kinematics(q + e * v, v)) - gap(system.kinematics(q - e * v, v))) / (2 * e)
    axis = kin.frames[3][:3, 1]
    across = rate - (rate @ axis) * axis
    assert np.isclose(np.linalg.norm(rows.G @ kin.twists.ravel()), np.linalg.norm(across), rtol=1e-6)


def test_loops_stay_closed():
    for number in (4, 8, 15):
        scene = NUMBERED[number]()
        steps = run(scene)
        kin = scene.system().kinematics(steps[-1].state.q, steps[-1].state.v)
        assert max(np.abs(r.g).max() for r in scene.system().rows(kin, 0.0, inequality=False)) < 0.2  # of 10 cm bars


def test_joint_limits_hold():
    system = pendulum(2, constraints=[JointLimit(1, -0.5, 0.5)])
    state, h = State(np.array([0.0, 0.0]), np.array([0.0, 0.0])), 1e-2
    for _ in range(300):
        step = LinearlyImplicit().step(system, state, h)
        assert step.reports[0].converged
        state = step.state
        assert -0.5 - 0.15 < state.q[1] < 0.5 + 0.15  # one step at the largest rate
    assert np.abs(state.v).max() < 20


def test_a_motor_reports_the_torque_that_inverse_dynamics_asks_for():
    rate = lambda t: 2.0
    system = pendulum(1, constraints=[PrescribedJoint(0, rate)])
    state, h, memory = State(np.array([0.3]), np.array([2.0])), 1e-3, None
    for _ in range(50):
        before = state
        step = LinearlyImplicit().step(system, state, h, memory)
        state, memory = step.state, step.memory
    assert np.isclose(state.v[0], 2.0)
    needed = system.inverse_dynamics(before.q, before.v, np.zeros(1), before.t)
    assert np.isclose(memory.part.force(0)[0], needed[0], rtol=1e-6)


@pytest.mark.parametrize("maximal", [False, True])
def test_prescribed_motion_follows_its_script(maximal):
    drive = PrescribedJoint(1, lambda t: np.cos(t), lambda t: np.sin(t), maximal=maximal)
    system = pendulum(2, constraints=[drive], baumgarte=50.0)
    state = State(np.zeros(2), np.array([0.0, 1.0]))
    for _ in range(200):
        state = LinearlyImplicit().step(system, state, 5e-3).state
    assert abs(state.q[1] - np.sin(state.t)) < 5e-3  # lags by a part of a step


def ball(contact, height, velocity=(0, 0, 0)):
    system = ArticulatedSystem([Link(Free3D(), sphere(0.1, 1000.0))], constraints=[contact], baumgarte=20.0)
    return system, State(np.array([0, 0, height, 0, 0, 0.0]), np.array([*velocity, 0, 0, 0.0]))


@pytest.mark.parametrize("contact", [FloorContact(0), BoxContact(0, np.array([4.0, 4.0, 1.0]), at(0, 0, -0.5))])
def test_a_ball_rests_on_what_it_falls_on(contact):
    system, state = ball(contact, 0.15)
    for _ in range(400):
        state = LinearlyImplicit().step(system, state, 5e-3).state
    assert abs(state.q[2] - 0.1) < 1e-3 and abs(state.v[2]) < 1e-2  # penetration below a hundredth of the radius


def test_a_sliding_ball_ends_up_rolling():
    """Coulomb: the final speed of a solid ball is 5/7 of the initial one, for any coefficient."""
    system, state = ball(FloorContact(0), 0.1 - 1e-6, (1.0, 0, 0))
    method, memory = BISP(Friction(external=0.3)), None
    for _ in range(600):
        step = method.step(system, state, 1e-3, memory)
        state, memory = step.state, step.memory
    assert np.isclose(state.v[0], 5.0 / 7.0, rtol=1e-2)
    assert np.isclose(system.kinematics(state.q, state.v).twists[0, 1], state.v[0] / 0.1, rtol=1e-2)


def test_a_box_stands_on_its_corners():
    box = cuboid((1.0, 1.0, 0.5), 100.0)
    system = ArticulatedSystem([Link(Free3D(), box)], constraints=[FloorContact(0, box.points, 0.0)], baumgarte=20.0)
    state = State(np.array([0, 0, 0.3, 0.05, 0, 0.0]), np.zeros(6))
    memory = None
    for _ in range(300):
        step = BISP().step(system, state, 5e-3, memory)
        state, memory = step.state, step.memory
    assert abs(state.q[2] - 0.25) < 5e-3 and np.abs(state.q[3:]).max() < 1e-2


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (JointLimit(0, 1.0, -1.0), "lower limit 1.0 above upper limit -1.0"),
        (PrescribedJoint("nobody", lambda t: 0.0), "unknown link 'nobody'"),
        (JointLimit(0, -1.0, 1.0, coordinate=1), "JointLimit on 0: coordinate 1, but the joint has 1 coordinates"),
        (JointLimit(None, -1.0, 1.0), "JointLimit on None: the world is on no joint"),
        (CoupledJoints(None, 0), "CoupledJoints of None and 0: the world is on no joint"),
        (PrescribedJoint(0, "fast"), "PrescribedJoint on 0, rate: 'fast' is not"),
        (FloorContact(0), "neither points nor a radius"),
        (BoxContact(0, np.ones(3), np.eye(4)), "radius"),
    ],
)
def test_bad_constraints_are_named(constraint, words):
    with pytest.raises(SceneError, match=words):
        pendulum(2, constraints=[constraint])


def test_what_is_asked_of_a_fixed_joint_does_not_act_on_the_next_one():
    links = [
        Link(Fixed(), cuboid((1, 1, 1), 1.0), name="base"),
        Link(Revolute((0, 1, 0)), cuboid((1, 1, 1), 1.0), "base"),
    ]
    for constraint in (JointLimit("base", -0.1, 0.1), CoupledJoints("base", 1), PrescribedJoint("base", 1.0)):
        with pytest.raises(SceneError, match="'base'.* joint (that )?has 0"):
            ArticulatedSystem(links, constraints=[constraint])


def test_a_motor_may_be_given_by_numbers():
    by_number, by_function = (
        pendulum(1, constraints=[PrescribedJoint(0, rate, position)])
        for rate, position in ((0.5, 0.2), (lambda t: 0.5, lambda t: 0.2))
    )
    state = State(np.array([0.2]), np.zeros(1))
    moved = [LinearlyImplicit().step(system, state, 5e-3).state for system in (by_number, by_function)]
    assert np.array_equal(moved[0].q, moved[1].q) and moved[0].v[0] == pytest.approx(0.5)
