"""Kills, power cuts, full and failing disks: what they leave is gone on with to the same bytes (`trust/crash`)."""

import warnings

import pytest

from pliant.bench.trust import crash
from pliant.testing.disk import Disk, read_journal

NAMES = ("membrane", "cut")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """The library that sees every operation, and the folders of runs that were recorded with it."""
    pytest.importorskip("fcntl")
    library = crash.build_shim(tmp_path_factory.mktemp("shim"))
    folders = {name: tmp_path_factory.mktemp(name) for name in NAMES}
    for name, folder in folders.items():
        crash.journal(name, folder, library)
    return library, folders


def test_the_journal_tells_what_was_written(recorded):
    """Every operation of a run, applied to an empty folder, gives the folder that it left."""
    for folder in recorded[1].values():
        disk = Disk(folder / "run")
        for operation in read_journal(folder / "journal"):
            disk.apply(operation)
        found = {str(p.relative_to(folder / "run")): p.read_bytes() for p in (folder / "run").iterdir()}
        assert disk.killed() == found and "frames.vtkhdf" in found


@pytest.mark.parametrize("name", NAMES)
def test_kills_and_power_cuts_leave_what_can_be_gone_on_with(recorded, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        row = crash.untried(name, recorded[1][name])
        crash.rehearse(row, recorded[1][name], every=11)
    assert row["folders"] > 15 and not row["differ"] and not row["unreadable"], row["said"]


def test_full_and_failing_disks_are_errors_of_one_line(recorded):
    library, folders = recorded
    for name, folder in folders.items():
        row = crash.untried(name, folder)
        crash.faulty(row, folder, library, every=25)
        assert row["full or failing"] > 8 and row["met"] == row["full or failing"], row["said"]


def test_disks_that_fail_while_files_are_closed_are_told_in_one_line(recorded):
    library, folders = recorded
    row = crash.untried("membrane", folders["membrane"])
    last = range(row["operations"] - 24, row["operations"], 2)
    crash.judge_faults(row, folders["membrane"], library, [f"disk fails:{k}" for k in last])
    assert row["full or failing"] == 12 == row["met"], row["said"]
