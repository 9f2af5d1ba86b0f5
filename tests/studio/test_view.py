"""The replay on a real local port, driven as the page drives it."""

import builtins
import socket
import urllib.request

import numpy as np
import pytest
from typer.testing import CliRunner

from pliant.cli.app import app
from pliant.errors import MissingDependency, RunError
from pliant.simulate import simulate
from pliant.view import Live, Replay
from pliant.view.server import palette


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def replay(run, port):
    shown = Replay([run, run], port=port)
    yield shown
    shown.stop()


def test_the_page_is_there_and_the_clock_moves_both_runs(replay, run):
    page = urllib.request.urlopen(replay.url, timeout=10)
    assert page.status == 200 and b"<html" in page.read().lower()
    first, second = (drawing._handle for drawing in replay._drawings)
    start = first.vertices.copy()
    replay.advance(0.05)
    assert replay.frame == 0  # not playing yet
    replay._play.value = True
    replay.advance(0.05)
    replay.show(replay.frame)
    assert replay.frame == 5
    moved = run.frames[5].points - run.frames[0].points
    assert np.abs(first.vertices - start).max() == pytest.approx(np.abs(moved).max(), rel=1e-4)
    assert np.ptp(second.vertices - first.vertices, axis=0).max() < 1e-6  # the same shape, aside
    assert "t = 0.05 s" in replay._text.content and "converged" in replay._text.content
    replay.advance(0.06)
    assert replay.frame == 0  # it loops
    replay._loop.value = False
    replay.advance(1.0)
    assert replay.frame == 10 and not replay._play.value


def test_colours_and_their_legend(replay):
    replay._channel.value = "von_mises"
    replay.show(10)
    assert "von_mises: " in replay._text.content
    colours = palette(np.array([0.0, 0.5, 1.0]), (0.0, 1.0))
    assert colours[0, 2] > colours[0, 1] and colours[2, 0] > 200  # dark violet to yellow
    assert set(replay._channel.options) == {"none", "displacement", "strain", "velocity", "von_mises"}


def test_a_port_in_use_is_named(run, port):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        failed = CliRunner().invoke(app, ["view", str(run.folder), "--port", str(port)])
    assert isinstance(failed.exception, RunError) and "in use" in str(failed.exception)
    assert "--port" in str(failed.exception)


def test_without_viser_the_remedy_is_named(run, monkeypatch):
    original = builtins.__import__

    def without(name, *rest, **more):
        if name == "viser":
            raise ImportError(name)
        return original(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependency, match="pip install viser"):
        Replay([run])


@pytest.fixture
def live(port):
    shown = Live("cantilever", ["parameters.cells=1"], port=port)
    yield shown
    shown.stop()


def test_a_live_scene_does_what_simulate_does(live):
    expected = [step.state for _, step in zip(range(3), simulate(live.scene))]
    live.advance()
    assert live.state.t == 0.0  # paused
    live._asked = True  # the step button
    live.advance()
    assert np.array_equal(live.state.q, expected[0].q)
    live._play.value = True
    live.advance()
    live.advance()
    assert np.array_equal(live.state.q, expected[2].q)
    live._play.value, live._again = False, True  # the reset button
    live.advance()
    assert live.state.t == 0.0


def test_controls_change_the_simulation_and_keep_the_state(live):
    live._play.value = True
    live.advance()
    before = live.state.t
    live._E.value = live._E.value + 1.0
    live._h.value = 0.005
    live._integrator.value = "bdf1"
    live._changed = True  # set by the callbacks, which run in threads of the server
    live.advance()
    material = live.scene.bodies[0].material
    assert abs(material.E / 2e6 - 1) < 0.03 and material.nu == 0.4
    assert type(live.scene.integrator).__name__ == "BDF1"
    assert live.state.t == pytest.approx(before + 0.005)


def test_a_wrong_choice_is_told_on_the_page(live):
    live._h.value = -1.0
    live._changed = True
    live.advance()
    assert "h is -1.0" in live._text.content
