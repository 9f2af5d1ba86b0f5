"""What moves by more than the thickness of a wall in one step does not pass through it."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.obstacles import Box
from pliant.contact.pose import passage
from pliant.contact.setting import Setting, Shape
from pliant.contact.swept import entries
from pliant.maps.pins import Pin
from pliant.mesh import ball, box

RUBBER = pl.StableNeoHookean(1e6, 0.4)


def shot(speed: float) -> pl.Solid:
    """A ball of 10 cm that flies along x and would be behind x = 0 in its first steps of 10 ms."""
    mesh = ball(radius=0.05, cells=3).transformed(translate=(-0.15, 0.0, 0.0))
    return pl.Solid(mesh, RUBBER, density=1000, velocity=(speed, 0.0, 0.0), name="ball")


def wall() -> pl.Solid:
    mesh = box((0.02, 0.4, 0.4), (1, 8, 8)).transformed(translate=(0.0, -0.2, -0.2))
    rim = np.flatnonzero((np.abs(np.abs(mesh.X[:, 1:]) - 0.2) < 1e-9).any(axis=1))
    return pl.Solid(mesh, pl.StableNeoHookean(1e8, 0.3), density=2000, pins=Pin(rim), name="wall")


@pytest.mark.parametrize("kind", ["obstacle", "body"])
def test_a_fast_ball_does_not_pass_a_thin_wall(kind: str) -> None:
    obstacles = [Box((0.01, 0.0, 0.0), (0.02, 0.4, 0.4))] if kind == "obstacle" else []
    scene = pl.Scene(
        [shot(20.0)] + ([wall()] if kind == "body" else []),
        contact=pl.PenaltyContact(),
        obstacles=obstacles,
        integrator=pl.BDF1(),
        gravity=(0.0, 0.0, 0.0),
        h=0.01,
        duration=0.06,
        on_failure="substep",  # the blow deforms ball and wall by much of their size
    )
    n = len(scene.bodies[0].mesh.X)
    for step in pl.simulate(scene):
        assert step.state.q.reshape(-1, 3)[:n, 0].mean() < 0.0
    assert step.state.v.reshape(-1, 3)[:n, 0].mean() < 0.5  # it was stopped, or thrown back


@pytest.mark.parametrize("speed", [5.0, 15.0])
def test_bars_across_each_other_meet_by_their_edges(speed: float) -> None:
    """In one step of 10 ms the upper bar falls by more than both are thick: rows of edges see it coming."""
    lower = box((0.2, 0.04, 0.04), (4, 1, 1)).transformed(translate=(-0.1, -0.02, 0.001))
    upper = box((0.04, 0.2, 0.04), (1, 4, 1)).transformed(translate=(-0.02, -0.1, 0.091))
    scene = pl.Scene(
        [pl.Rigid(lower, name="lower"), pl.Rigid(upper, velocity=(0.0, 0.0, -speed), name="upper")],
        contact=pl.RowContact(edges=True),
        obstacles=[pl.Plane()],
        integrator=pl.LinearlyImplicit(),
        h=0.01,
        duration=0.05,
    )
    for step in pl.simulate(scene):
        x = step.system.positions(step.state.q).reshape(2, -1, 3)
        assert x[1, :, 2].min() > x[0, :, 2].max()
        assert step.report.contacts < 50


def test_ways_enter_where_they_first_meet_the_surface() -> None:
    mesh = box((0.1, 0.1, 0.1), (1, 1, 1)).transformed(translate=(-0.2, 0.0, 0.0))
    plate = Box((0.0, 0.05, 0.05), (0.02, 1.0, 1.0))
    setting = Setting([Shape(mesh, np.ones(len(mesh.X)), "cube")], [plate])
    still = [passage(None, 0.0, 0.01)]
    found = entries(setting, still, mesh.X, np.tile([0.4, 0.1, 0.0], (8, 1)), 0.05)
    assert found is not None and len(found.which) == 8
    np.testing.assert_allclose(found.point[:, 0], -0.01, atol=1e-5)
    np.testing.assert_allclose(found.normal, np.tile([-1.0, 0.0, 0.0], (8, 1)), atol=1e-12)
    from_start = found.point - mesh.X[found.which]
    np.testing.assert_allclose(from_start[:, 1], 0.25 * from_start[:, 0], atol=1e-12)
    assert entries(setting, still, mesh.X, np.full((8, 3), 0.01), 0.05) is None
