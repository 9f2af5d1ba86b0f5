"""Bad input, given to the real command: one line with the remedy, exit code 2, no traceback."""

import shutil
import socket
import sys

import pytest

from pliant.cli import main


def told(capsys, monkeypatch, *arguments):
    """What the command says on standard error; it must be one line."""
    monkeypatch.setattr(sys, "argv", ["pliant", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr().err
    assert stop.value.code == 2 and said.startswith("error: ") and said.count("\n") == 1, said
    return said


@pytest.fixture
def say(capsys, monkeypatch):
    return lambda *arguments: told(capsys, monkeypatch, *arguments)


def test_ports(say, run):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"port {port} of 127.0.0.1 is in use; try --port {port + 1}" in say("view", run.folder, "--port", port)
        assert "is in use; try --port" in say("play", "cantilever", "--port", port)
    assert "use --host 127.0.0.1 and a --port from 1024 to 65535" in say("view", run.folder, "--port", 99999)
    assert "cannot listen at 192.0.2.1:8080" in say("view", run.folder, "--host", "192.0.2.1")


@pytest.mark.parametrize(
    "damage, command, remedy",
    [
        (lambda f: (f / "report.json").unlink(), ["view"], "give a folder that `pliant run` has made"),
        (lambda f: (f / "frames.vtkhdf").unlink(), ["view"], "run it again"),
        (lambda f: (f / "frames.vtkhdf").write_bytes(b"\x89HDF"), ["export", "--to", "obj"], "run it again"),
        (lambda f: (f / "ledger.csv").unlink(), ["view"], "`pliant resume` it"),
        (lambda f: (f / "ledger.csv").write_text("step,t,total\n0,0"), ["plot"], "`pliant resume` it"),
    ],
    ids=["no report", "no frames", "broken frames", "no ledger", "broken ledger"],
)
def test_half_written_runs(say, run, tmp_path, damage, command, remedy):
    folder = tmp_path / "half"
    shutil.copytree(run.folder, folder)
    damage(folder)
    assert remedy in say(command[0], folder, *command[1:])


def test_unknown_channels_and_formats(say, run):
    assert "this run has velocity, strain, von_mises, displacement" in say(
        "export", run.folder, "--to", "usd", "--channel", "heat"
    )
    assert "--set 'output.channels=[\"det_F\"]'" in say("export", run.folder, "--to", "png", "--channel", "det_F")
    assert "use png, mp4, gif, webp, usd" in say("export", run.folder, "--to", "fbx")
    assert "use energy, dissipation, iterations" in say("plot", run.folder, "--show", "heat")


@pytest.mark.parametrize(
    "package, command, remedy",
    [
        ("viser", ["view", "RUN"], "pip install viser"),
        ("pyvista", ["export", "RUN", "--to", "png"], "pip install pyvista"),
        ("imageio", ["export", "RUN", "--to", "gif"], "pip install imageio"),
        ("pxr", ["export", "RUN", "--to", "usd"], "pip install usd-core"),
        (
            "distributed",
            ["sweep", "cantilever", "--over", "h=0.1", "--cluster", "tcp://x:1"],
            "pip install distributed",
        ),
    ],
)
def test_missing_packages(say, run, monkeypatch, package, command, remedy):
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    assert remedy in say(*(run.folder if word == "RUN" else word for word in command))


@pytest.mark.parametrize("to", ["usd", "vtk", "obj", "ply", "gltf", "npz", "png"])
def test_places_that_cannot_be_written(say, run, tmp_path, to):
    (tmp_path / "file").write_text("in the way")
    assert "cannot write" in say("export", run.folder, "--to", to, "--out", tmp_path / "file" / "x.usdc")


def test_benches_and_scenes(say):
    assert "did you mean 'studio/export'?" in say("bench", "studio/exports")
    assert "more" in say("bench", "zzz") and len(say("bench", "zzz")) < 1000
    assert "did you mean 'cantilever'?" in say("play", "cantilevr")
