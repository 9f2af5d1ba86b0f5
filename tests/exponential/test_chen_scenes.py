"""The thesis's scenes: every one builds and steps; collisions by projection; two of the figures at toy length."""

import numpy as np
import pytest

from pliant.bench.chen import fig5_2, fig5_4
from pliant.scenes import chen_solids as solids
from pliant.scenes import chen_springs as springs
from pliant.scenes import chen_structures as structures
from pliant.scenes.released import twisted
from pliant.state import State

SPRINGS = [
    springs.elastic_rope,
    springs.shaken_cloth,
    springs.falling_cloth,
    springs.mixed_cloth,
    springs.cape,
    springs.pendulum,
    solids.compressed_cylinder,
    lambda: solids.soft_bar(1e4, cells=(4, 1, 1)),
    lambda: solids.twisted_bar(cells=(4, 1, 1)),
    solids.strip,
    solids.continuous_strip,
    lambda: structures.cuboid(cells=(2, 2, 5)),
    lambda: structures.cuboid(cells=(2, 2, 5), arap=True),
]


@pytest.mark.parametrize("build", SPRINGS)
def test_every_scene_takes_its_first_steps(build):
    scene = build()
    system = scene.system()
    state, memory = scene.initial(system), None
    for _ in range(2):
        step = scene.integrator.step(system, state, float(scene.h), memory)
        state, memory = step.state, step.memory
        assert all(r.converged for r in step.reports)
    assert np.isfinite(state.q).all()


def test_projection_onto_a_sphere_keeps_tangential_motion_and_never_adds_energy():
    rng = np.random.default_rng(0)
    sphere = springs.Sphere()
    q = np.asarray(sphere.centre) + 0.9 * sphere.radius * rng.normal(size=(200, 3)) / np.sqrt(3)
    v = rng.normal(size=(200, 3))
    after = sphere(State(q.ravel(), v.ravel()))
    x, w = after.q.reshape(-1, 3), after.v.reshape(-1, 3)
    away = x - np.asarray(sphere.centre)
    assert np.linalg.norm(away, axis=1).min() >= sphere.radius
    moved = np.abs(x - q).max(axis=1) > 0
    n = away[moved] / np.linalg.norm(away[moved], axis=1)[:, None]
    assert (np.einsum("ij,ij->i", w[moved], n) >= -1e-12).all()
    tangential = lambda u: u[moved] - np.einsum("ij,ij->i", u[moved], n)[:, None] * n
    assert np.allclose(tangential(w), tangential(v))
    assert (w**2).sum() <= (v**2).sum()
    assert np.array_equal(x[~moved], q[~moved])


def test_a_twisted_start_keeps_the_ends_where_they_belong():
    system = structures.cuboid(cells=(2, 2, 5), turns=0.0).system()
    x = twisted(system.X, 0.25)
    low = system.X[:, 2] < 1e-9
    assert np.allclose(x[low], system.X[low])
    top = system.X[:, 2] > 0.3 - 1e-9
    quarter = system.X[top][:, [1, 0, 2]] * [-1, 1, 1] + [0.1, 0, 0]
    assert np.allclose(x[top], quarter)


@pytest.mark.parametrize("bench", [fig5_2, fig5_4], ids=["pendulum", "strip"])
def test_the_figures_of_the_additive_chapter_hold(bench, monkeypatch, tmp_path):
    monkeypatch.setattr("pliant.bench.chen.play.FOLDER", tmp_path)
    table = bench.run(quick=True)
    assert all(claim.holds for claim in table.claims), table.claims
    assert all((tmp_path / name.split("/")[-1]).exists() for name in table.figures)
