"""The command line in processes of its own: output, exit codes, one-line errors, interruption."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from pliant.cli.app import app
from pliant.errors import PliantError
from pliant.mesh import bar

SMALL = ["--set", "parameters.cells=1", "--duration", "0.05"]


def pliant(*arguments, cwd=None):
    return subprocess.run([sys.executable, "-m", "pliant", *arguments], capture_output=True, text=True, cwd=cwd)


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_run_records_and_reports(tmp_path):
    done = invoke("run", "cantilever", *SMALL, "--out", str(tmp_path / "a"), "--json")
    assert done.exit_code == 0
    told = json.loads(done.stdout)
    assert told["status"] == "finished" and told["done"] == 5
    assert (tmp_path / "a" / "frames.vtkhdf").exists()
    done = invoke("run", str(tmp_path / "a" / "scene.toml"), "--out", str(tmp_path / "b"), "--headless")
    assert done.exit_code == 0 and "5 steps" in done.stdout
    assert invoke("resume", str(tmp_path / "b")).exit_code == 0


def test_without_a_folder_the_next_free_one_is_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert invoke("run", "net", *SMALL, "--headless").exit_code == 0
    assert sorted(os.listdir("runs")) == ["net", "net-2"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "cantilevr"),
        ("run", "missing.toml"),
        ("run", "cantilever", "--set", "material.E=100 kg"),
        ("run", "cantilever", "--set", "h"),
        ("run", "cantilever", "--set", "integrater=bdf1"),
        ("resume", "nowhere"),
        ("replay", "nowhere"),
        ("advise", "nothing"),
        ("bench", "runs/nothing"),
        ("doctor", "missing.msh"),
    ],
)
def test_errors_made_by_the_user_are_known_errors(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = invoke(*arguments)
    assert isinstance(done.exception, PliantError), done.exception
    assert "\n" not in str(done.exception)
    assert not (tmp_path / "runs").exists()


def test_a_known_error_is_one_line_and_exit_code_two(tmp_path):
    done = pliant("run", "cantilevr", cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "did you mean 'cantilever'" in done.stderr


def test_a_numerical_failure_is_exit_code_one_and_its_bundle_replays(tmp_path):
    settings = ["--set", "integrator=verlet", "--h", "1 s", "--duration", "1000"]
    done = pliant("run", "cantilever", "--set", "parameters.cells=1", *settings, "--out", "x", cwd=tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "pliant replay x/failure" in done.stderr
    again = pliant("replay", "x/failure", cwd=tmp_path)
    assert again.returncode == 0 and "the same to the last bit" in again.stdout


def test_ctrl_c_finishes_the_step_saves_and_says_how_to_go_on(tmp_path):
    command = [sys.executable, "-m", "pliant", "run", "net", "--set", "parameters.cells=3", "--duration", "10000"]
    child = subprocess.Popen([*command, "--out", "x"], stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    for _ in range(600):
        time.sleep(0.1)
        ledger = tmp_path / "x" / "ledger.csv"
        if ledger.exists() and ledger.read_text().count("\n") > 5:
            break
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130 and "pliant resume x" in said and "Traceback" not in said
    report = json.loads((tmp_path / "x" / "report.json").read_text())
    assert report["status"] == "interrupted" and report["done"] >= 4


def test_list_shows_scenes_and_writes_one_as_a_file(tmp_path):
    told = json.loads(invoke("list", "--json").stdout)
    assert {"cantilever", "qlb/bar"} <= set(told["scenes"])
    assert {"bdf2", "verlet"} <= set(told["integrator"]) and "von_mises" in told["channels"]
    assert "[[bodies]]" in invoke("list", "cantilever").stdout
    assert invoke("list", "cantilever", "--to", str(tmp_path / "c")).exit_code == 0
    assert (tmp_path / "c" / "scene.toml").exists() and (tmp_path / "c" / "body-0.npz").exists()
    assert invoke("list").exit_code == 0


def test_doctor_draws_the_bad_spots_of_a_refused_mesh(tmp_path):
    mesh = bar(cells=(2, 1, 1))
    T = mesh.T.copy()
    T[3, [0, 1]] = T[3, [1, 0]]
    np.savez(tmp_path / "bad.npz", X=mesh.X, T=T)
    np.savez(tmp_path / "good.npz", X=mesh.X, T=mesh.T)
    done = invoke("doctor", str(tmp_path / "bad.npz"))
    assert done.exit_code == 1 and "inverted" in done.stdout
    assert (tmp_path / "bad-doctor.png").stat().st_size > 1000
    assert invoke("doctor", str(tmp_path / "good.npz"), "--json").exit_code == 0


def test_doctor_of_the_machine_measures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = json.loads(invoke("doctor", "--json").stdout)
    assert told["machine"]["cores"] >= 1 and all(value > 0 for value in told["speed"].values())


def test_advise_and_bench_speak_json():
    told = json.loads(invoke("advise", "cantilever", "--set", "parameters.cells=1", "--json").stdout)
    assert told["modes"][0]["frequency"] > 0 and told["suggestions"]
    assert invoke("advise", "cantilever", "--set", "parameters.cells=1").exit_code == 0
    assert "runs/restart" in json.loads(invoke("bench", "--json").stdout)
    told = json.loads(invoke("bench", "runs/ledger", "--quick", "--json").stdout)
    assert {"id", "machine", "rows", "claims"} <= set(told) and told["id"] == "runs/ledger"


def test_help_is_quick_to_import_and_names_every_command():
    """The command line must not pull in the simulator before it is needed."""
    program = "import sys, pliant.cli.app; print([m for m in ('numpy', 'numba', 'scipy', 'h5py') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip() == "[]"
    text = invoke("--help").stdout
    assert all(name in text for name in ("run", "resume", "replay", "list", "doctor", "advise", "bench"))


def test_public_names_are_there_and_lazy():
    program = (
        "import sys, pliant as pl; assert 'numpy' not in sys.modules; "
        "print(all([pl.Scene, pl.Solid, pl.Pin, pl.mesh.bar, pl.StableNeoHookean, pl.BDF2, pl.Newton, pl.QLB, "
        "pl.simulate, pl.load, pl.resume, pl.SceneError, pl.Rayleigh]), hasattr(pl, 'nonsense'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "True False", done.stderr
