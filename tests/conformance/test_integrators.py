"""Every integrator: observed order = declared order, purity, restart, exact scripts."""

import copy

import numpy as np
import pytest
from small_systems import SCENES, beam_scene, net_scene

from pliant.bench.core.orders import observed_order, problems, reference, tight
from pliant.errors import SceneError
from pliant.integrators import INTEGRATORS, Quasistatic

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


def advance(integrator, scene, steps, h=0.002, state=None, memory=None, system=None):
    system = system or scene.system()
    state = state or scene.initial(system)
    for _ in range(steps):
        step = integrator.step(system, state, h, memory)
        state, memory = step.state, step.memory
        assert all(r.converged for r in step.reports), [r.message for r in step.reports]
    return state, memory


@pytest.mark.parametrize("choice", INTEGRATORS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("build", [beam_scene, net_scene])
def test_step_is_pure(choice, build):
    if choice is Quasistatic and build is net_scene:
        with pytest.raises(SceneError, match="free to move"):
            advance(choice(), build(), 1)
        return
    scene = build()
    system = scene.system()
    state, memory = advance(choice(), scene, 3, system=system)
    q, v = state.q.copy(), state.v.copy()
    kept = copy.copy(memory)
    a = choice().step(system, state, 0.002, memory)
    b = choice().step(system, state, 0.002, kept)
    assert np.array_equal(state.q, q) and np.array_equal(state.v, v)
    assert a.state.q.tobytes() == b.state.q.tobytes()
    assert a.state.v.tobytes() == b.state.v.tobytes()


@pytest.mark.parametrize("choice", INTEGRATORS, ids=lambda c: c.__name__)
def test_a_new_system_object_continues_exactly(choice):
    """Restart: the second half on a system built anew gives the bytes of the uninterrupted run."""
    scene = beam_scene()
    whole, _ = advance(choice(), scene, 6)
    half, memory = advance(choice(), scene, 3)
    rest, _ = advance(choice(), scene, 3, state=half, memory=memory)
    assert whole.q.tobytes() == rest.q.tobytes()
    assert whole.v.tobytes() == rest.v.tobytes()


@pytest.mark.parametrize("choice", INTEGRATORS, ids=lambda c: c.__name__)
def test_scripted_vertices_end_where_the_script_says(choice):
    scene = SCENES["beam shaken"]()
    system = scene.system()
    state, _ = advance(choice(), scene, 5, system=system)
    held = np.setdiff1d(np.arange(len(state.q)), system.free)
    assert np.array_equal(state.q[held], system.prescribe(state.q, state.t)[held])
