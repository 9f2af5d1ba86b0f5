"""Dry friction of joints in velocity steps: a constant torque that holds, alone and beside the friction of contacts."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import BISP, Link, at, cuboid
from pliant.articulated.constraints import FloorContact, PrescribedJoint
from pliant.articulated.joint_contacts import DryFriction
from pliant.articulated.joints import Prismatic, Revolute

WHEEL = cuboid((0.3, 0.3, 0.05), 1000.0)
ROD = cuboid((0.4, 0.04, 0.04), 500.0, at(0.2, 0.0, 0.0))  # 0.32 kg, its middle 0.2 m from the hinge
PULL = 0.4 * 0.04 * 0.04 * 500.0 * 9.81 * 0.2  # N m of its weight when it lies flat
URDF = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0.2 0 0"/><mass value="0.32"/>
<inertia ixx="1e-4" iyy="4e-3" izz="4e-3" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.04 0.04"/></geometry></collision></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><origin xyz="0 0 0.3"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="1" velocity="1"/>
<dynamics friction="FRICTION"/></joint></robot>"""


def flywheel(force, **options):
    dry = [DryFriction("wheel", force)]
    return pl.Articulated([Link(Revolute((0, 0, 1)), WHEEL, name="wheel")], dry_friction=dry, **options)


def arms(forces, **options):
    """Rods on hinges about y, one on the other, with these torques of friction."""
    links = [
        Link(Revolute((0, 1, 0)), ROD, k - 1 if k else None, at(0.4 if k else 0, 0, 0)) for k in range(len(forces))
    ]
    dry = [DryFriction(k, force) for k, force in enumerate(forces)]
    return pl.Articulated(links, dry_friction=dry, name="arm", **options)


def run(bodies, h=5e-3, duration=0.5, integrator=None, **options):
    scene = pl.Scene(bodies, integrator=integrator or pl.LinearlyImplicit(), h=h, duration=duration, **options)
    steps = list(pl.simulate(scene))
    assert all(s.report.converged for s in steps)
    return steps


@pytest.mark.parametrize("h", [1e-2, 1e-3])
def test_a_flywheel_stops_when_friction_has_taken_its_momentum(h):
    force, rate = 0.5, 2.0
    wheel = flywheel(force, v=[rate])
    inertia = wheel.system().mass(np.zeros(1)).toarray()[0, 0]
    steps = run([wheel], h, 0.5)
    w, t = (np.array([getattr(s.state, name) for s in steps]).ravel() for name in ("v", "t"))
    assert np.allclose(w, np.maximum(rate - force / inertia * t, 0.0), atol=1e-9)  # to 0, and never back
    assert w.min() >= 0.0 and w[-1] == 0.0
    w = np.concatenate([[rate], w])  # the start is not among the steps
    rubbed, numerical = sum(s.ledger.work["friction"] for s in steps), sum(s.ledger.numerical for s in steps)
    assert rubbed == pytest.approx(inertia * np.diff(w) @ w[1:], rel=1e-9)  # impulses times the new rates
    assert numerical == pytest.approx(0.5 * inertia * np.diff(w) @ np.diff(w), rel=1e-6)  # and nothing else is lost
    assert rubbed == pytest.approx(-0.5 * inertia * rate**2, abs=force * rate * h)


def test_an_arm_sticks_where_its_weight_turns_it_less_than_friction_and_falls_elsewhere():
    for share, sticks in ((1.001, True), (0.999, False)):
        q = run([arms([share * PULL * np.cos(0.5)], q=[0.5])])[-1].state.q[0]
        assert (abs(q - 0.5) < 1e-12) == sticks
    steps = run([arms([0.5 * PULL], q=[0.0])], duration=3.0)
    q, v = steps[-1].state.q[0], steps[-1].state.v[0]
    assert abs(v) < 1e-12 and abs(PULL * np.cos(q)) < 0.5 * PULL  # it comes to rest where friction can hold it
    turned = np.abs(np.diff([s.state.q[0] for s in steps])).sum()
    assert sum(s.ledger.work["friction"] for s in steps) == pytest.approx(-0.5 * PULL * turned, rel=2e-2)


def test_friction_of_a_slider_is_a_force():
    block = pl.Articulated([Link(Prismatic((0, 0, 1)), ROD)], dry_friction=[DryFriction(0, 2.0)])
    steps = run([block], h=1e-3, duration=0.2)
    assert steps[-1].state.v[0] == pytest.approx(-(9.81 - 2.0 / 0.32) * 0.2, rel=1e-9)


def test_two_hinges_move_as_under_bisp_and_nearer_with_shorter_steps():
    apart = []
    for h in (4e-3, 1e-3):
        body = arms([0.3, 0.1], q=[0.2, -0.4], v=[0.0, 3.0])
        q = [np.array([s.state.q for s in run([body], h, 0.6, m)]) for m in (None, BISP())]
        apart.append(np.abs(q[0] - q[1]).max())
    assert apart[0] < 2e-2 and apart[1] < 0.4 * apart[0] + 1e-12


def test_a_motor_works_against_the_friction_of_its_joint():
    force, rate = 0.7, 2.0
    turning = PrescribedJoint(0, rate)
    for friction in (0.0, force):
        steps = run([replace(flywheel(friction, v=[rate]), constraints=[turning])], duration=0.2)
        assert np.allclose([s.state.v[0] for s in steps], rate)
        assert sum(s.ledger.work["friction"] for s in steps) == pytest.approx(-friction * rate * 0.2, abs=1e-9)
        assert sum(s.ledger.work["motors"] for s in steps) == pytest.approx(friction * rate * 0.2, abs=1e-9)
    still = replace(flywheel(force), constraints=[PrescribedJoint(0, 0.0)])
    assert abs(sum(s.ledger.work["friction"] for s in run([still], duration=0.1))) < 1e-12


def test_dry_joints_and_floors_rub_together():
    """A rod whose tip slides over a floor: its own friction adds to that of the floor."""
    speeds = {}
    for mu, force in ((0.0, 0.0), (0.5, 0.0), (0.0, 0.3), (0.5, 0.3)):
        links = [
            Link(Prismatic((1, 0, 0)), cuboid((0.1, 0.1, 0.1), 500.0), frame=at(0, 0, 0.05)),
            Link(Prismatic((0, 0, 1)), cuboid((0.1, 0.1, 0.1), 500.0), 0),
        ]
        body = pl.Articulated(
            links,
            constraints=[FloorContact(1, np.array([[0.0, 0.0, -0.05]]), mu=mu)],
            dry_friction=[DryFriction(0, force)],
            v=[1.0, 0.0],
        )
        speeds[mu, force] = run([body], duration=0.1)[-1].state.v[0]
    lost = {key: 1.0 - v for key, v in speeds.items()}  # both bodies weigh 0.5 kg; one rests on the floor
    assert lost[0.0, 0.0] == pytest.approx(0.0, abs=1e-9)
    assert lost[0.5, 0.0] == pytest.approx(0.5 * 0.5 * 9.81 * 0.1, rel=1e-2)
    assert lost[0.0, 0.3] == pytest.approx(0.3 * 0.1, rel=1e-6)
    assert lost[0.5, 0.3] == pytest.approx(lost[0.5, 0.0] + lost[0.0, 0.3], rel=1e-6)


def beside(friction, gravity=(0.0, 0.0, -9.81)):
    """A robot from a URDF file over a soft block on a floor, with friction of contacts."""
    mesh = pl.mesh.box((0.12, 0.12, 0.1), (2, 2, 2)).transformed(translate=(0.2, -0.06, 0.001))
    block = pl.Solid(mesh, pl.StableNeoHookean("50 kPa", 0.4), name="block")
    robot = pl.articulated.from_urdf(URDF.replace("FRICTION", str(friction)), q=[0.2])
    return [robot, block], {"contact": pl.RowContact(mu=0.5), "obstacles": [pl.Plane()], "gravity": gravity}


def test_a_urdf_robot_with_friction_rests_on_a_soft_block_or_is_held_above_it():
    moved = {}
    for friction in (0.0, 0.1, 1.0):
        bodies, options = beside(friction)
        steps = run(bodies, duration=0.5, **options)
        moved[friction] = steps[-1].state.q[-1] - 0.2
        assert all(s.ledger.numerical > -1e-6 for s in steps)  # of 1 J: nothing gains energy
        assert all(s.ledger.work["friction"] <= 1e-12 for s in steps)
    assert moved[0.0] > 0.2 and abs(moved[1.0]) < 1e-12  # it lies on the block, or hangs in the air
    assert moved[0.1] > 0.1


def test_sliders_that_a_soft_block_hits_keep_momentum_whatever_rubs():
    """Two sliders along z, one on the other: their momentum is linear in the rates, and so kept to rounding."""
    mesh = pl.mesh.box((0.1, 0.1, 0.1), (2, 2, 2)).transformed(translate=(0.2, -0.05, 0.05))
    block = pl.Solid(mesh, pl.StableNeoHookean("50 kPa", 0.4), velocity=(0.1, 0.2, 1.0), name="block")
    links = [
        Link(Prismatic((0, 0, 1)), ROD, frame=at(-0.5, 0, 0.2), name="base"),
        Link(Prismatic((0, 0, 1)), ROD, 0, at(0.5, 0, 0), name="rod"),
    ]
    robot = pl.Articulated(links, dry_friction=[DryFriction("rod", 0.5)], name="robot")
    steps = run([robot, block], duration=0.3, contact=pl.RowContact(mu=0.5), gravity=(0, 0, 0))
    assert steps[-1].state.v[-2] > 0.1  # the base is carried along by nothing but the friction of the joint
    assert sum(s.ledger.work["friction"] for s in steps) < -1e-3
    assert np.allclose([s.ledger.linear[2] for s in steps], steps[0].ledger.linear[2], rtol=0.0, atol=1e-9)
    assert all(s.ledger.numerical > -1e-6 for s in steps)
