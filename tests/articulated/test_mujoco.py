"""Ball joints with springs and dampers against MuJoCo, where it is installed."""

import numpy as np
import pytest

from pliant.articulated import RK45, ArticulatedSystem, Link, at, cuboid
from pliant.articulated.forces import JointSpring
from pliant.articulated.joints import Spherical
from pliant.articulated.se3 import exp3
from pliant.bench.scale.mjcf import model
from pliant.state import State

mujoco = pytest.importorskip("mujoco")


@pytest.mark.parametrize("zero", [(0.0, 0.0, 0.0), (0.4, -0.9, 1.3)])
def test_a_damped_spring_in_a_ball_joint_moves_as_in_mujoco(zero):
    """A spring at rest away from the zero of the joint, damped; the motion must not depend on where that zero is."""
    start, T, h = np.array([1.2, 0.5, -0.8]), 0.5, 2e-4  # at 1 ms MuJoCo is 2 um off
    bar = cuboid((1.0, 0.2, 0.1), 100.0, at(0.5, 0.1, 0.0))
    spring = JointSpring(0, stiffness=30.0, damping=0.6)
    system = ArticulatedSystem([Link(Spherical(), bar)], [spring])
    other = model(mujoco, system, h)
    other.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(other)
    data.qpos[:] = _quaternion(start)
    for _ in range(round(T / h)):
        mujoco.mj_step(other, data)
    mujoco.mj_forward(other, data)
    # The same joint with another zero: R = exp[zero] exp[q], so the rest and the start are turned back.
    turned = np.eye(4)
    turned[:3, :3] = exp3(np.array(zero))
    shifted = [Link(Spherical(), bar, frame=turned)]
    back = lambda r: _log(exp3(np.array(zero)).T @ exp3(r))
    ours = ArticulatedSystem(shifted, [JointSpring(0, stiffness=30.0, damping=0.6, rest=back(np.zeros(3)))])
    step = RK45(rtol=1e-9, atol=1e-11).step(ours, State(back(start), np.zeros(3)), T)
    kin = ours.kinematics(step.state.q, step.state.v)
    assert np.abs(kin.frames[0, :3, 3] - data.xipos[1]).max() < 1e-6
    assert np.linalg.norm(data.qvel) > 0.1


def _quaternion(r):
    t = np.linalg.norm(r)
    return np.concatenate([[np.cos(t / 2)], np.sin(t / 2) * r / t])


def _log(R):
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    s = np.linalg.norm(axis)
    return axis / s * np.arctan2(s, np.trace(R) - 1.0) if s > 0 else np.zeros(3)
