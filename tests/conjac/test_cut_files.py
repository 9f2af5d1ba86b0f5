"""Cuts in scene files and in the books: documents make them, runs record and resume them, the ledger balances."""

from pathlib import Path

import numpy as np
import pytest

from pliant.bodies import Solid
from pliant.errors import SceneError
from pliant.events import ElementCut, PlaneCut
from pliant.integrators import BDF1, ConJac, LinearlyImplicit
from pliant.ledger import backward_euler_dissipation
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.record import Interrupted, record, resume
from pliant.scene import Scene
from pliant.scene_file import load_scene
from pliant.scene_file.describe import describe
from pliant.simulate import simulate
from pliant.solvers import Newton, Tolerance

DOCUMENT = """
name = "snip"
h = "5 ms"
duration = 0.06
integrator = { kind = "con-jac", count = 2 }

[[bodies]]
mesh = { generator = "bar", size = ["15 cm", "3 cm", "3 cm"], cells = [6, 2, 2] }
material = { kind = "stable-neo-hookean", E = "10 kPa", nu = 0.4 }
pins = [{ where = "x == min" }]

[[events]]
kind = "plane-cut"
time = "20 ms"
point = ["5 cm", 0, 0]
normal = [1, 0, 0]

[[events]]
kind = "element-cut"
time = 0.04
where = "x > 10 cm and z > 1.5 cm"
"""


def written(folder: Path, text: str = DOCUMENT) -> Path:
    path = folder / "snip.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_scene_file_cuts(tmp_path):
    scene = load_scene(written(tmp_path)).scene
    first, second = scene.events
    assert first == PlaneCut(0.02, (0.05, 0.0, 0.0), (1.0, 0.0, 0.0))
    mesh = scene.bodies[0].mesh
    center = mesh.X[mesh.T].mean(axis=1)
    assert np.array_equal(second.elements, np.flatnonzero((center[:, 0] > 0.1) & (center[:, 2] > 0.015)))
    counts = [len(s.system.X) for s in simulate(scene)]
    assert counts[3] == 63 and counts[4] == 72 and counts[-1] > 72


def test_a_cut_scene_describes_itself(tmp_path):
    scene = load_scene(written(tmp_path)).scene
    document, files = describe(scene)
    assert document["events"][0] == {
        "kind": "plane-cut",
        "time": 0.02,
        "point": [0.05, 0.0, 0.0],
        "normal": [1.0, 0.0, 0.0],
    }
    first = scene.run(tmp_path / "first")
    again = load_scene(tmp_path / "first" / "scene.toml").scene
    assert np.array_equal(again.events[1].elements, scene.events[1].elements)
    second = again.run(tmp_path / "second")
    assert np.array_equal(first.frames[-1].points, second.frames[-1].points)


def test_fields_of_the_inner_scene_are_set_from_outside(tmp_path):
    settings = ["h=10 ms", "integrator.beta=0.7", "events.plane-cut.time=0.03"]
    scene = load_scene(written(tmp_path), settings).scene
    assert scene.h == 0.01 and scene.integrator.beta == 0.7 and scene.events[0].time == 0.03
    built_in = load_scene("conjac/barcut", ["duration=0.01", "integrator.beta=0.9"]).scene
    assert built_in.steps == 2 and built_in.integrator.beta == 0.9 and len(built_in.events) == 2


def test_an_interrupted_run_goes_on_after_the_cut(tmp_path):
    scene = load_scene(written(tmp_path)).scene
    whole = scene.run(tmp_path / "whole")

    def stop(step):
        if step.index == 6:
            raise Interrupted("enough")

    with pytest.raises(Interrupted):
        record(scene, tmp_path / "parts", output=load_scene(written(tmp_path), ["output.checkpoint_every=2"]).output,
               watch=stop)  # fmt: skip
    run = resume(tmp_path / "parts")
    assert np.array_equal(run.frames[-1].points, whole.frames[-1].points)
    assert run.frames.topology(-1).cells == whole.frames.topology(-1).cells
    sizes = [len(run.frames[k].points) for k in range(len(run.frames))]
    assert sizes == [len(whole.frames[k].points) for k in range(len(whole.frames))] and sizes[0] < sizes[-1]
    for name in ("total", "numerical", "linear_z"):
        assert np.array_equal(run.ledger[name], whole.ledger[name])


@pytest.mark.parametrize(
    "wrong, match",
    [
        ('point = ["5 cm", 0, 0]\n', "'point' is missing"),
        ('time = "20 ms"\n', "'time' is missing"),
        ("where = ", "unknown key 'when'"),
        ('x > 10 cm and z > 1.5 cm"\n', "either where or elements"),
    ],
)
def test_wrong_cuts_are_refused(tmp_path, wrong, match):
    replaced = {"where = ": "when = ", 'x > 10 cm and z > 1.5 cm"\n': 'x > 1 cm"\nelements = [1]\n'}
    with pytest.raises(SceneError, match=match):
        load_scene(written(tmp_path, DOCUMENT.replace(wrong, replaced.get(wrong, ""), 1)))


def test_elements_and_bodies_that_do_not_exist_are_refused(tmp_path):
    for line, match in (
        ("elements = [9999]", "9999"),
        ('where = "x > 1 m"', "no element"),
        ("body = 3", "body 3 of 1"),
    ):
        text = DOCUMENT.replace('where = "x > 10 cm and z > 1.5 cm"', line)
        with pytest.raises(SceneError, match=match):
            load_scene(written(tmp_path, text if "body" not in line else text + "elements = [0]\n"))


def pulled(integrator):
    """A bar stretched by a script and cut in the middle of the pull."""
    mesh = bar(size=(0.15, 0.05, 0.05), cells=(6, 2, 2))
    pull = Keyframes((0.0, 0.1), ((0, 0, 0), (0.05, 0, 0)))
    pins = (Pin(mesh.where(lambda X: X[:, 0] < 1e-9)), Pin(mesh.where(lambda X: X[:, 0] > 0.15 - 1e-9), pull))
    body = Solid(mesh, StableNeoHookean(1e4, 0.4), pins=pins)
    cuts = [PlaneCut(0.03, (0.075, 0, 0), (1, 0, 0))]
    return Scene([body], integrator=integrator, h=5e-3, duration=0.06, events=cuts)


def test_the_ledger_balances_across_a_cut():
    """Backward Euler's dissipation has a closed form; in the step that cuts too the ledger finds the same."""
    scene = pulled(BDF1(solver=Newton(tolerance=Tolerance(1e-13, 1e-15))))
    system = scene.system()
    previous = scene.initial(system)
    rows = list(simulate(scene))
    for step in rows:
        if len(step.state.q) != len(previous.q):
            previous = scene.happen(0, 1, previous)[1]
        closed = backward_euler_dissipation(step.system, previous, step.state)
        assert step.ledger.numerical == pytest.approx(closed, abs=1e-9 * step.ledger.scale)
        assert step.ledger.work["scripts"] != 0.0  # the script moves on in the step of the cut
        previous = step.state
    assert len(rows[-1].system.X) > len(system.X)


@pytest.mark.parametrize(
    "integrator", [BDF1(), LinearlyImplicit(), ConJac(count=2)], ids=lambda i: type(i).__name__
)  # fmt: skip
def test_momentum_in_the_ledger_of_a_falling_body_that_is_cut(integrator):
    mesh = bar(size=(0.15, 0.05, 0.05), cells=(6, 2, 2))
    body = Solid(mesh, StableNeoHookean(1e4, 0.4), velocity=(0.3, 0.0, 0.1))
    block = np.flatnonzero(mesh.X[mesh.T].mean(axis=1)[:, 0] > 0.1)
    scene = Scene([body], integrator=integrator, h=5e-3, duration=0.04, events=[ElementCut(0.02, block)])
    linear = np.array([step.ledger.linear for step in simulate(scene)])
    m = 1000.0 * 0.15 * 0.05**2
    expected = m * np.array([0.3, 0.0, 0.1]) + m * np.outer(5e-3 * np.arange(1, 9), [0, 0, -9.81])
    assert abs(linear - expected).max() < 1e-9 * m
