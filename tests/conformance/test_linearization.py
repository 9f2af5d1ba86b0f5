"""The stage matrix is the derivative of the stage residual: a wrong one moves no root, so only this suite sees it."""

import numpy as np
import pytest
from small_systems import SCENES, beam_scene, rough_state

from pliant.solvers import Newton, Tolerance
from pliant.stage import Stage
from pliant.state import State


def stage_of(scene, c=0.01, inertia=1.0, seed=0, size=0.01):
    system, q, v = rough_state(scene, seed, size)
    return Stage(system, c, q + c * v, q, c, system.prescribe(q + c * v, c), State(q, v, 0.0), inertia)


@pytest.mark.parametrize("inertia", [1.0, 0.0])
@pytest.mark.parametrize("name", [n for n in SCENES if n != "beam Green"])
def test_jacobian_is_the_derivative_of_the_residual(name, inertia):
    stage = stage_of(SCENES[name](), inertia=inertia)
    z = stage.frame[stage.system.free]
    A = stage.jacobian(z, psd=False).toarray()
    eps = 1e-6
    numeric = np.array([(stage.residual(z + e) - stage.residual(z - e)) / (2 * eps) for e in eps * np.eye(len(z))]).T
    assert abs(A - numeric).max() < 1e-7 * abs(A).max()


def test_green_damping_drops_only_its_nonsymmetric_part():
    """With v = 0 at the iterate the dropped term vanishes and the matrix is exact again."""
    system, q, _ = rough_state(SCENES["beam Green"]())
    stage = Stage(system, 0.01, q, q, 0.0, q, State(q, 0 * q, 0.0))
    z = q[system.free]
    A = stage.jacobian(z, psd=False).toarray()
    eps = 1e-6
    numeric = np.array([(stage.residual(z + e) - stage.residual(z - e)) / (2 * eps) for e in eps * np.eye(len(z))]).T
    assert abs(A - numeric).max() < 1e-6 * abs(A).max()


@pytest.mark.parametrize("name", ["beam", "beam consistent", "plane", "net"])
def test_residual_is_the_gradient_of_the_merit(name):
    stage = stage_of(SCENES[name]())
    z = stage.frame[stage.system.free]
    eps = 1e-6
    numeric = np.array([(stage.merit(z + e) - stage.merit(z - e)) / (2 * eps) for e in eps * np.eye(len(z))])
    r = stage.residual(z)
    assert abs(r - numeric).max() < 1e-6 * abs(r).max()


def test_newton_is_quadratic():
    stage = stage_of(beam_scene(), c=0.02)
    solver = Newton(project="on_demand", tolerance=Tolerance(1e-15, 1e-16))
    history = solver.solve(stage, stage.frame[stage.system.free]).report.history
    r = np.array([row["residual"] for row in history])
    r = r[r > 1e-12 * r[0]] / r[0]  # round-off ends the race
    assert len(r) >= 4
    assert np.log(r[-1]) < 1.7 * np.log(r[-2])
