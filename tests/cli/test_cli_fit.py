"""``pliant fit``: from a scene file and a CSV file to materials with their intervals."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.adjoint import completed, read_recording
from pliant.cli.app import app
from pliant.errors import PliantError, SceneError
from pliant.scene_file import load_scene

SCENE = """
name = "rod"
h = "10 ms"
duration = "0.2 s"
[[bodies]]
name = "rod"
mesh = { generator = "bar", size = ["30 cm", "10 cm", "10 cm"], cells = [3, 1, 1] }
material = { kind = "stable-neo-hookean", E = "50 kPa", nu = 0.3 }
damping = { kind = "rayleigh", beta = 2e-3 }
pins = [{ where = "x == min" }]
"""
TIP = "tip=x == max and y == max and z == max"


def invoke(*arguments):
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def files(tmp_path):
    """The scene with a modulus that is half of the true one, and what was seen of the tip, in millimetres."""
    scene = tmp_path / "rod.toml"
    scene.write_text(SCENE)
    true = load_scene(scene, ["material.E=100 kPa"]).scene
    X = true.bodies[0].mesh.X
    tip, low = int(np.argmax(X.sum(axis=1))), int(np.argmax(X @ [1, -1, -1]))
    random = np.random.default_rng(0)
    lines = [f"t,tip.x [mm],tip.y [mm],tip.z [mm],rod.{low}.z"]
    for step in pl.simulate(true):
        x = step.system.positions(step.state.q)
        x = x + 1e-5 * random.normal(size=x.shape)
        seen = [f"{1e3 * v:.6f}" for v in x[tip]] + [f"{x[low, 2]:.8f}"]
        lines.append(",".join([f"{step.state.t:.6f}", *seen]))
    lines[3] = lines[3].rsplit(",", 1)[0] + ","  # not seen once
    data = tmp_path / "seen.csv"
    data.write_text("\n".join(lines) + "\n")
    return scene, data


def test_the_modulus_is_found(files, tmp_path):
    scene, data = files
    out = tmp_path / "out"
    done = invoke("fit", str(scene), "--to", str(data), "--vary", "material.E", "--marker", TIP, "--out", str(out))
    assert done.exit_code == 0, done.output
    assert "bodies.rod.material.E" in done.stdout and "noise of the data" in done.stdout
    assert "--set bodies.rod.material.E=" in done.stdout
    told = json.loads((out / "fit.json").read_text())
    (found,) = told["parameters"]
    low, high = found["interval"]
    assert abs(found["value"] - 1e5) < 0.01 * 1e5 and low < found["value"] < high
    assert abs(found["value"] - 1e5) < high - low
    assert 0.5e-5 < told["noise"] < 2e-5 and told["converged"]
    assert (out / "fit.png").stat().st_size > 5000


def test_as_json_and_not_converged(files, tmp_path):
    scene, data = files
    given = ("fit", str(scene), "--to", str(data), "--vary", "material.E,damping.beta", "--marker", TIP)
    done = invoke(*given, "--runs", "1", "--out", str(tmp_path / "o"), "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout.splitlines()[0])
    assert not told["converged"] and [p["name"] for p in told["parameters"]] == [
        "bodies.rod.material.E",
        "bodies.rod.damping.beta",
    ]


def test_columns_in_their_units(files):
    scene, data = files
    loaded = load_scene(scene).scene
    seen = read_recording(data, loaded, {"tip": "x == max and y == max and z == max"})
    assert seen.names[0] == "tip" and len(seen.markers) == 2
    np.testing.assert_allclose(seen.times, 0.01 * np.arange(1, 21))
    assert abs(seen.places[0, 0, 0] - 0.3) < 1e-2
    assert np.isnan(seen.places[2, 1, 2]) and np.isnan(seen.places[:, 1, :2]).all()
    assert np.isfinite(seen.places[:, 0]).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t,tip.x\n", "no data"),
        ("t,tip.q\n0.1,1\n", "column 'tip.q'"),
        ("tip.x\n1\n", "0 columns t"),
        ("t,tip.x\n0.1,1,2\n", "3 fields of 2"),
        ("t,tip.x\n0.1,one\n", "'one'"),
        ("t,tip.x,tip.x\n0.1,1,1\n", "twice"),
        ("t,top.x\n0.1,1\n", "marker 'top'"),
        ("t,rod.99.x\n0.1,1\n", "vertex 99"),
        ("t,tip.x [kg]\n0.1,1\n", "kg"),
    ],
)
def test_files_that_cannot_be_used_are_refused(files, text, message):
    scene, data = files
    data.write_text(text)
    with pytest.raises(PliantError, match=message):
        read_recording(data, load_scene(scene).scene, {"tip": "x == max"})


def test_parameters_may_be_named_without_their_body(files):
    scene, _ = files
    loaded = load_scene(scene).scene
    assert completed(loaded, "material.nu") == "bodies.rod.material.nu"
    assert completed(loaded, "gravity") == "gravity"
    with pytest.raises(SceneError, match="no body has"):
        completed(loaded, "material.Q")


def test_wrong_words_are_one_line(files):
    scene, data = files
    for arguments, message in (
        (("--vary", "material.Q"), "no body has a number"),
        (("--vary", "material.E", "--marker", "tip"), "is not a marker"),
        (("--vary", "material.E"), "marker 'tip'"),
    ):
        done = invoke("fit", str(scene), "--to", str(data), *arguments)
        assert isinstance(done.exception, PliantError) and message in str(done.exception)
