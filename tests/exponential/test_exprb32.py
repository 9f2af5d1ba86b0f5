"""The embedded pair: it knows its error, keeps a bound on it, and is exact for linear forces."""

import numpy as np
import pytest

from pliant.bodies import Solid
from pliant.errors import SceneError
from pliant.integrators import ERE, EXPRB32, RK4
from pliant.maps.pins import Pin
from pliant.materials import Linear, StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.state import State

MESH = bar((0.3, 0.1, 0.1), (3, 1, 1))


def swinging(material):
    """A bar held at one end, bent and on its way; from rest the first error would grow otherwise in time."""
    system = Scene([Solid(MESH, material, pins=Pin(MESH.where(lambda X: X[:, 0] < 1e-9)))]).system()
    x = MESH.X + np.outer(MESH.X[:, 0] ** 2, [0.0, 0.0, 1.0])
    return system, State(x.ravel(), np.outer(MESH.X[:, 0] ** 2, [0.0, 5.0, 10.0]).ravel())


def marched(system, state, method, h, steps):
    memory, reports = None, []
    for _ in range(steps):
        step = method.step(system, state, h, memory)
        state, memory = step.state, step.memory
        reports += step.reports
    return state, reports


def test_linear_forces_leave_no_error():
    system, start = swinging(Linear(1e5, 0.3))
    _, (report,) = marched(system, start, EXPRB32(), 0.02, 1)
    assert report.residual < 1e-9


def test_the_estimate_bounds_the_error_of_ere():
    """Closely: it takes the neglected force to grow like t^2, where acceleration from rest lets it grow like t^4."""
    system, start = swinging(StableNeoHookean(2e4, 0.3))
    h = 1e-3
    exact, _ = marched(system, start, RK4(), h / 200, 200)
    ere, _ = marched(system, start, ERE(tolerance=1e-10, project="never"), h, 1)
    mine, (report,) = marched(system, start, EXPRB32(), h, 1)
    error = np.abs(ere.q - exact.q).max() / system.scale
    assert error < report.residual < 3.0 * error
    assert np.abs(mine.v - exact.v).max() < 0.5 * np.abs(ere.v - exact.v).max()


def test_steps_are_halved_until_the_error_is_small_enough():
    system, start = swinging(StableNeoHookean(2e4, 0.3))
    exact, _ = marched(system, start, RK4(), 1e-4, 800)
    errors = []
    for accuracy in (1e-3, 1e-5):
        end, reports = marched(system, start, EXPRB32(accuracy=accuracy), 0.02, 4)
        assert all(r.converged for r in reports)
        assert sum(r.residual <= accuracy for r in reports) >= 4
        errors.append(np.abs(end.q - exact.q).max() / system.scale)
    assert errors[0] < 1e-2 and errors[1] < 1e-4 and errors[1] < 0.1 * errors[0]


def test_an_accuracy_must_be_positive():
    with pytest.raises(SceneError, match="accuracy"):
        EXPRB32(accuracy=0.0)
