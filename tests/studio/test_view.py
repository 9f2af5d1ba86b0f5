"""The replay on a real local port, driven as the page drives it."""

import builtins
import socket
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from threading import Thread

import numpy as np
import pytest
from typer.testing import CliRunner

from pliant.bench.studio.view import received
from pliant.cli.app import app
from pliant.errors import MissingDependency, RunError
from pliant.export.colours import palette
from pliant.simulate import simulate
from pliant.view import LiveView, Replay
from pliant.view.drawing import Style, legend
from pliant.view.player import Player


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
    replay._plotted = 0.0
    replay.show(5)
    t, *_, mark = replay._charts[1].handle.data  # iterations
    assert np.flatnonzero(np.isfinite(mark)).tolist() == [5] and t[5] == pytest.approx(0.05)
    assert mark[5] == run.ledger["iterations"][5]
    replay.advance(0.06)
    assert replay.frame == 0  # it loops
    replay._loop.value = False
    replay.advance(1.0)
    assert replay.frame == 10 and not replay._play.value


def test_colours_and_their_legend(replay):
    replay._look.channels.value = "von_mises"
    replay.show(10)
    assert "von_mises" in replay._look.legend.content and "gradient" in replay._look.legend.content
    assert legend(Style()) == "" and "&lt;b&gt;" in legend(Style("<b>"))
    colours = palette(np.array([0.0, 0.5, 1.0]), (0.0, 1.0))
    assert colours[0, 2] > colours[0, 1] and colours[2, 0] > 200  # dark violet to yellow
    assert set(replay._look.channels.options) == {"none", "displacement", "strain", "velocity", "von_mises"}


def test_several_viewers_see_the_same(replay, port):
    replay._play.value = True
    server = Thread(target=replay.serve, daemon=True)
    server.start()
    with ThreadPoolExecutor(2) as pool:
        counts = [frames for frames, *_ in pool.map(received, [port, port], [1.0, 1.0])]
    replay.stop()
    server.join(timeout=30)
    assert min(counts) > 0


@pytest.mark.parametrize(
    "path", ["/../../../../../../etc/passwd", "/..%2f..%2f..%2f..%2f..%2fetc/passwd", "//etc/passwd"]
)
def test_the_page_gives_no_files_away(replay, port, path):
    with socket.create_connection(("127.0.0.1", port), timeout=10) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    assert b"root:" not in answer and not answer.startswith(b"HTTP/1.1 200")


def test_it_listens_at_this_machine_only_unless_asked(replay):
    assert replay.server.get_host() == "127.0.0.1"


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
    shown = LiveView("cantilever", ["parameters.cells=1"], port=port)
    yield shown
    shown.stop()


def test_a_live_scene_does_what_simulate_does(live):
    (player,) = live.players
    expected = [step.state for _, step in zip(range(3), simulate(player.scene))]
    live.advance()
    assert player.state.t == 0.0  # paused
    live._wishes.put(live.step)  # the step button
    live.advance()
    assert np.array_equal(player.state.q, expected[0].q)
    live._play.value = True
    live.advance()
    live.advance()
    assert np.array_equal(player.state.q, expected[2].q)
    live._play.value = False
    live._wishes.put(live._reset)  # the reset button
    live.advance()
    assert player.state.t == 0.0


def test_controls_change_the_simulation_and_keep_the_state(live):
    (player,) = live.players
    live._play.value = True
    live.advance()
    before = player.state.t
    live._E.value = live._E.value + 1.0
    live._h.value = 0.005
    live._chosen[0][0].value = "bdf1"
    live._chosen[0][1].value = "qlb"
    live._wishes.put(live._change)  # put by the callbacks, which run in threads of the server
    live.advance()
    material = player.scene.bodies[0].material
    assert abs(material.E / 2e6 - 1) < 0.03 and material.nu == 0.4
    assert type(player.scene.integrator).__name__ == "BDF1"
    assert type(player.scene.integrator.solver).__name__ == "QLB"
    assert player.state.t == pytest.approx(before + 0.005)
    live._wishes.put(live._change)  # once more: nothing reverts
    live.advance()
    assert float(player.scene.h) == 0.005


def test_a_wrong_choice_is_told_on_the_page(live):
    live._h.value = -1.0
    live._wishes.put(live._change)
    live.advance()
    assert "h is -1.0" in live._text.content


def test_two_integrators_share_one_clock(port):
    """The second run is what a run of its own would be; both are drawn, plotted and told of."""
    live = LiveView("cantilever", ["parameters.cells=1"], compare=["integrator=bdf1"], port=port)
    try:
        alone = [step.state for _, step in zip(range(4), simulate(live.players[1].scene))]
        live._play.value = True
        for _ in range(4):
            live.advance()
        first, second = live.players
        assert type(second.scene.integrator).__name__ == "BDF1" and first.state.t == second.state.t
        assert np.array_equal(second.state.q, alone[3].q) and not np.array_equal(first.state.q, second.state.q)
        aside = live._drawings[1]._handle.vertices - live._drawings[0]._handle.vertices
        assert aside[:, 0].min() > 0.3  # beside each other
        assert "**integrator=bdf1**" in live._text.content
        live._plot()
        t, one, other = live._energy.data
        assert len(t) == 5 and one[-1] > other[-1]
    finally:
        live.stop()


def test_colours_of_a_live_scene(live):
    assert {"velocity", "von_mises", "displacement"} <= set(live._look.channels.options)
    live._play.value = True
    live.advance()
    live._look.channels.value = "von_mises"
    live.advance()
    assert "von_mises" in live._look.legend.content
    low, high = live._limits["von_mises"]
    assert 0.0 <= low < high


@pytest.mark.parametrize("scene", ["cantilever", "contact/stack", "net", "eol/lo-res", "redmax/scene-1"])
def test_every_channel_that_is_offered_exists(scene):
    player = Player(scene, [])
    player.take()
    for name in player.channels():
        values = player.picture((name,)).values[name]
        assert len(values) == len(player.skin.vertices) and np.isfinite(values).all(), name


def test_a_run_that_fails_stops_and_the_other_goes_on(port):
    live = LiveView("cantilever", ["parameters.cells=1"], compare=["integrator=explicit-euler"], port=port)
    try:
        live._play.value = True
        for _ in range(200):
            if live._failed:
                break
            live.advance()
        assert list(live._failed) == [1] and "stopped" in live._text.content
        before = live.players[0].state.t
        live.advance()
        assert live.players[0].state.t > before
    finally:
        live.stop()
