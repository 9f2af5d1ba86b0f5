"""Under a certificate nothing crosses: soft lumps thrown at each other with steps that are far too long."""

import numpy as np
import pytest

import pliant as pl
from pliant.attempt import trouble_of
from pliant.bench.trust.barrier import pierced, play, thrown
from pliant.mesh import bar
from pliant.state import State, Step


@pytest.mark.parametrize("seed", [2, 9, 10])
def test_no_certified_step_lets_anything_cross(seed):
    """These passed through each other at a distance of 3e-11 of their size."""
    end, done, crossed, distance = play(seed)
    assert end in ("finished", "failed step") and done > 5
    assert crossed == 0 and distance > 0.0


def two_cubes(gap: float) -> pl.Scene:
    cubes = [bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)).transformed(translate=(0, 0, z)) for z in (0.0, 0.1 + gap)]
    solids = [pl.Solid(c, pl.StableNeoHookean(E=1e4, nu=0.4), density=1000.0, name=f"cube {c.X[0, 2]}") for c in cubes]
    return pl.Scene(bodies=solids, contact=pl.BarrierContact(), h=1e-3, duration=1e-2)


def test_a_state_with_crossings_is_refused_whatever_the_solver_said():
    scene = two_cubes(0.01)
    system = scene.system()
    good = scene.initial(system)
    assert system.crossings(good.q, 0.0) == 0 and trouble_of(Step(good, None), system) == ""
    q = good.q.copy()
    q.reshape(-1, 3)[8:] += (0.03, 0.04, -0.05)  # the upper cube, into the lower one
    assert system.crossings(q, 0.0) > 0 and pierced(scene, q.reshape(-1, 3))
    assert "pass through" in trouble_of(Step(State(q, 0 * q), None), system)


def test_the_floor_is_a_barrier_too():
    cube = bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
    solid = pl.Solid(cube, pl.StableNeoHookean(E=1e4, nu=0.4), density=1000.0)
    scene = pl.Scene(
        bodies=[solid], obstacles=[pl.Plane(point=(0, 0, -0.01))], contact=pl.BarrierContact(), h=1e-3, duration=1
    )
    system = scene.system()
    q = scene.initial(system).q
    assert system.crossings(q, 0.0) == 0
    assert system.crossings(q - 0.02, 0.0) == 4  # the vertices of its lower side


def test_the_exact_check_agrees_with_a_sweep_over_all_pairs():
    rng = np.random.default_rng(1)
    scene = thrown(5)
    system = scene.system()
    q = scene.initial(system).q
    found = 0
    for size in (0.0, 0.2, 0.5, 1.0):
        x = q + size * rng.normal(size=len(q))
        crossed = system.crossings(x, 0.0) > 0
        assert crossed == pierced(scene, x.reshape(-1, 3))
        found += crossed
    assert found >= 2
