"""Every scene file of the examples runs, and ends where its physics says it must."""

from pathlib import Path

import numpy as np
import pytest

from pliant.record import record
from pliant.scene_file import load_scene

SCENES = sorted((Path(__file__).parents[2] / "examples" / "scenes").glob("*.toml"))


@pytest.mark.parametrize("path", SCENES, ids=lambda p: p.stem)
def test_example_scene_runs(path, tmp_path):
    loaded = load_scene(path, ["duration=0.1 s"])
    run = record(loaded.scene, tmp_path, output=loaded.output, origin=loaded.origin)
    assert run.report["status"] == "finished" and run.report["unconverged"] == 0
    frame = run.frames[-1]
    assert np.isfinite(frame.points).all() and set(loaded.output.channels) == {*frame.point_values, *frame.cell_values}


def test_the_shaken_end_is_where_the_script_says(tmp_path):
    loaded = load_scene(SCENES[0], ["duration=0.1 s"])
    run = record(loaded.scene, tmp_path)
    held = loaded.scene.bodies[0].pins[0].vertices
    moved = run.frames[-1].points[held] - run.frames[0].points[held]
    np.testing.assert_allclose(moved, np.tile([0, 0, 0.03 * np.sin(4 * np.pi * 0.1)], (len(held), 1)), atol=1e-12)
