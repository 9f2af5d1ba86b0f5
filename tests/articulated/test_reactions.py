"""Joint reactions: closed structures against statics, Klann's leg against planar inverse dynamics, SP with closures."""

import numpy as np
import pytest
from articulated_samples import pendulum

from pliant.articulated import BISP, ArticulatedSystem, Friction, Link, StaggeredProjections, at, cuboid
from pliant.articulated.constraints import JointLimit, LoopClosure, PrescribedJoint
from pliant.articulated.forces import JointSpring
from pliant.articulated.friction import joint_wrenches
from pliant.articulated.joints import Revolute
from pliant.bench.redmax.reactions import static_row, structures
from pliant.bench.redmax.statics import mean_leg_torque
from pliant.scenes.redmax import run, single_leg
from pliant.state import State

Y = np.array([0.0, 1.0, 0.0])


def test_a_bar_on_a_hinge_and_a_pin_rests_with_half_its_weight_on_each():
    bar = cuboid((1.0, 0.1, 0.1), 1000.0, at(0.5, 0, 0))
    pin = LoopClosure(0, np.array([0.5, 0, 0]), None, np.array([1.0, 0, 0]), Y)
    system = ArticulatedSystem([Link(Revolute(Y), bar)], constraints=[pin])
    memory = BISP().step(system, State(np.zeros(1), np.zeros(1)), 0.01).memory
    assert memory.reaction[0, 5] == pytest.approx(0.5 * 10.0 * 9.81, rel=1e-12)
    assert np.abs(memory.reaction[0, [3, 4]]).max() < 1e-9


@pytest.mark.parametrize("name", structures())
def test_closed_structures_against_statics(name):
    row = static_row(name, *structures()[name])
    assert row["off_joints"] < 1e-10 and row["off_closures"] < 1e-10 and row["idle"] < 1e-12


@pytest.mark.parametrize(
    "held",
    [
        {"forces": [JointSpring(0, 50.0, 3.0), JointSpring(1, 20.0)]},
        {"constraints": [JointLimit(1, upper=0.0)]},
        {"constraints": [PrescribedJoint(0, lambda t: 0.3)]},
    ],
)
def test_what_acts_along_a_joint_is_no_reaction_of_it(held):
    """Springs, stops and motors on joint coordinates leave J^T f_alpha = 0, and the same reactions as on the bodies."""
    system = pendulum(2, q=np.array([0.3, 0.1]), **held)
    step = BISP(Friction(0.0)).step(system, State(system.rest, np.array([0.1, 0.2])), 0.01)
    kin = system.kinematics(system.rest, np.array([0.1, 0.2]))
    f = step.memory.reaction
    assert np.abs(f).max() > 1.0 and np.abs(kin.apply_transpose(f)).max() < 1e-11 * np.abs(f).max()
    # Newton's law of both bodies together: the root hinge carries what changes their momentum, less their weight
    R, m = kin.frames[:, :3, :3], system.tree.inertia[:, 5]
    nu = [np.einsum("nij,nj->ni", R, x[:, 3:]) for x in (kin.apply(step.state.v), kin.twists)]
    spun = np.cross(kin.twists[:, :3], kin.twists[:, 3:]) + kin.bias[:, 3:]
    a = (nu[0] - nu[1]) / 0.01 + np.einsum("nij,nj->ni", R, spun)
    root = R[0] @ joint_wrenches(kin, f, system.tree.parent)[0, 3:]
    assert root == pytest.approx(m @ (a - system.gravity), abs=1e-8 * np.abs(f).max())


def test_the_leg_takes_the_torque_of_inverse_dynamics():
    torque = []
    for h in (5e-3, 2.5e-3):
        torque.append(-np.mean([s.memory.impulses.force(2)[0] for s in run(single_leg(0.2, h=h))[2:]]))
    assert 2 * torque[1] - torque[0] == pytest.approx(mean_leg_torque(0.2, samples=180), rel=0.02)


@pytest.mark.parametrize("unilateral", [False, True])
def test_staggered_projections_rub_in_closures_as_bisp_does(unilateral):
    """The work of friction over a turn tends to that of inverse dynamics as h falls."""
    expected = 2 * np.pi * mean_leg_torque(0.2, samples=180)
    off = []
    for h in (10e-3, 5e-3):
        steps = run(single_leg(0.2, h=h), integrator=StaggeredProjections(Friction(0.2), unilateral=unilateral))[2:]
        assert all(r.converged for s in steps for r in s.reports)
        off.append(abs(-sum(s.work["friction"] for s in steps) / expected - 1.0))
    assert off[1] < 0.7 * off[0] and off[1] < (0.25 if unilateral else 0.08)
