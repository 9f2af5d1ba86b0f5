"""Folders and pages from somebody else: no code runs unasked, no foreign page talks to the viewer."""

import asyncio
import socket

import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.app import app
from pliant.errors import PliantError, SceneError
from pliant.record import record
from pliant.scene_file import load_scene

TRAP = """
from pathlib import Path
import pliant as pl
(Path(__file__).parent / "sprung").touch()

def scene():
    mesh = pl.mesh.bar(size=(0.3, 0.1, 0.1), cells=(2, 1, 1))
    body = pl.Solid(mesh, pl.StableNeoHookean(E=1e5, nu=0.4), density=1000)
    return pl.Scene(bodies=[body], h=0.01, duration=0.03)
"""


@pytest.fixture
def stranger(tmp_path):
    (tmp_path / "trap.py").write_text(TRAP)
    loaded = load_scene(tmp_path / "trap.py")
    record(loaded.scene, tmp_path / "run", output=loaded.output, origin=loaded.origin)
    (tmp_path / "sprung").unlink()
    return tmp_path / "run"


@pytest.mark.parametrize(
    "command",
    [
        ["resume"],
        ["export", "--to", "npz"],
        ["view", "--port", "1"],
        ["replay"],
        ["run"],
        ["advise"],
        ["play", "--port", "1"],
        ["sweep", "--over", "h=0.01,0.02"],
    ],
    ids=lambda c: c[0],
)
def test_a_folder_runs_no_code_without_trust(stranger, command):
    ended = CliRunner().invoke(app, [command[0], str(stranger), *command[1:]])
    assert ended.exit_code != 0 and "--trust" in str(ended.exception)
    assert not (stranger / "sprung").exists()


@pytest.mark.parametrize("command", ["resume", "advise"])
def test_with_trust_it_does(stranger, command):
    assert CliRunner().invoke(app, [command, str(stranger), "--trust"]).exit_code == 0
    assert (stranger / "sprung").exists()


def test_a_run_of_an_absolute_folder_is_written_here_and_not_beside_it(tmp_path, monkeypatch, stranger):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    before = sorted(p.name for p in tmp_path.iterdir())
    assert CliRunner().invoke(app, ["run", str(stranger), "--trust", "--headless"]).exit_code == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert (tmp_path / "elsewhere" / "runs" / "run" / "report.json").is_file()


def test_foreign_pages_cannot_open_the_socket(tmp_path):
    viser = pytest.importorskip("viser")
    websockets = pytest.importorskip("websockets")
    from websockets.asyncio.client import connect

    from pliant.view.server import LOCAL, open_server

    with socket.socket() as free:
        free.bind((LOCAL, 0))
        port = free.getsockname()[1]
    server = open_server(LOCAL, port)

    async def knock(origin):
        protocol = f"viser-v{viser.__version__}"
        try:
            async with connect(f"ws://{LOCAL}:{port}", origin=origin, subprotocols=[protocol]):
                return True
        except websockets.exceptions.InvalidStatus as refused:
            return refused.response.status_code

    try:
        assert asyncio.run(knock("https://evil.example")) == 403
        assert asyncio.run(knock(f"http://localhost:{port + 1}")) == 403
        assert asyncio.run(knock(f"http://{LOCAL}:{port}")) is True
    finally:
        server.stop()


def test_an_unknown_choice_does_not_end_the_page():
    pytest.importorskip("viser")
    from pliant.view import LiveView

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    view = LiveView("cantilever", ["duration=0.1"], port=port)
    try:
        view._look.channels._impl.value = "no such channel"
        view._wishes.put(lambda: None)
        view.advance()
        view._wishes.put(lambda: {}["missing"])
        view.advance()
        view.step()
        assert view.players[0].state.t > 0.0
    finally:
        view.stop()


@pytest.mark.parametrize("duration, h", [(1e300, 1e-300), (1e15, 1e-3)])
def test_more_steps_than_can_be_counted_are_refused(duration, h):
    mesh = pl.mesh.bar(size=(0.3, 0.1, 0.1), cells=(2, 1, 1))
    body = pl.Solid(mesh, pl.StableNeoHookean(E=1e5, nu=0.4), density=1000.0)
    with pytest.raises(SceneError, match="steps"):
        pl.Scene(bodies=[body], h=h, duration=duration)


@pytest.mark.parametrize("text", ["import sys\nsys.exit(0)\n", "import sys\ndef scene():\n    sys.exit(0)\n"])
def test_a_scene_script_that_exits_is_an_error(tmp_path, text):
    (tmp_path / "leaves.py").write_text(text)
    with pytest.raises(SceneError, match="SystemExit"):
        load_scene(tmp_path / "leaves.py")


@pytest.mark.parametrize(
    "make",
    [
        lambda: pl.mesh.Mesh([[0, 0, 0], [1, 0]], [[0, 1, 2, 3]]),
        lambda: pl.mesh.bar(size=(1, 1, 1), cells=(10**18, 1, 1)),
        lambda: pl.mesh.bar(size=(1, 1), cells=(1, 1)),
        lambda: pl.Plane(point=(0, 0)),
        lambda: pl.Pin([2**70]),
    ],
    ids=["ragged", "too many cells", "a box of two numbers", "a point of two numbers", "a vertex beyond counting"],
)
def test_nonsense_is_refused_by_name(make):
    mesh = pl.mesh.bar(size=(0.3, 0.1, 0.1), cells=(2, 1, 1))
    with pytest.raises(PliantError):
        pl.Solid(mesh, pl.StableNeoHookean(E=1e5, nu=0.4), density=1000.0, pins=make())
