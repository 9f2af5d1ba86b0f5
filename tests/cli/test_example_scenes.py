"""Every scene file of the examples runs, and ends where its physics says it must."""

from pathlib import Path

import numpy as np
import pytest

from pliant.record import record
from pliant.scene_file import load_scene
from pliant.simulate import simulate

SCENES = sorted((Path(__file__).parents[2] / "examples" / "scenes").glob("*.toml"))
SHAKEN = next(path for path in SCENES if path.stem == "shaken_bar")


@pytest.mark.parametrize("path", SCENES, ids=lambda p: p.stem)
def test_example_scene_runs(path, tmp_path):
    loaded = load_scene(path, ["duration=0.1 s"])
    run = record(loaded.scene, tmp_path, output=loaded.output, origin=loaded.origin)
    assert run.report["status"] == "finished" and run.report["unconverged"] == 0
    frame = run.frames[-1]
    assert np.isfinite(frame.points).all() and set(loaded.output.channels) == {*frame.point_values, *frame.cell_values}


def test_the_shaken_end_is_where_the_script_says(tmp_path):
    loaded = load_scene(SHAKEN, ["duration=0.1 s"])
    run = record(loaded.scene, tmp_path)
    held = loaded.scene.bodies[0].pins[0].vertices
    moved = run.frames[-1].points[held] - run.frames[0].points[held]
    np.testing.assert_allclose(moved, np.tile([0, 0, 0.03 * np.sin(4 * np.pi * 0.1)], (len(held), 1)), atol=1e-12)


def test_the_arm_pushes_the_block_and_feels_it(tmp_path):
    """The block is moved along, and the arm swings less far than without it."""
    path = SCENES[0].with_name("arm_and_block.toml")
    ends = {}
    for name, where in (("with", []), ("without", ["bodies.block.transform.translate=[2, 0, 0]"])):
        loaded = load_scene(path, ["duration=0.3 s", *where])
        ends[name] = list(simulate(loaded.scene))[-1].state.q
    start = loaded.scene.bodies[1].mesh.X.mean(axis=0)[0] - 2.0 + 0.2
    n = len(loaded.scene.bodies[1].mesh.X)
    assert abs(ends["with"][: 3 * n].reshape(-1, 3)[:, 0].mean() - start) > 0.02
    assert abs(ends["without"][: 3 * n].reshape(-1, 3)[:, 0].mean() - (start + 1.8)) < 1e-3
    assert ends["with"][3 * n] < ends["without"][3 * n] - 0.05


def test_the_flag_stays_on_its_pole():
    loaded = load_scene(SCENES[0].with_name("flag.toml"), ["duration=0.2 s"])
    *_, last = simulate(loaded.scene)
    flag = loaded.scene.bodies[1]
    (tied,) = loaded.scene.attachments
    n = len(flag.mesh.X)
    x, angle = last.state.q[: 3 * n].reshape(-1, 3), last.state.q[3 * n]
    turn = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    assert abs(angle) > 1e-3
    np.testing.assert_allclose(x[tied.vertices], flag.mesh.X[tied.vertices] @ turn.T, atol=1e-3)


def test_the_die_comes_to_rest_on_the_bed():
    loaded = load_scene(SCENES[0].with_name("die_on_bed.toml"), ["duration=0.4 s"])
    *_, last = simulate(loaded.scene)
    die = last.system.positions(last.state.q)[-len(loaded.scene.bodies[0].mesh.X) :]
    middle = die.mean(axis=0)
    assert 0.1 < middle[2] < 0.14 and abs(middle[0] - 0.15) < 0.05
