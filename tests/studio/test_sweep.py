"""Sweeps: all combinations, in processes, once each; the same numbers as single runs."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from pliant.cli.app import app
from pliant.cli.sweep import _show
from pliant.errors import SceneError
from pliant.record import Interrupted, load, record
from pliant.scene_file import load_scene
from pliant.simulate import simulate
from pliant.sweep import axis, points, run_point, sweep, sweep_batches

SMALL = ["parameters.cells=1", "duration=0.05"]
OVER = ["integrator=bdf1,bdf2", "h=0.01,0.025"]


def test_axes_are_read():
    assert axis("material.E=1e4, 1e5") == ("material.E", ("1e4", "1e5"))
    assert axis("gravity=[0,0,-1],[0,0,-2]") == ("gravity", ("[0,0,-1]", "[0,0,-2]"))
    for wrong in ("material.E", "=1,2", "h=0.1,,0.2", "h=1,1"):
        with pytest.raises(SceneError):
            axis(wrong)
    with pytest.raises(SceneError, match="given twice"):
        points("cantilever", ["h=1", "h=2"], [], Path("x"))


def test_the_table_holds_what_single_runs_give(tmp_path):
    todo = points("cantilever", OVER, SMALL, tmp_path / "sweep")
    assert [(p.swept["integrator"], p.swept["h"]) for p in todo] == [
        ("bdf1", "0.01"),
        ("bdf1", "0.025"),
        ("bdf2", "0.01"),
        ("bdf2", "0.025"),
    ]
    rows = sweep(todo, workers=2)
    for point, row in zip(todo, rows):
        single = record(load_scene("cantilever", point.settings).scene, tmp_path / point.folder.name)
        assert row["status"] == "finished" and row["energy"] == sum(single.report["energies"].values())
    with open(tmp_path / "sweep" / "sweep.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert [float(line["energy"]) for line in table] == [row["energy"] for row in rows]
    written = [load(point.folder).report["written"] for point in todo]
    assert run_point(todo[0]) == rows[0]
    assert [load(point.folder).report["written"] for point in todo] == written  # nothing was run again


def test_an_interrupted_point_goes_on(tmp_path):
    whole, cut = (points("cantilever", ["h=0.01"], SMALL, tmp_path / name)[0] for name in ("a", "b"))

    def stop(step):
        if step.index == 2:
            raise Interrupted("enough")

    loaded = load_scene("cantilever", cut.settings)
    with pytest.raises(Interrupted):
        record(loaded.scene, cut.folder, output=loaded.output, origin=loaded.origin, watch=stop)
    assert load(cut.folder).report["status"] == "interrupted"
    again, once = run_point(cut), run_point(whole)
    assert {**again, "seconds": 0} == {**once, "seconds": 0}


def test_a_point_that_cannot_run_is_a_row(tmp_path):
    row = run_point(points("cantilever", ["material.nu=0.7"], SMALL, tmp_path)[0])
    assert row["status"] == "failed" and "nu" in row["error"]


def test_the_command(tmp_path):
    done = CliRunner().invoke(
        app,
        ["sweep", "cantilever", "--over", "h=0.025", "--set", SMALL[0], "--set", SMALL[1], "--out", str(tmp_path)]
        + ["--workers", "1", "--json"],
    )
    assert done.exit_code == 0 and json.loads(done.stdout)[0]["steps"] == 2
    partly = CliRunner().invoke(
        app,
        ["sweep", "cantilever", "--over", "material.nu=0.3,0.7", "--set", SMALL[0], "--set", SMALL[1]]
        + ["--out", str(tmp_path), "--workers", "1", "--json"],
    )
    assert partly.exit_code == 1
    assert [row["status"] for row in json.loads(partly.stdout)] == ["finished", "failed"]
    failed = CliRunner().invoke(app, ["sweep", "cantilever", "--over", "material.G=1"])
    assert isinstance(failed.exception, SceneError)


def test_brackets_are_printed_and_not_taken_for_markup(capsys):
    _show([{"name": "a[/b]", "status": "failed", "error": "h is -1; give a positive time [s]"}])
    shown = capsys.readouterr().out
    assert "a[/b]" in shown and "time [s]" in shown


def test_a_batch_gives_what_single_runs_give(tmp_path):
    over = ["bodies.0.material.E=1e6,4e6", "bodies.0.density=900,1100"]
    todo = points("cantilever", over, SMALL, tmp_path / "sweep")
    rows = sweep_batches(todo, 3)
    assert [row["folder"] for row in rows] == ["batch-0.npz"] * 3 + ["batch-1.npz"]
    states = np.load(tmp_path / "sweep" / "batch-0.npz")
    assert not np.allclose(states["q"][0], states["q"][2], atol=1e-4)
    for k, (point, row) in enumerate(zip(todo, rows, strict=True)):
        *_, single = simulate(load_scene("cantilever", point.settings).scene)
        assert abs(row["energy"] - sum(single.ledger.energies.values())) < 1e-5 * single.ledger.scale
        if k < 3:
            assert np.abs(states["q"][k] - single.state.q).max() < 1e-6


@pytest.mark.parametrize("over", ["h=0.01,0.02", "parameters.cells=1,2"])
def test_what_differs_by_more_than_parameters_is_no_batch(tmp_path, over):
    with pytest.raises(SceneError, match="not stepped together"):
        sweep_batches(points("cantilever", [over], ["duration=0.05"], tmp_path), 2)
