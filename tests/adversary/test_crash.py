"""Kills, power cuts, full and failing disks: what they leave is gone on with to the same bytes (`trust/crash`)."""

import warnings

import pytest

from pliant.bench.trust import crash
from pliant.testing.disk import Disk, read_journal


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    pytest.importorskip("fcntl")
    return crash.build_shim(tmp_path_factory.mktemp("shim"))


def test_the_journal_tells_what_was_written(tmp_path, library):
    """Every operation of a run, applied to an empty folder, gives the folder that it left."""
    crash.child(["journal", "solid", str(tmp_path)], library)
    disk = Disk(tmp_path / "run")
    for operation in read_journal(tmp_path / "journal"):
        disk.apply(operation)
    found = {str(p.relative_to(tmp_path / "run")): p.read_bytes() for p in (tmp_path / "run").iterdir()}
    assert disk.killed() == found and "frames.vtkhdf" in found


def test_kills_and_power_cuts_leave_what_can_be_gone_on_with(tmp_path, library):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        row = crash.rehearse("solid", tmp_path / "solid", library, every=7)
    assert row["folders"] > 20 and not row["differ"] and not row["unreadable"], row["said"]


def test_full_and_failing_disks_are_errors_of_one_line(tmp_path, library):
    crash.child(["journal", "cut", str(tmp_path)], library)
    row = crash.faulty("cut", tmp_path, library, every=25)
    assert row["full or failing"] > 8 and row["met"] == row["full or failing"], row["said"]
