"""The same bytes with one thread and with two (`trust/matrix`, which also compiles all kernels anew)."""

import os

import h5py
import pytest

from pliant.bench.trust import matrix

NAMES = ("soft and rigid, rows", "large bar")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    place = tmp_path_factory.mktemp("matrix")
    for threads in (1, 2):
        matrix.child(NAMES, place / str(threads), threads, None)
    return [[place / str(threads) / str(k) for threads in (1, 2)] for k in range(len(NAMES))]


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core only")
@pytest.mark.parametrize("k", range(len(NAMES)), ids=NAMES)
def test_one_and_two_threads_give_the_same_bytes(recorded, k):
    assert matrix.compared(NAMES[k], recorded[k])["same"]


def test_a_bit_that_differs_is_seen(recorded):
    folders = recorded[0]
    assert matrix.compared(NAMES[0], [folders[0], folders[0]])["same"]
    with h5py.File(folders[1] / "checkpoint.h5", "r+") as file:
        values = file["arrays/0"][...]
        values.flat[0] += 1e-15
        file["arrays/0"][...] = values
    row = matrix.compared(NAMES[0], folders)
    assert not row["checkpoint"] and not row["same"] and row["frames"] and row["ledger"]
