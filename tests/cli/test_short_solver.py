"""One keyword changes the method: ``--set solver=...`` is short for ``--set integrator.solver=...``."""

import pytest

from pliant.scene_file.load import load_scene
from pliant.solvers import PD, QLB, Newton


@pytest.mark.parametrize("name, choice", [("pd", PD), ("qlb", QLB), ("newton", Newton)])
def test_solver_by_one_keyword(name, choice):
    assert isinstance(load_scene("ledwon/hanging-cloth", [f"solver={name}"]).scene.integrator.solver, choice)


def test_parts_of_the_solver():
    scene = load_scene("ledwon/hanging-cloth", ["integrator=sdirk2", "solver=qlb", "solver.m=7"]).scene
    assert type(scene.integrator).__name__ == "SDIRK2"
    assert scene.integrator.solver.m == 7
