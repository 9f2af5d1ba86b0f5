"""What torques, forces, dampers, muscles and motors do is booked as work; what is left falls with the step."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.articulated import BISP, RK45, Link, StaggeredProjections, at, cuboid
from pliant.articulated.constraints import PrescribedJoint
from pliant.articulated.forces import BodyDamping, Cable, JointSpring, JointTorque, WorldForce
from pliant.articulated.joints import Revolute
from pliant.integrators import BDF1, BDF2, RK4, TRBDF2, LinearlyImplicit, Verlet
from pliant.scenes.redmax.scene import scene
from pliant.simulate import simulate

TIP = np.array([0.0, 0.0, -0.5])
CASES = {
    "torque": {"forces": [JointTorque("arm", lambda t: 5.0)]},
    "force": {"forces": [WorldForce("arm", TIP, np.array([5.0, 0.0, 0.0]))]},
    "joint": {"forces": [JointSpring("arm", stiffness=3.0, damping=0.5)], "q": [1.0]},
    "drag": {"forces": [BodyDamping(0.5)], "q": [1.0]},
    "muscle": {"forces": [Cable((("arm", TIP), (None, np.array([1.0, 0, -1]))), 50.0, activation=lambda t: 0.5 * t)]},
    "motor": {"constraints": [PrescribedJoint("arm", lambda t: 1.0)], "v": [1.0]},
}


def pendulum(case, integrator, h):
    arm = cuboid((0.05, 0.05, 1.0), 1000.0, at(0, 0, -0.5))
    return scene(
        [Link(Revolute((0, 1, 0)), arm, name="arm")],
        h=h,
        duration=0.4,
        integrator=integrator,
        gravity=(0.0, 0.0, -9.81),
        **CASES[case],
    )


def books(case, integrator, h):
    rows = [step.ledger for step in simulate(pendulum(case, integrator, h))]
    return sum(sum(row.work.values()) for row in rows), sum(row.numerical for row in rows)


METHODS = [BDF1(), BDF2(), TRBDF2(), LinearlyImplicit(), BISP(), StaggeredProjections(), RK4(), RK45(), Verlet()]


@pytest.mark.parametrize("integrator", METHODS)
@pytest.mark.parametrize("case", CASES)
def test_work_is_booked_and_the_rest_falls_with_the_step(case, integrator):
    coarse, fine = (books(case, integrator, h) for h in (0.005, 0.0025))
    assert abs(fine[0]) > 0.3  # it does something
    assert abs(fine[1]) < 0.1 * abs(fine[0])
    assert abs(fine[1]) < 0.6 * abs(coarse[1]) + 1e-9


def test_the_torque_does_torque_times_angle():
    scene = pendulum("torque", BDF2(), 0.005)
    steps = list(simulate(scene))
    done = sum(step.ledger.work["drives"] for step in steps)
    assert done == pytest.approx(5.0 * steps[-1].state.q[0], rel=1e-3)


def test_a_torque_is_no_gain_of_energy():
    scene = replace(pendulum("torque", BDF2(), 0.005), on_energy_gain="raise")
    assert len(list(simulate(scene))) == 80
