"""Run folders: one writer, nothing that does not fit is gone on with, changes are forks, torn files are readable."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import pliant as pl
from pliant.errors import RunError
from pliant.mesh import bar
from pliant.record import Interrupted, Output, fork, load, record, resume
from pliant.record.guard import RESERVE, locked
from pliant.scene_file import load_scene

METHOD = pl.BDF2()
SCENE = """
name = "beam"
h = 0.01
duration = 0.2
integrator = "bdf2"
output = { checkpoint_every = 5 }

[[bodies]]
mesh = { generator = "bar", size = [0.3, 0.1, 0.1], cells = [3, 1, 1] }
material = { kind = "stable-neo-hookean", E = 1e5, nu = 0.4 }
density = 1000
pins = { where = "x < 0.01" }
"""


def stopped(folder: Path, after: int = 12) -> Path:
    """A run that was interrupted after some steps."""
    folder.mkdir()
    (folder / "beam.toml").write_text(SCENE)
    loaded = load_scene(folder / "beam.toml")

    def stop(step):
        if step.index == after:
            raise Interrupted("enough")

    with pytest.raises(Interrupted):
        record(loaded.scene, folder / "run", output=loaded.output, origin=loaded.origin, watch=stop)
    return folder / "run"


@pytest.fixture
def run(tmp_path):
    return stopped(tmp_path / "here")


def test_an_untouched_folder_goes_on_to_the_same_bytes(tmp_path, run):
    loaded = load_scene(run.parent / "beam.toml")
    whole = record(loaded.scene, tmp_path / "whole", output=loaded.output, origin=loaded.origin)
    ended = resume(run)
    for name, column in whole.ledger.items():
        assert name == "seconds" or np.array_equal(column, ended.ledger[name], equal_nan=True), name
    assert [f.points.tobytes() for f in whole.frames] == [f.points.tobytes() for f in ended.frames]


CHANGES = {
    "another modulus": (
        "scene.toml",
        lambda text: text.replace("100000.0", "200000.0").replace("1e5", "2e5"),
        "scene.toml",
    ),
    "other pins": ("scene.toml", lambda text: text.replace("x < 0.01", "x < 0.2"), "scene.toml"),
    "another step": ("scene.toml", lambda text: text.replace("h = 0.01", "h = 0.02"), "scene.toml"),
    "another method": ("scene.toml", lambda text: text.replace("bdf2", "bdf1"), "scene.toml"),
    "an edited ledger": ("ledger.csv", lambda text: text.replace("0.01,", "0.02,", 1), "ledger.csv"),
    "a shorter ledger": ("ledger.csv", lambda text: text[: len(text) // 3], "ledger.csv"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_is_refused_by_name(run, what):
    name, change, said = CHANGES[what]
    before = (run / name).read_text()
    (run / name).write_text(change(before))
    assert (run / name).read_text() != before
    with pytest.raises(RunError, match=said):
        resume(run)


def test_a_flipped_bit_of_the_checkpoint_is_noticed(run):
    content = bytearray((run / "checkpoint.h5").read_bytes())
    q = load(run).checkpoint.state.q
    at = bytes(content).index(q.tobytes())
    content[at + 8 * 5 + 3] ^= 1
    (run / "checkpoint.h5").write_bytes(bytes(content))
    with pytest.raises(RunError, match="sums"):
        resume(run)


def test_a_step_that_cannot_be_is_noticed(run):
    with h5py.File(run / "checkpoint.h5", "r+") as file:
        tree = json.loads(file["tree"][...].tobytes())
        tree["fields"]["step"] = -5
        del file["tree"]
        file["tree"] = np.frombuffer(json.dumps(tree).encode("ascii"), dtype=np.uint8)
    with pytest.raises(RunError, match="sums"):
        resume(run)


def test_older_or_other_frames_are_noticed(run):
    with h5py.File(run / "frames.vtkhdf", "r+") as file:
        steps = file["VTKHDF/Steps"]
        steps.attrs.modify("NSteps", np.int64(3))
        steps["Values"].resize((3,))
    with pytest.raises(RunError, match=r"frames\.vtkhdf"):
        resume(run)


def test_a_moved_vertex_in_a_frame_is_noticed(run):
    with h5py.File(run / "frames.vtkhdf", "r+") as file:
        file["VTKHDF/Points"][3, 1] += 1e-9
    with pytest.raises(RunError, match=r"frames\.vtkhdf"):
        resume(run)


def test_a_scene_given_in_python_must_be_the_same(tmp_path):
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))

    def scene(E=1e5, h=0.01, pinned=0.01, integrator=METHOD):
        solid = pl.Solid(
            mesh, pl.StableNeoHookean(E=E, nu=0.4), density=1000.0, pins=pl.Pin(mesh.where(lambda X: X[:, 0] < pinned))
        )
        return pl.Scene(bodies=[solid], h=h, duration=20 * h, integrator=integrator)

    def stop(step):
        if step.index == 7:
            raise Interrupted("enough")

    with pytest.raises(Interrupted):
        record(scene(), tmp_path / "run", output=Output(checkpoint_every=2), watch=stop)
    for other, said in (({"E": 2e5}, "stiffness"), ({"h": 0.02}, "h"), ({"pinned": 0.2}, "pins")):
        with pytest.raises(RunError, match=said):
            resume(tmp_path / "run", scene(**other))
    with pytest.raises(RunError, match="integrator"):
        resume(tmp_path / "run", scene(integrator=pl.BDF1()))
    assert resume(tmp_path / "run", scene()).report["status"] == "finished"


def test_an_intended_change_is_a_fork_with_its_ancestry(tmp_path, run):
    before = {p.name: p.read_bytes() for p in run.iterdir()}
    made = fork(run, ["bodies.0.material.E=3e5"], tmp_path / "fork")
    assert made.report["status"] == "finished"
    told = json.loads((tmp_path / "fork" / "ancestry.json").read_text())
    assert told[0]["step"] == 10 and told[0]["settings"] == ["bodies.0.material.E=3e5"]
    assert (tmp_path / "fork" / told[0]["run"]).resolve() == run.resolve()
    assert made.ledger["step"][0] == 10 and made.ledger["t"][0] == pytest.approx(0.1)
    assert before == {p.name: p.read_bytes() for p in run.iterdir()}  # the old run is as it was
    again = fork(tmp_path / "fork", ["integrator=bdf1", "duration=0.3"], tmp_path / "again")
    assert len(json.loads((tmp_path / "again" / "ancestry.json").read_text())) == 2 and again.ledger["t"][-1] > 0.29


def test_one_writer_at_a_time(run):
    program = f"from pliant.record import resume; resume({str(run)!r})"
    with locked(run):
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        assert ended.returncode != 0 and f"process {os.getpid()}" in ended.stderr
        with pytest.raises(RunError, match="being written"):
            resume(run)
    assert resume(run).report["status"] == "finished"


def test_a_torn_last_line_does_not_hide_the_ledger(run):
    rows = len(load(run).ledger["step"])
    with open(run / "ledger.csv", "a") as file:
        file.write("13,0.13,0.0")
    assert len(load(run).ledger["step"]) == rows
    text = (run / "ledger.csv").read_text().splitlines()
    (run / "ledger.csv").write_text("\n".join([*text[:4], text[4][:9], *text[5:]]) + "\n")
    with pytest.raises(RunError, match="line 5"):
        _ = load(run).ledger
    (run / "ledger.csv").write_bytes(b"\0" * 500 + b"\n")
    with pytest.raises(RunError, match="ledger"):
        _ = load(run).ledger


def test_a_run_killed_before_its_first_checkpoint_starts_again(run):
    (run / "checkpoint.h5").unlink()
    ended = resume(run)
    assert ended.report["status"] == "finished" and ended.ledger["step"][0] == 0 and len(ended.frames) == 21


@pytest.mark.parametrize("call", ["pwrite", "replace", "fsync"])
def test_a_full_disk_is_an_error_of_one_line_and_the_report_says_so(tmp_path, monkeypatch, call):
    loaded_from = tmp_path / "beam.toml"
    loaded_from.write_text(SCENE)
    loaded = load_scene(loaded_from)
    real, left = getattr(os, call), [9]

    def full(*arguments, **options):
        left[0] -= 1
        if left[0] < 0 and (tmp_path / "run" / RESERVE).exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(*arguments, **options)

    monkeypatch.setattr(os, call, full)
    with pytest.raises(RunError, match="No space left"):
        record(loaded.scene, tmp_path / "run", output=loaded.output, origin=loaded.origin)
    monkeypatch.undo()
    assert load(tmp_path / "run").report["status"] == "failed"
    assert not (tmp_path / "run" / RESERVE).exists()
    assert resume(tmp_path / "run").report["status"] == "finished"  # when there is room again
