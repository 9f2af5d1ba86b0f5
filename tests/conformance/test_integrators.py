"""Every integrator: observed order = declared order, purity, restart, exact scripts."""

from dataclasses import replace

import pytest
from small_systems import SCENES, beam_scene, net_scene

from pliant.bench.core.orders import observed_order, problems, reference, tight
from pliant.errors import SceneError
from pliant.integrators import INTEGRATORS, Quasistatic
from pliant.testing import check_integrator

DYNAMIC = [c for c in INTEGRATORS if c.order > 0]
PROBLEMS = problems()


@pytest.fixture(scope="module")
def exact():
    return {name: reference(scene, T) for name, (scene, T) in PROBLEMS.items()}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("choice", DYNAMIC, ids=lambda c: c.__name__)
def test_observed_order_is_the_declared_one(choice, problem, exact):
    scene, T = PROBLEMS[problem]
    order, errors = observed_order(scene, tight(choice), T, exact[problem], [80, 160])
    assert abs(order - choice.order) < (0.2 if choice.order >= 4 else 0.15)
    assert errors[-1] < 0.05


@pytest.mark.parametrize("choice", INTEGRATORS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("build", [beam_scene, net_scene, SCENES["beam shaken"]], ids=["beam", "net", "shaken"])
def test_purity_restart_scripts(choice, build):
    scene = replace(build(), integrator=choice(), h=0.002)
    if choice is Quasistatic and build is net_scene:
        with pytest.raises(SceneError, match="free to move"):
            check_integrator(scene)
        return
    check_integrator(scene, steps=3)
