"""The stage matrix is the derivative of the stage residual: a wrong one moves no root, so only this suite sees it."""

import numpy as np
import pytest
from small_systems import SCENES, beam_scene, rough_state

from pliant.solvers import Newton, Tolerance
from pliant.stage import Stage
from pliant.state import State
from pliant.testing import check_stage


def stage_of(scene, c=0.01, inertia=1.0, seed=0, size=0.01):
    system, q, v = rough_state(scene, seed, size)
    return Stage(system, c, q + c * v, q, c, system.prescribe(q + c * v, c), State(q, v, 0.0), inertia)


@pytest.mark.parametrize("inertia", [1.0, 0.0])
@pytest.mark.parametrize("name", [n for n in SCENES if n != "beam Green"])
def test_jacobian_and_residual_are_derivatives(name, inertia):
    check_stage(stage_of(SCENES[name](), inertia=inertia))


def test_green_damping_drops_only_its_nonsymmetric_part():
    """With v = 0 at the iterate the dropped term vanishes and the matrix is exact again."""
    system, q, _ = rough_state(SCENES["beam Green"]())
    check_stage(Stage(system, 0.01, q, q, 0.0, q, State(q, 0 * q, 0.0)))


def test_newton_is_quadratic():
    stage = stage_of(beam_scene(), c=0.02)
    solver = Newton(project="on_demand", tolerance=Tolerance(1e-15, 1e-16))
    history = solver.solve(stage, stage.frame[stage.system.free]).report.history
    r = np.array([row["residual"] for row in history])
    r = r[r > 1e-12 * r[0]] / r[0]  # round-off ends the race
    assert len(r) >= 4
    assert np.log(r[-1]) < 1.7 * np.log(r[-2])
