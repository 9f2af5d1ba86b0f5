"""Pictures drawn without a screen: pixels are looked at, films are read back."""

import builtins
from pathlib import Path

import imageio.v2 as imageio
import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.app import app
from pliant.errors import MissingDependency, RunError
from pliant.export import Look, clip, write_film, write_png
from pliant.export.obstacles import scene_of, shapes_of
from pliant.record import record
from pliant.scene_file import load_scene

PAPER = np.array([235, 232, 226])


def body_of(image):
    """Pixels of a body in its own colour, not of the paper or of the shadow on it, which are grey."""
    return np.ptp(image[..., :3].astype(int), axis=2) > 30


def test_the_body_is_in_the_middle_and_not_cut_off(run, tmp_path):
    image = imageio.imread(write_png(clip(run), tmp_path / "a.png", Look(size=(160, 90))))
    body = body_of(image)
    assert image.shape == (90, 160, 3) and 0.08 < body.mean() < 0.6
    assert not (body[0].any() or body[-1].any() or body[:, 0].any() or body[:, -1].any())
    assert np.abs(np.argwhere(body).mean(axis=0) / (90, 160) - 0.5).max() < 0.1
    assert len(np.unique(image[body], axis=0)) > 10  # shaded


def test_there_is_a_shadow_on_a_floor_without_an_end(run, tmp_path):
    image = imageio.imread(write_png(clip(run), tmp_path / "a.png", Look(size=(160, 90)))).astype(int)
    dark = ~body_of(image) & (image.sum(axis=2) < PAPER.sum() - 90)
    assert 0.01 < dark.mean() < 0.4
    rows, columns = np.nonzero(dark)
    body_rows, body_columns = np.nonzero(body_of(image))
    assert rows.mean() > body_rows.mean() and columns.mean() > body_columns.mean()  # the window is at the upper left
    assert (np.abs(image[:10] - PAPER) <= 1).all()  # no horizon


def test_every_body_has_its_own_colour(tmp_path):
    cube = pl.mesh.bar((0.1, 0.1, 0.1), (1, 1, 1))
    soft = pl.StableNeoHookean(E=1e5, nu=0.4)
    bodies = [pl.Solid(cube.transformed(translate=(0.15 * k, 0, 0)), soft, name=f"cube {k}") for k in range(2)]
    ball = pl.Rigid(cube.transformed(translate=(0.30, 0, 0)), name="die")
    scene = pl.Scene([*bodies, ball], integrator=pl.LinearlyImplicit(), h=0.01, duration=0.01)
    run = record(scene, tmp_path / "run")
    assert np.unique(run.frames.topology().bodies).tolist() == [0, 1, 2]
    image = imageio.imread(write_png(clip(run), tmp_path / "a.png", Look(size=(160, 90), camera="front"))).astype(int)
    for third, strongest in ((image[:, :60], 2), (image[:, 60:100], 0), (image[:, 100:], 1)):  # blue, orange, green
        mean = third[body_of(third)].mean(axis=0)
        assert np.argmax(mean) == strongest, mean


def test_the_camera_may_stand_elsewhere_turn_and_follow(run, tmp_path):
    small = {"size": (96, 64)}
    pictures = {
        name: imageio.imread(write_png(clip(run), tmp_path / f"{name}.png", Look(**small, **more))).astype(int)
        for name, more in {
            "fit": {},
            "front": {"camera": "front"},
            "given": {"camera": (0.0, -1.0, 0.12)},
            "near": {"zoom": 1.5},
            "edges": {"wireframe": True},
            "night": {"background": "#101418"},
            "stamped": {"stamp": True},
        }.items()
    }
    assert np.array_equal(pictures["front"], pictures["given"])
    assert body_of(pictures["near"]).sum() > 1.5 * body_of(pictures["fit"]).sum()
    assert (np.abs(pictures["edges"] - pictures["fit"]).max(axis=2) > 40)[body_of(pictures["fit"])].mean() > 0.05
    assert pictures["night"][0, 0].max() < 40
    changed = np.abs(pictures["stamped"] - pictures["fit"]).max(axis=2) > 20
    assert changed[48:, :48].any() and not changed[:48].any()  # only at the lower left
    film = write_film(clip(run), tmp_path / "a.gif", Look(**small, fps=20, orbit=90.0, follow=True))
    first, *_, last = [frame for frame in imageio.get_reader(film)]  # noqa: C416
    assert np.abs(first.astype(int) - last.astype(int)).max() > 60


def test_two_runs_stand_side_by_side_with_their_names(run, tmp_path):
    image = imageio.imread(write_png(clip(run), tmp_path / "a.png", Look(size=(240, 90)), [clip(run)])).astype(int)
    left, right = image[:, :120], image[:, 120:]
    body = body_of(left) & body_of(right)
    assert body.mean() > 0.05 and np.abs(left - right)[body].max() > 60  # the same body in two colours
    assert (left[:15].sum(axis=2) < 400).any()  # its name


def test_a_channel_gives_colours(run, tmp_path):
    channel, size = "von_mises", (160, 90)
    shown = clip(run, (channel,))
    image = imageio.imread(write_png(shown, tmp_path / "a.png", Look(size, channel))).astype(int)
    assert np.ptp(image[body_of(image)], axis=1).max() > 60  # not grey
    green = lambda image: (image[..., 1] > image[..., 2] + 20).mean()
    cold = imageio.imread(write_png(shown, tmp_path / "b.png", Look(size, channel, limits=(1e9, 2e9)))).astype(int)
    assert green(cold[:, :110]) < 0.2 * green(image[:, :110])  # everything is at the lower end; the bar is at the right


def test_looks_that_make_no_sense_are_refused():
    for wrong, told in (
        ({"camera": "behind"}, "unknown camera 'behind'"),
        ({"camera": (0.0, 0.0, 0.0)}, "not zero"),
        ({"limits": (1.0, 0.0)}, "lower one first"),
        ({"colours": "rainbows"}, "unknown colour map"),
        ({"background": "bluish"}, "unknown colour"),
        ({"speed": 0.0}, "--speed"),
    ):
        with pytest.raises(RunError, match=told):
            Look(**wrong)


@pytest.mark.parametrize("ending", ["mp4", "gif", "webp"])
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
        (["--to", "png", "--size", "big"], "is not a size"),
        (["--to", "usd", "--frame", "99"], "no frame 99"),
        (["--to", "usd", "--every", "0"], "every is 0"),
        (["--to", "usd", "--camera", "front"], "usd does not use 'front'"),
        (["--to", "png", "--orbit", "90"], "png does not use 90.0"),
        (["--to", "png", "--limits", "low"], "is not 2 numbers"),
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
    body = body_of(image)
    assert (body.mean() > 0.05) and (~body & (image.sum(axis=2) < 600)).mean() > 0.01  # its shadow lies on the floor
