"""Forces: the wrench is minus the slope of the potential, K and D are its derivatives, forms agree."""

import numpy as np
import pytest
from articulated_samples import pendulum, zoo

from pliant.articulated import RK45, Articulated, ArticulatedSystem, Link, at, cuboid
from pliant.articulated.constraints import CoupledJoints
from pliant.articulated.forces import (
    BodyDamping,
    Cable,
    Explicit,
    JointSpring,
    JointStop,
    JointTorque,
    PointSprings,
    Reduced,
    Servo,
    SpringDamper,
    WorldForce,
)
from pliant.articulated.joints import Spherical
from pliant.articulated.se3 import exp3, exp3_jacobian, frame, log6
from pliant.errors import SceneError
from pliant.integrators import LinearlyImplicit
from pliant.state import State

A, B, C = np.array([0.3, 0.1, -0.2]), np.array([-0.4, 0.5, 0.2]), np.array([0.1, 0.0, 0.4])
CONSERVATIVE = [
    PointSprings((2, 5), np.stack([A, B]), (7, None), np.stack([B, C]), np.array([3.0, 7.0])),
    SpringDamper((1, A), (6, B), 5.0, rest=0.7),
    Cable(((2, A), (5, B), (8, C)), 4.0, rest=0.5),
    Cable(((2, A), (5, B)), 4.0, rest=0.9, activation=lambda t: 0.3),
    JointSpring(5, 2.0, rest=0.1),
    JointSpring(9, 2.0, maximal=True),
    JointSpring(6, 2.0, rest=np.array([0.4, -0.9, 0.3])),
    JointSpring(8, 2.0, rest=0.2),
    JointSpring(11, 2.0, rest=0.2, maximal=True),
    Explicit(JointSpring(5, 2.0)),
    Reduced(PointSprings((2,), A, (7,), B, 3.0)),
]
ids = lambda f: type(f).__name__


def ball(turned=None, **options):
    """A bar of one metre that hangs on a ball joint."""
    link = Link(Spherical(), cuboid((0.1, 0.1, 1.0), 100.0, at(0, 0, -0.5)), None, frame(turned))
    return ArticulatedSystem([link], **options)


@pytest.mark.parametrize("force", CONSERVATIVE, ids=ids)
def test_force_is_the_slope_of_the_potential(force):
    system, q, _ = zoo(forces=[force], gravity=(0, 0, 0))
    zero, e = np.zeros_like(q), 1e-6
    V = lambda q: system.energies(q, zero, 0.0)["elastic"]
    slope = np.array([(V(q + e * d) - V(q - e * d)) / (2 * e) for d in np.eye(len(q))])
    assert np.abs(slope).max() > 0.1
    assert np.allclose(system.force(q, zero, 0.0), -slope, atol=1e-6 * np.abs(slope).max() + 1e-7)


def test_point_spring_stiffness_is_the_derivative_of_the_wrenches():
    """K of the maximal coordinates: perturb the frames directly; the symmetrised part must agree."""
    spring = PointSprings((0,), A, (1,), B, 3.0)
    system = pendulum(2, forces=[spring], gravity=(0, 0, 0))
    q = np.array([0.4, 0.9])
    kin = system.kinematics(q, np.zeros(2))
    K = system.assemble(kin, 0.0).loads.K.total().dense()
    from dataclasses import replace

    from pliant.articulated.se3 import exp6

    numeric, e = np.zeros((12, 12)), 1e-6
    for i in range(12):
        out = []
        for s in (e, -e):
            d = np.zeros((2, 6))
            d.flat[i] = s
            out.append(system.assemble(replace(kin, frames=kin.frames @ exp6(d)), 0.0).f.ravel())
        numeric[:, i] = (out[0] - out[1]) / (2 * e)
    assert np.allclose(K, K.T)
    assert np.allclose(K, 0.5 * (numeric + numeric.T), atol=1e-6)


def test_stiffness_and_damping_are_derivatives():
    forces = [CONSERVATIVE[0], SpringDamper((1, A), (6, B), 5.0, 2.0, 0.7), BodyDamping(0.5), JointSpring(5, 2.0, 3.0)]
    system, q, v = zoo(forces=forces)
    K, D, e = system.stiffness(q, v, 0.0).toarray(), system.damping(q, v, 0.0).toarray(), 1e-6
    for i, d in enumerate(np.eye(len(q))):
        assert np.allclose(
            K[:, i], (system.force(q + e * d, v, 0.0) - system.force(q - e * d, v, 0.0)) / (2 * e), atol=1e-4
        )
        assert np.allclose(
            D[:, i], (system.force(q, v + e * d, 0.0) - system.force(q, v - e * d, 0.0)) / (2 * e), atol=1e-4
        )


@pytest.mark.parametrize(
    "pair",
    [
        (JointSpring(1, 5.0, 2.0), JointSpring(1, 5.0, 2.0, maximal=True)),
        (JointTorque(1, lambda t: 3.0), JointTorque(1, lambda t: 3.0, maximal=True)),
        (SpringDamper((0, A), (1, B), 50.0, 4.0), Reduced(SpringDamper((0, A), (1, B), 50.0, 4.0))),
    ],
)
def test_reduced_and_maximal_forms_give_the_same_step(pair):
    q, v = np.array([0.3, 0.8]), np.array([1.0, -2.0])
    steps = [LinearlyImplicit().step(pendulum(2, forces=[f], q=q), State(q, v), 0.05).state.v for f in pair]
    assert np.allclose(*steps, atol=1e-10)


def test_implicit_and_explicit_forms_converge_to_each_other():
    q, v = np.array([0.3, 0.8]), np.array([1.0, -2.0])
    force = SpringDamper((0, A), (1, B), 50.0, 4.0)
    difference = []
    for h in (1e-3, 5e-4):
        u = [
            LinearlyImplicit().step(pendulum(2, forces=[f], q=q), State(q, v), h).state.v
            for f in (force, Explicit(force))
        ]
        difference.append(np.abs(u[0] - u[1]).max())
    assert difference[0] > 0 and 3.5 < difference[0] / difference[1] < 4.5


@pytest.mark.parametrize("rest", [np.zeros(3), np.array([0.4, -0.9, 0.3])])
def test_the_slope_of_a_ball_spring_is_that_of_its_force(rest):
    system = ball(forces=[JointSpring(0, 2.0, rest=rest)], q=np.array([0.5, -0.3, 0.8]))
    q, zero, e = system.rest, np.zeros(3), 1e-6
    loads = lambda q: system.assemble(system.kinematics(q, zero), 0.0)
    slope = np.stack([(loads(q + e * d).f_r - loads(q - e * d).f_r) / (2 * e) for d in np.eye(3)], axis=1)
    assert np.allclose(loads(q).loads.K_r(), slope, atol=1e-8)


def test_a_ball_spring_keeps_its_energy_where_the_chart_changes():
    system = ball(forces=[JointSpring(0, 3.0, 0.7, rest=np.array([0.2, 0.1, 0.0]))])
    for angle in np.pi * np.array([0.999, 1.001, 1.49, 1.51, 1.9]):
        q, v = angle * np.array([0.6, 0.0, 0.8]), np.array([1.0, 2.0, -1.0])
        other = (1.0 - 2.0 * np.pi / angle) * q
        same = np.linalg.solve(exp3_jacobian(other), exp3_jacobian(q) @ v)
        before, after = system.energies(q, v, 0.0), system.energies(other, same, 0.0)
        assert before["elastic"] > 0.1 and after["elastic"] == pytest.approx(before["elastic"], rel=1e-12)
        power = [system.assemble(system.kinematics(x, w), 0.0).f_r @ w for x, w in ((q, v), (other, same))]
        assert power[0] == pytest.approx(power[1], rel=1e-9)
        lost = [system.power(x, w, 0.0)["damping"] for x, w in ((q, v), (other, same))]
        assert lost[0] < -0.01 and lost[0] == pytest.approx(lost[1], rel=1e-9)


def test_a_ball_spring_and_its_damper_do_not_know_the_zero_of_the_joint():
    """The same pendulum with its joint frame turned, and the opposite turn in its coordinates and its rest."""
    tips = []
    start, rest = np.array([0.9, 0.4, -0.3]), np.array([0.3, 0.0, 0.2])
    for turn in (np.zeros(3), np.array([0.7, -1.1, 0.5])):
        seen = lambda r, turn=turn: log6(frame(exp3(-turn) @ exp3(r)))[:3]
        spring = JointSpring(0, 0.5, 0.3, rest=seen(rest))
        system = ball(exp3(turn), forces=[spring], q=seen(start))
        v = np.linalg.solve(exp3_jacobian(system.rest), np.array([3.0, 1.0, -2.0]))
        step = RK45(rtol=1e-9, atol=1e-11).step(system, State(system.rest, v), 0.5)
        tips.append(system.kinematics(step.state.q, step.state.v).frames[0, :3, 3])
    assert np.linalg.norm(tips[0]) > 0.4
    assert np.abs(tips[0] - tips[1]).max() < 1e-7


def test_slack_cables_do_not_pull_and_muscles_do():
    loose = pendulum(2, forces=[Cable(((0, A), (1, B)), 10.0, rest=5.0)], gravity=(0, 0, 0))
    assert np.all(loose.force(np.array([0.1, 0.2]), np.zeros(2), 0.0) == 0.0)
    muscle = pendulum(2, forces=[Cable(((0, A), (1, B)), 10.0, activation=lambda t: 0.5)], gravity=(0, 0, 0))
    assert np.abs(muscle.force(np.zeros(2), np.zeros(2), 0.0)).max() > 0.1


def test_world_force_does_the_work_of_its_point():
    F = np.array([1.0, 2.0, 3.0])
    system, q, v = zoo(forces=[WorldForce(7, A, F)], gravity=(0, 0, 0))
    plain, _, _ = zoo(gravity=(0, 0, 0))
    power = (system.force(q, v, 0.0) - plain.force(q, v, 0.0)) @ v
    e = 1e-6
    velocity = (system.kinematics(q + e * v, v).point(7, A) - system.kinematics(q - e * v, v).point(7, A)) / (2 * e)
    assert np.isclose(power, F @ velocity, rtol=1e-6)


def test_bad_forces_are_named():
    with pytest.raises(SceneError, match="unknown link 'x'"):
        pendulum(2, forces=[WorldForce("x", A, A)])
    with pytest.raises(SceneError, match="add energy"):
        pendulum(2, forces=[JointSpring(0, -1.0)])
    with pytest.raises(SceneError, match="path of 1"):
        pendulum(2, forces=[Cable(((0, A),), 1.0)])
    with pytest.raises(SceneError, match="Cable: stiffness is -1.0"):
        pendulum(2, forces=[Cable(((0, A), (1, B)), -1.0)])
    with pytest.raises(SceneError, match="Cable: rest is -1.0"):
        pendulum(2, forces=[Cable(((0, A), (1, B)), 1.0, rest=-1.0)])
    with pytest.raises(SceneError, match="Cable: points 0 and 1 of the path are at the same place"):
        pendulum(2, forces=[Cable(((0, A), (0, A)), 1.0)])
    with pytest.raises(SceneError, match="PointSprings: first, x1, second, x2 have 2, 1, 1, 1 entries"):
        pendulum(2, forces=[PointSprings([0, 1], [A], [1], [B])])
    with pytest.raises(SceneError, match=r"JointTorque on 0: a torque of shape \(2,\) for 1 coordinates"):
        pendulum(2, forces=[JointTorque(0, lambda t: np.ones(2))])
    for force in (JointSpring(None, 1.0), JointTorque(-1, 1.0), Servo(None, 0.0, 1.0, 1.0)):
        with pytest.raises(SceneError, match="the world is on no joint"):
            pendulum(2, forces=[force])


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (JointSpring(0, np.nan), "stiffness is nan"),
        (JointSpring(0, "5 N m"), "'5 N m' is not an array of numbers"),
        (BodyDamping(-1.0), "BodyDamping: damping is -1.0; .* add energy"),
        (PointSprings([0], [A], [1], [B], -2.0), "PointSprings: stiffness is -2.0; .* add energy"),
        (JointStop(0, stiffness="x"), "'x' is not an array of numbers"),
        (Servo(0, 0.0, "3", 1.0), "give numbers as stiffness and limit"),
        (WorldForce(0, A[:2], A), r"a force of shape \(3,\) at a point of shape \(2,\)"),
        (WorldForce(0, A, lambda t: A[:2]), r"a force of shape \(2,\)"),
        (Cable(((0, A), (1, B[:2])), 1.0), "Cable.path"),
        (Cable(((0, A), (1, B)), 1.0, activation="x"), "Cable.activation"),
    ],
)
def test_forces_that_are_no_numbers_or_add_energy_are_refused_before_the_first_step(force, message):
    with pytest.raises(SceneError, match=message):
        pendulum(2, forces=[force])


def test_a_cable_is_activated_by_a_number_a_table_or_a_function_alike():
    q, v = np.array([0.3, -0.1]), np.array([0.2, 0.1])
    pull = [
        pendulum(2, forces=[Cable(((0, A), (1, B)), 10.0, activation=act)], gravity=(0, 0, 0)).force(q, v, 0.5)
        for act in (0.3, ((0.0, 0.1), (1.0, 0.5)), lambda t: 0.6 * t)
    ]
    assert np.allclose(pull, pull[0], rtol=1e-12) and np.abs(pull[0]).max() > 0.0
    assert Cable(((0, A), (1, B)), 10.0, activation=((0.0, 0.1), (1.0, 0.5))).corners == (0.0, 1.0)
    strong = pendulum(2, forces=[Cable(((0, A), (1, B)), 10.0, activation=lambda t: 1.5 + t)])
    with pytest.raises(SceneError, match="the activation is 1.5 at t = 0 s"):
        strong.force(q, v, 0.0)


def test_a_world_force_is_a_vector_a_table_or_a_function_alike():
    q, v, F = np.array([0.3, -0.1]), np.zeros(2), np.array([1.0, 2.0, 3.0])
    rows = [[0.0, *F], [1.0, *F]]
    found = [pendulum(2, forces=[WorldForce(0, A, f)]).force(q, v, 0.5) for f in (F, rows, lambda t: F)]
    assert np.allclose(found, found[0], rtol=1e-12)


def test_what_is_no_list_of_forces_is_refused_with_the_body():
    links = pendulum(2).tree.links
    with pytest.raises(SceneError, match="arm.forces: forces is JointSpring"):
        Articulated(links, JointSpring(0), name="arm")
    with pytest.raises(SceneError, match=r"arm.forces\[0\]: .*3"):
        Articulated(links, [3], name="arm")
    with pytest.raises(SceneError, match="arm.baumgarte: baumgarte is -5"):
        Articulated(links, baumgarte=-5.0, name="arm")
    with pytest.raises(SceneError, match="both are the same joint"):
        pendulum(2, constraints=[CoupledJoints(0, 0, 2.0)])


def test_a_servo_goes_to_a_number_or_along_a_table():
    q, v = np.array([0.3, -0.1]), np.zeros(2)
    table = [[0.0, 0.0], [2.0, 1.0]]
    for position, t in ((0.25, 0.0), (table, 0.5)):
        given, function = (pendulum(2, forces=[Servo(1, p, 5.0, 2.0)]) for p in (position, lambda t: 0.25))
        assert np.allclose(given.force(q, v, t), function.force(q, v, t), rtol=1e-15)
    assert Servo(1, table, 5.0, 2.0).corners == (0.0, 2.0)
