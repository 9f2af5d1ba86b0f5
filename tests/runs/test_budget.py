"""A step that uses up its CPU time has failed, whatever the policy; a limit that is not reached changes nothing."""

from dataclasses import replace

import pytest

import pliant as pl
from pliant.attempt import StepFailed
from pliant.bundle import replay
from pliant.errors import SceneError
from pliant.mesh import bar
from pliant.record import load
from pliant.scene_file import load_scene
from pliant.simulate import simulate

METHODS = (pl.BDF2(), pl.LinearlyImplicit(), pl.Verlet(substeps=50), pl.XPBD())


def scene(**options):
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(2, 1, 1))
    body = pl.Solid(mesh, pl.StableNeoHookean(E=1e4, nu=0.4), density=1000.0, pins=pl.Pin([0, 1, 2, 3]))
    return pl.Scene(bodies=[body], h=0.01, duration=0.05, **options)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("policy", ["raise", "warn", "substep"])
def test_a_step_that_takes_too_long_fails_and_leaves_a_bundle(tmp_path, method, policy):
    with pytest.raises(StepFailed, match="more than 1e-09 s of CPU time") as failed:
        scene(integrator=method, on_failure=policy, budget=1e-9).run(tmp_path / "run")
    assert load(tmp_path / "run").report["status"] == "failed"
    again = replay(failed.value.bundle)
    assert again.same and "CPU time" in again.reason


def test_a_limit_that_is_not_reached_changes_nothing():
    free, limited = (list(simulate(scene(budget=budget)))[-1].state for budget in (None, "1 min"))
    assert free.q.tobytes() == limited.q.tobytes() and free.v.tobytes() == limited.v.tobytes()


def test_it_is_kept_in_files(tmp_path):
    scene(budget="2 min").run(tmp_path / "run")
    assert load_scene(tmp_path / "run").scene.budget == 120.0
    assert load_scene("cantilever", ["budget=7"]).scene.budget == 7.0


@pytest.mark.parametrize("budget", [0, -1.0, float("nan"), "3 kg", [1, 2]])
def test_nonsense_is_refused(budget):
    with pytest.raises(SceneError if not isinstance(budget, str) else pl.errors.UnitError, match="budget"):
        replace(scene(), budget=budget)
