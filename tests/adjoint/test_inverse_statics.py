"""Rest shapes of bodies that hang as drawn."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.adjoint.inverse_statics import rest_shape
from pliant.errors import ConvergenceError, SceneError

MESH = pl.mesh.bar((0.3, 0.05, 0.05), (6, 1, 1))
HELD = pl.Pin(np.flatnonzero(MESH.X[:, 0] < 1e-9))


def straight(E):
    bar = pl.Solid(MESH, pl.StableNeoHookean(E, 0.4), pins=HELD, name="bar")
    solver = pl.Newton(tolerance=pl.Tolerance(1e-12, 1e-12))
    return pl.Scene([bar], pl.Quasistatic(solver), h=1.0, duration=1.0)


@pytest.mark.parametrize("E", [1e7, 3e5])
def test_a_bar_hangs_as_drawn(E):
    """From its rest shape, disturbed, it comes to the wanted shape by itself."""
    scene = straight(E)
    found = rest_shape(scene, "bar")
    assert found.stable and found.steps <= 10
    assert np.abs(found.mesh.X - MESH.X).max() > 1e-4
    disturbed = MESH.X + 1e-4 * np.sin(20 * MESH.X) * (MESH.X[:, :1] > 1e-9)
    *_, last = pl.simulate(scene.with_body(0, replace(scene.bodies[0], mesh=found.mesh, positions=disturbed)))
    assert np.abs(last.state.q.reshape(-1, 3) - MESH.X).max() < 1e-7 * 0.3


def test_what_cannot_hang_straight_is_said():
    try:
        assert not rest_shape(straight(3e3), "bar").stable
    except ConvergenceError as error:
        assert "of the weight" in str(error)


def test_more_than_weight_is_refused():
    scene = straight(1e6)
    other = replace(scene.bodies[0], name="other", mesh=MESH.transformed(translate=(0, 1, 0)))
    with pytest.raises(SceneError, match="one body"):
        rest_shape(replace(scene, bodies=[*scene.bodies, other]), "bar")
