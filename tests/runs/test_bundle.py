"""Failure bundles: an explosion ends in an error and a folder from which the very step is repeated."""

import json
from dataclasses import dataclass, replace
from typing import ClassVar

import meshio
import numpy as np
import pytest
from typer.testing import CliRunner

from pliant.attempt import StepFailed
from pliant.bodies import Solid
from pliant.bundle import replay
from pliant.checkpoint import Checkpoint
from pliant.cli.app import app
from pliant.errors import RunError
from pliant.integrators import BDF1, BDF2, LinearlyImplicit, Verlet
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.record import load, record
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance
from pliant.state import State


def soft(E=1e4, **options):
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))
    body = Solid(mesh, StableNeoHookean(E, 0.4), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))
    return Scene([body], **{"integrator": BDF2(), "h": 0.01, "duration": 0.1, **options})


METHODS = {
    "verlet": Verlet(),
    "newton-3": BDF1(Newton(max_iterations=3)),
    "si": LinearlyImplicit(),
    "bdf2": BDF2(),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_scripted_explosion_never_makes_a_frame_that_is_not_finite(tmp_path, name):
    """A soft body falls about its held end; then its stiffness grows a millionfold and the step to one second."""
    moving = list(simulate(soft(E=2e3, duration=0.5)))[-1]
    stiff = soft(E=2e9, integrator=METHODS[name], h=1.0, duration=500.0)
    exploded = False
    try:
        record(stiff, tmp_path, start=Checkpoint(480, moving.state))
    except StepFailed as failed:
        exploded = True
        assert failed.bundle == tmp_path / "failure"
    run = load(tmp_path)
    assert all(np.isfinite(frame.points).all() for frame in run.frames)
    assert run.report["status"] == ("failed" if exploded else "finished")
    if name != "bdf2":
        assert exploded
        again = replay(tmp_path / "failure")
        assert again.same and again.reason == again.then
        assert replay(tmp_path).then == again.then  # the run it lies in will do


def test_a_gain_of_energy_is_judged_again_by_replay(tmp_path):
    moving = list(simulate(soft(E=2e3, duration=0.5)))[-1]
    stiff = soft(E=2e9, integrator=LinearlyImplicit(), h=1.0, duration=500.0, on_energy_gain="raise")
    with pytest.raises(StepFailed, match="energy gained"):
        record(stiff, tmp_path, start=Checkpoint(480, moving.state))
    again = replay(tmp_path / "failure")
    assert again.same and "energy gained" in again.reason and again.reason == again.then


def test_the_bundle_shows_where(tmp_path):
    scene = soft(integrator=BDF1(Newton(max_iterations=1)), h=0.5, duration=5.0)
    with pytest.raises(StepFailed):
        record(scene, tmp_path)
    told = json.loads((tmp_path / "failure" / "report.json").read_text())
    assert told["step"] == 1 and "iteration limit" in told["reason"]
    assert told["replay"] == f"pliant replay {tmp_path / 'failure'}"
    assert len(told["solves"][0]["history"]) == 2
    picture = meshio.read(tmp_path / "failure" / "offending.vtu")
    assert set(told["vertices"]) == set(picture.cells_dict["vertex"].ravel().tolist())
    held = np.flatnonzero(scene.bodies[0].mesh.X[:, 0] < 1e-9)
    assert not set(held) & set(told["vertices"]) or len(told["vertices"]) > 12
    again = replay(tmp_path / "failure")
    assert again.same and len(again.solves[0].history) == 2
    mended = replay(tmp_path / "failure", scene=replace(scene, integrator=BDF1()))
    assert not mended.same and "converges" in mended.reason


def test_what_is_no_bundle_is_refused(tmp_path):
    with pytest.raises(RunError, match="not a failure bundle"):
        replay(tmp_path)


def two_alike(**options):
    """Two solids of the same default name."""
    meshes = [bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1)).transformed(translate=(0, y, 0)) for y in (0.0, 0.5)]
    bodies = [Solid(mesh, StableNeoHookean(1e4, 0.4), pins=Pin(np.arange(4))) for mesh in meshes]
    return Scene(bodies, **{"integrator": BDF1(Newton(max_iterations=1)), "h": 0.5, "duration": 5.0, **options})


def test_bodies_of_one_name_do_not_hide_the_failure(tmp_path):
    with pytest.raises(StepFailed) as failed:
        record(two_alike(), tmp_path)
    assert failed.value.bundle == tmp_path / "failure" and load(tmp_path).report["status"] == "failed"
    told = json.loads((tmp_path / "failure" / "report.json").read_text())
    assert len(told["elements"]) == 2 and replay(tmp_path).same


def test_mixed_scenes_leave_a_bundle_too(tmp_path):
    """The energies of a part are numbered within it, not within the whole scene."""
    import pliant as pl

    block = pl.Rigid(bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)).transformed(translate=(0, 0, 1.0)), density=500.0)
    scene = two_alike()
    mixed = replace(scene, bodies=(block, *scene.bodies))
    with pytest.raises(StepFailed) as failed:
        record(mixed, tmp_path)
    assert failed.value.bundle is not None and replay(tmp_path).same


def test_where_substeps_fail_the_smallest_piece_is_repeated(tmp_path):
    hopeless = BDF1(Newton(max_iterations=1, tolerance=Tolerance(1e-15, 0.0)))
    scene = soft(integrator=hopeless, h=0.5, duration=5.0, on_failure="substep")
    with pytest.raises(StepFailed, match="h / 1024"):
        record(scene, tmp_path)
    told = json.loads((tmp_path / "failure" / "report.json").read_text())
    assert told["h"] == pytest.approx(0.5 / 1024)
    again = replay(tmp_path / "failure")
    assert again.same and len(again.solves[0].history) == 2


def test_a_gain_over_substeps_is_repeated_with_them(tmp_path):
    """The whole step fails and is cut; its pieces gain energy, and so does the replay."""
    scene = soft(integrator=Lively(BDF1()), h=0.2, duration=20.0, on_failure="substep", on_energy_gain="raise")
    with pytest.raises(StepFailed, match="energy gained"):
        record(scene, tmp_path)
    again = replay(tmp_path / "failure", scene=scene)
    assert again.same and again.reason == again.then


@dataclass(frozen=True)
class Lively:
    """A method that refuses long steps, and kicks in every short one."""

    inner: BDF1
    order: ClassVar[int] = 1

    def step(self, system, state, h, memory=None):
        made = self.inner.step(system, state, h, memory)
        if h > 0.06:
            refused = replace(made.reports[0], converged=False, message="too long")
            return replace(made, reports=(refused,))
        return replace(made, state=State(made.state.q, 1.5 * made.state.v, made.state.t))


def test_the_command_says_when_a_replay_is_not_the_same(tmp_path):
    with pytest.raises(StepFailed):
        record(soft(integrator=BDF1(Newton(max_iterations=1)), h=0.5, duration=5.0), tmp_path)
    assert CliRunner().invoke(app, ["replay", str(tmp_path)]).exit_code == 0
    path = tmp_path / "failure" / "report.json"
    told = json.loads(path.read_text())
    told["solves"][0]["history"][1]["residual"] *= 2.0
    path.write_text(json.dumps(told))
    shown = CliRunner().invoke(app, ["replay", str(tmp_path)])
    assert shown.exit_code == 1 and "NOT the same" in shown.output
