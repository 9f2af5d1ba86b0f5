"""The first minute: what is compiled is announced, names are found, the shell completes."""

import json

import numba
from typer.testing import CliRunner

from pliant.cli.app import app
from pliant.cli.complete import formats, runs, scenes, settings
from pliant.errors import SceneError
from pliant.kernels.compiling import announced


def test_every_kernel_that_is_compiled_is_announced_once():
    @numba.njit
    def inner(x):
        return x + 1.0

    @numba.njit
    def outer(x):
        return 2.0 * inner(x)

    began, ended = [], []
    with announced(began.append, lambda name, seconds: ended.append((name, seconds))):
        assert outer(1.0) == outer(1.0) == 4.0
    assert began == ["outer"] and ended[0][0] == "outer" and ended[0][1] > 0.0


def test_list_searches_names_and_descriptions():
    found = json.loads(CliRunner().invoke(app, ["list", "rope", "--json"]).stdout)
    assert "chen/elastic-rope" in found["scenes"] and "rope" in found["mesh generators"]
    assert "integrator" not in found
    nothing = CliRunner().invoke(app, ["list", "xyzzy"])
    assert isinstance(nothing.exception, SceneError) and "nothing matches 'xyzzy'" in str(nothing.exception)


def test_completion(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    (tmp_path / "runs" / "mine" / "report.json").touch()
    (tmp_path / "bar.toml").touch()
    assert {"bar-twist", "bar.toml"} <= set(scenes("bar"))
    assert runs("runs/") == runs("") == ["runs/mine"]
    assert "material.E=" in settings("mat") and "integrator=bdf2" in settings("integrator=b")
    assert "mp4" in formats("m")
