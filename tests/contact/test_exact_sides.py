"""Sides in exact arithmetic, and how far a barrier lets a step go."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.intersect import intersections
from pliant.mesh import Mesh, bar


@pytest.mark.parametrize("below, crosses", [(-1e-300, True), (1e-300, False)])
def test_sides_too_close_for_floats_are_told_apart(below, crosses):
    """An edge between heights of 1e-300 m over a triangle: floating-point volumes cannot say on which side it ends."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.2, 0.2, below], [0.3, 0.3, 2e-300]])
    assert bool(len(intersections(x, np.array([[3, 4]]), np.array([[0, 1, 2]])))) is crosses


def test_a_barrier_limits_the_way_of_a_step():
    """A block a centimetre above another one may be moved down by less than that."""
    low = bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
    high = Mesh(low.X + np.array([0.013, 0.017, 0.11]), low.T)
    bodies = [pl.Solid(mesh, pl.StableNeoHookean(1e4, 0.3), density=1000.0) for mesh in (low, high)]
    scene = pl.Scene(bodies, contact=pl.BarrierContact(dhat=1e-3), integrator=pl.BDF1())
    system = scene.system()
    state = scene.initial(system)
    way = np.zeros_like(state.q)
    way[len(low.X) * 3 + 2 :: 3] = -1.0
    limit = system.at(state, 0.01, 0.01).limit(state.q, way)
    assert 0.005 < limit < 0.01
