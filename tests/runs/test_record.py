"""Run folders: complete, readable, the same after an interruption, and made again by their own scene file."""

import json
import os
import signal
from dataclasses import replace
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest

import pliant
from pliant.bench.runs import restart
from pliant.errors import RunError
from pliant.integrators import BDF1
from pliant.record import Interrupted, Output, load, record, resume
from pliant.record.channels import CELL_CHANNELS, POINT_CHANNELS
from pliant.record.summary import versions
from pliant.scene_file import load_scene
from pliant.scenes.basic import cantilever, net
from pliant.simulate import simulate


def short(**options):
    return replace(cantilever(cells=1), **{"duration": 0.1, **options})


def test_a_run_folder_holds_everything_and_runs_again_by_itself(tmp_path):
    scene = short()
    run = record(scene, tmp_path / "a")
    names = {path.name for path in run.folder.iterdir()}
    assert names == {"scene.toml", "body-0.npz", "frames.vtkhdf", "ledger.csv", "report.json", "checkpoint.h5"}
    steps = list(simulate(scene))
    assert len(run.frames) == 11
    np.testing.assert_array_equal(run.frames[-1].points.ravel(), steps[-1].state.q)
    np.testing.assert_array_equal(run.ledger["numerical"][1:], [s.ledger.numerical for s in steps])
    np.testing.assert_array_equal(run.ledger["iterations"][1:], [s.report.iterations for s in steps])
    assert run.report["status"] == "finished" and run.report["done"] == 10
    assert run.report["counts"]["factorizations"] == run.ledger["factorizations"].sum()
    again = load_scene(tmp_path / "a")
    copy = record(again.scene, tmp_path / "b", origin=again.origin)
    assert copy.checkpoint.state.q.tobytes() == run.checkpoint.state.q.tobytes()
    assert (tmp_path / "a" / "scene.toml").read_bytes() == (tmp_path / "b" / "scene.toml").read_bytes()


def test_all_channels_are_recorded_and_mean_what_they_say(tmp_path):
    scene = short(duration=0.02)
    run = record(scene, tmp_path, output=Output(channels=(*POINT_CHANNELS, *CELL_CHANNELS)))
    system, state, frame = scene.system(), run.checkpoint.state, run.frames[-1]
    elastic = system.energy_terms[0]
    np.testing.assert_array_equal(frame.point_values["velocity"].ravel(), state.v)
    np.testing.assert_array_equal(frame.point_values["displacement"], frame.points - scene.bodies[0].mesh.X)
    np.testing.assert_array_equal(frame.point_values["elastic_force"].ravel(), -elastic.gradient(state.q))
    assert not frame.point_values["contact_force"].any() and not frame.point_values["friction_force"].any()
    total = frame.cell_values["strain_energy"] @ scene.bodies[0].mesh.measures()
    assert total == pytest.approx(elastic.value(state.q), rel=1e-9)
    F = np.linalg.det(np.eye(3) + 0 * frame.cell_values["strain"].reshape(-1, 3, 3))
    assert F.shape == frame.cell_values["det_F"].shape
    E = frame.cell_values["strain"].reshape(-1, 3, 3)  # det(F)^2 = det(F^T F) = det(2 E + I)
    np.testing.assert_allclose(np.linalg.det(2 * E + np.eye(3)), frame.cell_values["det_F"] ** 2, rtol=1e-12)


def test_the_ledger_begins_with_a_certified_row(tmp_path):
    """det F of the start is that of the rest shape, and a run without failures has none in any row."""
    run = record(short(), tmp_path / "a")
    assert run.ledger["converged"].all() and run.ledger["min_det"][0] == pytest.approx(1.0)


def test_every_k_steps(tmp_path):
    run = record(short(), tmp_path, output=Output(every=4))
    np.testing.assert_allclose(run.frames.times, [0.0, 0.04, 0.08, 0.1])
    assert len(run.ledger["t"]) == 11


def test_killed_in_step_11_and_resumed_is_byte_equal(tmp_path):
    """Elastic bodies, and a mixture in contact."""
    names = ("BDF2 QLB", "SDIRK2 Newton", "Verlet", "ball, chain and cloth, rows")
    folders = {name: tmp_path / str(k) for k, name in enumerate(names)}
    restart.child("kill", folders)
    for folder in folders.values():
        assert load(folder).report["status"] == "running"
        assert len(load(folder).frames) == 12  # recorded further than it was saved
    restart.child("resume", folders)
    for name, folder in folders.items():
        scene = restart.cases()[name].scene()
        whole = record(scene, tmp_path / ("whole" + folder.name), output=Output(checkpoint_every=10))
        assert restart.equal(whole.folder, folder)
        if name == names[-1]:
            assert max(whole.ledger["contacts"]) > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_finishes_the_step_saves_and_can_be_resumed(tmp_path, number):
    scene = replace(net(cells=3), duration=0.1)

    def stop(step):
        if step.index == 4:
            os.kill(os.getpid(), number)

    with pytest.raises(Interrupted, match="after step 4 of 10"):
        record(scene, tmp_path / "a", watch=stop)
    assert load(tmp_path / "a").report["status"] == "interrupted"
    assert load(tmp_path / "a").checkpoint.step == 4
    run = resume(tmp_path / "a")
    whole = record(scene, tmp_path / "b")
    assert run.checkpoint.state.q.tobytes() == whole.checkpoint.state.q.tobytes()
    assert run.report["counts"] == whole.report["counts"]
    assert run.report["numerical"] == whole.report["numerical"]
    assert resume(tmp_path / "a").report["done"] == 10  # nothing left to do


def test_a_python_only_scene_is_resumed_by_handing_it_over(tmp_path):
    class Mine(BDF1):
        pass

    scene = replace(net(cells=2), duration=0.05, integrator=Mine())
    record(scene, tmp_path / "a")
    assert "made_in_python" in (tmp_path / "a" / "scene.toml").read_text()
    with pytest.raises(Exception, match="built in Python"):
        resume(tmp_path / "a")
    longer = resume(tmp_path / "a", replace(scene, duration=0.1))
    assert longer.checkpoint.step == 10


def test_a_folder_with_a_run_is_not_overwritten_by_accident(tmp_path):
    record(short(duration=0.01), tmp_path)
    with pytest.raises(RunError, match="already holds a run"):
        record(short(duration=0.01), tmp_path)
    record(short(duration=0.02), tmp_path, overwrite=True)
    assert load(tmp_path).report["done"] == 2
    with pytest.raises(RunError, match="not a run folder"):
        load(tmp_path / "nothing")


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="cannot write"):
        record(short(), tmp_path / "file" / "run")


def test_the_report_is_strict_json(tmp_path):
    record(short(duration=0.01), tmp_path)
    text = (tmp_path / "report.json").read_text()
    json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_sources_that_were_not_installed_say_their_version(monkeypatch):
    """A copy of the package on the path is no distribution that Python knows of."""

    def unknown(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", unknown)
    assert versions()["pliant"] == pliant.__version__


@pytest.mark.parametrize("left", ["first", "last"])
def test_killed_between_the_last_checkpoint_and_the_last_report(tmp_path, left):
    """All steps are there, only the report does not say so: resuming finishes it and changes nothing else."""
    scene = short(duration=0.05)
    whole = record(scene, tmp_path / "run")
    report, frames = whole.folder / "report.json", [frame.points for frame in whole.frames]
    ledger, said = (whole.folder / "ledger.csv").read_bytes(), json.loads(report.read_text())
    begun = {"done": 0, "iterations": 0} if left == "first" else {}
    report.write_text(json.dumps(said | begun | {"status": "running"}))
    again = resume(whole.folder)
    assert again.report["status"] == "finished" and again.report["done"] == said["done"]
    assert again.report["iterations"] == said["iterations"]
    assert (whole.folder / "ledger.csv").read_bytes() == ledger
    assert all(np.array_equal(a.points, b) for a, b in zip(again.frames, frames, strict=True))
