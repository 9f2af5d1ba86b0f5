"""Pictures drawn without a screen: pixels are looked at, films are read back."""

import builtins
from pathlib import Path

import imageio.v2 as imageio
import numpy as np
import pytest
from typer.testing import CliRunner

from pliant.cli.app import app
from pliant.errors import MissingDependency, RunError
from pliant.export import Look, clip, write_film, write_png
from pliant.export.obstacles import scene_of, shapes_of
from pliant.record import record
from pliant.scene_file import load_scene


def test_the_body_is_in_the_middle_and_not_cut_off(run, tmp_path):
    image = imageio.imread(write_png(clip(run), tmp_path / "a.png", Look(size=(160, 90))))
    body = (image < 250).any(axis=2)
    assert image.shape == (90, 160, 3) and 0.08 < body.mean() < 0.6
    assert not (body[0].any() or body[-1].any() or body[:, 0].any() or body[:, -1].any())
    assert np.abs(np.argwhere(body).mean(axis=0) / (90, 160) - 0.5).max() < 0.1
    assert len(np.unique(image[body], axis=0)) > 10  # shaded


def test_a_channel_gives_colours(run, tmp_path):
    look = Look(size=(160, 90), channel="von_mises")
    image = imageio.imread(write_png(clip(run, ("von_mises",)), tmp_path / "a.png", look)).astype(int)
    body = (image < 250).any(axis=2)
    assert np.ptp(image[body], axis=1).max() > 60  # not grey


@pytest.mark.parametrize("ending", ["mp4", "gif"])
def test_films_play_in_real_time(ending, run, tmp_path):
    path = write_film(clip(run), tmp_path / f"a.{ending}", Look(size=(64, 48), fps=50))
    frames = [frame for frame in imageio.get_reader(path)]  # noqa: C416  (its length is unknown)
    assert len(frames) == 6  # 0.1 s at 50 frames per second, both ends included
    assert np.abs(frames[0].astype(int) - frames[-1].astype(int)).max() > 20  # it moves


def test_the_command(run, tmp_path):
    target = tmp_path / "picture"
    done = CliRunner().invoke(
        app, ["export", str(run.folder), "--to", "png", "--size", "64x48", "--frame", "3", "--out", str(target)]
    )
    assert done.exit_code == 0 and (tmp_path / "picture.png").stat().st_size > 0
    for wrong, told in (
        (["--to", "dwg"], "unknown format 'dwg'"),
        (["--to", "png", "--size", "big"], "is no size"),
        (["--to", "usd", "--frame", "99"], "no frame 99"),
        (["--to", "usd", "--every", "0"], "every is 0"),
    ):
        failed = CliRunner().invoke(app, ["export", str(run.folder), *wrong])
        assert isinstance(failed.exception, RunError) and told in str(failed.exception)


def test_a_missing_package_is_named_with_its_remedy(run, tmp_path, monkeypatch):
    original = builtins.__import__

    def without(name, *rest, **more):
        if name.split(".")[0] in ("pyvista", "pxr"):
            raise ImportError(name)
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    for to, remedy in (("png", "pip install pyvista"), ("usd", "pip install usd-core")):
        failed = CliRunner().invoke(app, ["export", str(run.folder), "--to", to, "--out", str(tmp_path / "x")])
        assert isinstance(failed.exception, MissingDependency) and remedy in str(failed.exception)


def test_the_floor_is_drawn_where_its_distance_vanishes(tmp_path):
    scenes = Path(__file__).parents[2] / "examples" / "scenes"
    loaded = load_scene(scenes / "shaken_bar.toml", ["duration=0.02", "obstacles.0.point=[0.0, 0.0, -0.03]"])
    run = record(loaded.scene, tmp_path / "run", output=loaded.output, origin=loaded.origin)
    (floor,) = shapes_of(scene_of(run), np.array([0.0, 0.0, -0.1]), np.array([0.4, 0.1, 0.1]))
    assert len(floor.triangles) and np.allclose(floor.at(0.0)[:, 2], -0.03, atol=1e-6)
    image = imageio.imread(write_png(clip(run), tmp_path / "a.png", Look(size=(160, 90)))).astype(int)
    sandy = (image[..., 0] > image[..., 2]) & (image[..., 0] < 250)  # the body is blue
    assert sandy.mean() > 0.02
