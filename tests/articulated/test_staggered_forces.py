"""Staggered projections see every force and constraint of joints, as the reduced methods do."""

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import RK45, Link, StaggeredProjections, at, cuboid
from pliant.articulated.constraints import CoupledJoints, JointLimit, PrescribedJoint
from pliant.articulated.forces import JointSpring, JointStop, JointTorque, Reduced, Servo, SpringDamper
from pliant.articulated.joints import Prismatic, Revolute, Spherical
from pliant.state import State

BAR = cuboid((0.3, 0.05, 0.04), 800.0, at(0.15, 0.01, 0.0))
LINKS = [
    Link(Revolute((0, 1, 0)), BAR, name="a"),
    Link(Prismatic((1, 0, 0)), BAR, "a", at(0.3, 0, 0), "b"),
    Link(Spherical(), BAR, "b", at(0.3, 0, 0), "c"),
]
T = 0.08
REDUCED = [
    [JointSpring("a", 20.0, 0.4, rest=0.2), JointSpring("b", 300.0, 2.0), JointSpring("c", 3.0, 0.05)],
    [
        JointTorque("a", lambda t: 5.0 * np.cos(20.0 * t)),
        JointTorque("c", [[0.0, 0.1, 0.0, 0.3], [1.0, 0.5, 0.0, 0.0]]),
    ],
    [Servo("a", 0.4, 30.0, 6.0), Servo("b", -0.01, 500.0, 3.0)],
    [JointStop("a", upper=0.05, stiffness=100.0)],
    [Reduced(SpringDamper((None, [0.2, 0.3, 0.4]), ("c", [0.1, 0.0, 0.0]), 200.0, 1.0))],
]


def missed(forces, constraints, h, q=None):
    """How far the joints are from where they belong at the end of a short motion."""
    body = pl.Articulated(LINKS, forces, constraints, name="arm")
    *_, last = pl.simulate(pl.Scene([body], integrator=StaggeredProjections(), h=h, duration=T))
    begun = State(np.zeros(5), np.zeros(5))
    exact = RK45(rtol=1e-8, atol=1e-10).step(body.system(), begun, T).state.q
    return np.abs(last.state.q - exact).max()


@pytest.mark.parametrize("forces", REDUCED, ids=lambda forces: type(forces[0]).__name__)
def test_forces_of_joints_act_to_first_order_in_h(forces):
    coarse, fine = missed(forces, (), 4e-3), missed(forces, (), 2e-3)
    assert fine < 0.06 and fine == pytest.approx(0.5 * coarse, rel=0.15)


def test_gears_and_motors_act_to_first_order_in_h():
    rows = [CoupledJoints("a", "b", 0.1), PrescribedJoint("a", lambda t: 2.0 * t, lambda t: t * t, lambda t: 2.0)]
    coarse, fine = missed((), rows, 4e-3), missed((), rows, 2e-3)
    assert fine < 0.06 and fine == pytest.approx(0.5 * coarse, rel=0.15)


def test_a_rod_stops_at_the_limit_of_its_hinge():
    body = pl.Articulated(LINKS[:1], constraints=[JointLimit("a", upper=0.3)], name="arm")
    *_, last = pl.simulate(pl.Scene([body], integrator=StaggeredProjections(), h=2e-3, duration=1.0))
    assert last.state.q[0] == pytest.approx(0.3, abs=1e-3)
    assert abs(last.state.v[0]) < 1e-3
