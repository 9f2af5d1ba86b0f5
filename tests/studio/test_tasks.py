"""What a new user sets out to do: every task is a scene file or at most 25 lines of Python, and does what it says."""

import runpy
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.app import app
from pliant.scene_file import choices, load_scene

TASKS = Path(__file__).parents[2] / "examples" / "tasks"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    yield
    choices.OWN.clear()


def run(name, *settings):
    return load_scene(TASKS / f"{name}.toml", settings).scene.run(name)


@pytest.mark.parametrize("path", sorted(TASKS.glob("*.py")), ids=lambda p: p.stem)
def test_no_task_takes_more_than_25_lines(path):
    assert len(path.read_text().splitlines()) <= 25


def told(capsys):
    """The file that a task says it has written."""
    return Path(capsys.readouterr().out.splitlines()[-1].split(": ")[1])


def test_stl_to_film(capsys):
    pytest.importorskip("pytetwild")
    pytest.importorskip("pyvista")
    runpy.run_path(str(TASKS / "stl_to_film.py"))
    assert told(capsys).stat().st_size > 2000
    assert pl.load("runs/duck").report["penetration"] > 0.0  # it has landed


def test_twist_and_compare_three_integrators(capsys):
    runpy.run_path(str(TASKS / "three_integrators.py"))
    assert told(capsys).stat().st_size > 5000


def test_two_bodies_from_a_file():
    made = run("two_bodies", "duration=0.25 s")
    ball, block = slice(0, None), made.frames[-1].points
    assert block[ball, 2].min() > -5e-3  # both rest on the floor
    assert made.report["penetration"] > 0.0 and made.report["unconverged"] == 0


def test_cloth_over_a_moving_sphere():
    """The cloth lies on the sphere and goes along with it; nothing of it is inside by more than its own thickness."""
    made = run("cloth_over_sphere", "duration=0.6 s")
    x = made.frames[-1].points
    center = np.array([0.2 * 0.2, 0.0, 0.0])
    assert np.linalg.norm(x - center, axis=1).min() > 0.12 - 2e-3
    assert np.abs(x[:, :2] - center[:2]).min() < 0.05 and x[:, 2].min() < 0.0 < x[:, 2].max()


def test_a_robot_lifts_a_block():
    made = run("robot_lifts_block")
    first, last = made.frames[0].points, made.frames[-1].points
    block = np.abs(first).max(axis=1) < 0.0602  # corners of the cube of 6 cm
    lifted = (last - first)[block & (np.abs(np.abs(first[:, 0]) - 0.03) < 1e-9), 2]
    assert len(lifted) >= 8 and lifted.min() > 0.03


def test_a_sweep_with_a_heat_map(capsys):
    runpy.run_path(str(TASKS / "heat_map.py"), run_name="__main__")
    assert told(capsys).stat().st_size > 5000


def test_a_material_by_its_energy_used_by_name_and_resumed():
    for name in ("own_material.toml", "gent.py"):
        shutil.copy(TASKS / name, name)
    whole = run("own_material").frames[-1].points
    choices.OWN.clear()
    asked = ["run", "own_material.toml", "--duration", "0.1", "--headless", "--out", "half"]
    assert CliRunner().invoke(app, asked).exit_code == 0
    go_on = ["resume", "half", "--set", "duration=0.3", "--out", "rest", "--headless"]
    refused = CliRunner().invoke(app, go_on)
    assert refused.exit_code != 0 and "--trust" in str(refused.exception)
    assert CliRunner().invoke(app, [*go_on, "--trust"]).exit_code == 0
    rest = pl.load("rest").frames[-1].points
    assert np.abs(rest - whole).max() < 2e-4  # BDF2 starts anew after a fork
