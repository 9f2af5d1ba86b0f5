"""A sweep on a real scheduler with two worker processes, one of which is killed: nothing is lost, nothing differs."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from pliant.cli.app import app
from pliant.errors import MissingDependency, RunError
from pliant.sweep import points, sweep

SMALL = ["parameters.cells=1", "duration=0.3"]
OVER = ["integrator=bdf1,bdf2", "h=0.002,0.003,0.004"]


@pytest.fixture
def cluster(tmp_path):
    """A scheduler's address and its two workers."""
    file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    started = [subprocess.Popen([*command, "--no-dashboard", "--scheduler-file", str(file)], **quiet)]
    until(file.is_file)
    command = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1"]
    started += [subprocess.Popen([*command, "--no-nanny", "--no-dashboard"], **quiet) for _ in range(2)]
    yield json.loads(file.read_text())["address"], started[1:]
    for process in started:
        process.kill()
        process.wait()


def until(true, seconds=60):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_killed_worker_loses_nothing(cluster, tmp_path):
    address, workers = cluster
    here = points("cantilever", OVER, SMALL, tmp_path / "here")
    there = points("cantilever", OVER, SMALL, tmp_path / "there")
    seen = []

    def watch(row):
        if not seen:
            os.kill(workers[0].pid, signal.SIGKILL)  # points are left for both workers
        seen.append(row["folder"])

    rows = sweep(there, cluster=address, watch=watch)
    assert workers[0].wait(timeout=30) == -signal.SIGKILL
    local = sweep(here, workers=2)
    assert len(rows) == 6 and sorted(seen) == sorted(row["folder"] for row in rows)
    for ours, theirs in zip(local, rows, strict=True):
        assert ours["status"] == "finished"
        assert {**ours, "seconds": 0} == {**theirs, "seconds": 0}
    assert (tmp_path / "there" / "sweep.csv").is_file()


def test_no_scheduler_is_named():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        failed = CliRunner().invoke(
            app, ["sweep", "cantilever", "--over", "h=0.02", "--cluster", f"tcp://127.0.0.1:{port}"]
        )
    assert isinstance(failed.exception, RunError) and "no scheduler answers" in str(failed.exception)


def test_without_distributed_the_remedy_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependency, match="pip install distributed"):
        sweep(points("cantilever", ["h=0.02"], SMALL, tmp_path), cluster="tcp://127.0.0.1:1")
