"""frames.vtkhdf as others see it: VTK's own reader, changing topology, growth, kill -9, a full disk."""

import os
import resource
import signal
import subprocess
import sys
import time
from itertools import pairwise

import h5py
import numpy as np
import pytest

from pliant.errors import RunError
from pliant.record.frame_writer import FrameWriter
from pliant.record.frames import Frame, VtkCells
from pliant.record.run import Frames

TETS = np.array([[0, 1, 2, 3]])
X = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def frame(k, points=X):
    velocity = np.full((len(points), 3), float(k))
    return Frame(0.1 * k, points + k, {"velocity": velocity}, {"von_mises": np.array([10.0 * k])})


def vtk_frames(path):
    """(points, cell types, velocities, cell values) of every frame, read by VTK's own reader in this process."""
    pv = pytest.importorskip("pyvista")
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    out = []
    for k in range(reader.GetNumberOfSteps()):
        reader.SetStep(k)
        reader.Update()
        grid = pv.wrap(reader.GetOutputDataObject(0))
        values = grid.point_data["velocity"], grid.cell_data["von_mises"]
        out.append((np.array(grid.points), np.array(grid.celltypes), *map(np.array, values)))
    return out


@pytest.mark.parametrize("expected", [2, 8])
def test_vtk_reads_what_was_written(tmp_path, expected):
    """With room for two frames the file must grow twice on the way."""
    writer = FrameWriter(tmp_path / "frames.vtkhdf", frames=expected)
    topology = VtkCells.of([TETS])
    for k in range(7):
        writer.append(frame(k), topology)
    writer.close()
    seen = vtk_frames(tmp_path / "frames.vtkhdf")
    assert len(seen) == 7
    for k, (points, types, velocity, stress) in enumerate(seen):
        np.testing.assert_array_equal(points, X + k)
        assert types.tolist() == [10] and (velocity == k).all() and stress.tolist() == [10.0 * k]


def test_topology_may_change_and_is_stored_once_while_it_does_not(tmp_path):
    writer = FrameWriter(tmp_path / "frames.vtkhdf", frames=2)
    whole, cut = VtkCells.of([TETS]), VtkCells.of([np.array([[0, 1, 2], [0, 2, 4]]), np.array([[3, 4]])])
    more = np.vstack([X, [[2.0, 2, 2]]])
    for k in range(6):
        moved = frame(k) if k < 3 else Frame(0.1 * k, more + k, {"velocity": more}, {"von_mises": np.arange(3.0)})
        writer.append(moved, whole if k < 3 else cut)
    writer.close()
    seen = vtk_frames(tmp_path / "frames.vtkhdf")
    assert [types.tolist() for _, types, *_ in seen] == [[10]] * 3 + [[5, 5, 3]] * 3
    np.testing.assert_array_equal(seen[4][0], more + 4)
    ours = Frames(tmp_path / "frames.vtkhdf")
    assert ours.topology(5).connectivity.tolist() == [0, 1, 2, 0, 2, 4, 3, 4]
    np.testing.assert_array_equal(ours[5].cell_values["von_mises"], [0, 1, 2])
    with h5py.File(tmp_path / "frames.vtkhdf") as file:
        assert file["VTKHDF/NumberOfCells"][:2].tolist() == [1, 3]


def test_reopening_goes_on_with_the_same_topology_and_can_cut_off(tmp_path):
    path = tmp_path / "frames.vtkhdf"
    for first in (0, 3):
        writer = FrameWriter(path, frames=4)
        writer.truncate(first)
        for k in range(first, first + 5):
            writer.append(frame(k), VtkCells.of([TETS]))
        writer.close()
    ours = Frames(path)
    assert len(ours) == 8
    with h5py.File(path) as file:
        assert file["VTKHDF/Steps/PartOffsets"][:8].tolist() == [0] * 8
    np.testing.assert_allclose(ours.times, 0.1 * np.arange(8))
    np.testing.assert_array_equal(ours[-1].points, X + 7)


@pytest.mark.parametrize("cuts", [(0, 7), (0, 4, 7), (0, 1, 2, 3, 4, 5, 6, 7)])
def test_frames_written_together_are_those_written_one_by_one(tmp_path, cuts):
    """With topologies that change among them, a file that grows, and one that is reopened in between."""
    path, chance = tmp_path / "frames.vtkhdf", np.random.default_rng(5)
    known = [VtkCells.of([TETS]), VtkCells.of([np.array([[0, 1, 2, 3], [1, 2, 3, 4]])])]
    used = (0, 0, 1, 1, 1, 0, 0)
    frames = [
        Frame(0.1 * k, chance.normal(size=(4 + n, 3)), {}, {"von_mises": chance.normal(size=1 + n)})
        for k, n in enumerate(used)
    ]
    for first, last in pairwise(cuts):
        writer = FrameWriter(path, frames=3)
        writer.extend([(frames[k], known[used[k]]) for k in range(first, last)])
        writer.close()
    ours = Frames(path)
    assert [ours.topology(k).cells for k in range(len(ours))] == [1 + n for n in used]
    with h5py.File(path) as file:
        assert file["VTKHDF/Steps/PartOffsets"][:7].tolist() == [0, 0, 1, 1, 1, 2, 2]
    for made, read in zip(frames, ours, strict=True):
        assert read.t == made.t and np.array_equal(read.points, made.points)
        np.testing.assert_array_equal(read.cell_values["von_mises"], made.cell_values["von_mises"])


WRITER = """
import sys, numpy as np
from pliant.record.frame_writer import FrameWriter
from pliant.record.frames import Frame, VtkCells
X = np.random.default_rng(0).standard_normal((2000, 3))
T = VtkCells.of([np.arange(2000).reshape(-1, 4)])
writer = FrameWriter(sys.argv[1], frames=4)
for k in range(100000):
    writer.append(Frame(0.1 * k, X + k, {"velocity": X * k}, {"von_mises": np.full(500, float(k))}), T)
    if k == 0:
        print("ready", flush=True)
"""


def test_a_kill_at_any_moment_leaves_all_completed_frames(tmp_path):
    base = np.random.default_rng(0).standard_normal((2000, 3))
    for trial, delay in enumerate((0.02, 0.11, 0.3)):
        path = tmp_path / f"{trial}.vtkhdf"
        child = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE)
        assert child.stdout is not None and child.stdout.readline() == b"ready\n"
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        child.wait()
        ours = Frames(path)
        assert len(ours) > 0
        for k in (0, len(ours) - 1):
            np.testing.assert_array_equal(ours[k].points, base + k)
            np.testing.assert_array_equal(ours[k].cell_values["von_mises"], float(k))
        seen = vtk_frames(path)
        np.testing.assert_array_equal(seen[len(ours) - 1][0], base + (len(ours) - 1))
        writer = FrameWriter(path)  # and it can be gone on with
        assert writer.count == len(ours)
        writer.close()


FULL = """
import resource, signal, sys, numpy as np
from pliant.errors import RunError
from pliant.record.frame_writer import FrameWriter
from pliant.record.frames import Frame, VtkCells
X = np.zeros((2000, 3))
T = VtkCells.of([np.arange(2000).reshape(-1, 4)])
writer = FrameWriter(sys.argv[1], frames=4)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    for k in range(1000):
        writer.append(Frame(0.1 * k, X + k, {"velocity": X}, {"von_mises": X[:500, 0]}), T)
except RunError as error:
    print(k, error, flush=True)
    import os
    os._exit(3)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no file size limits on this system")
def test_a_full_disk_is_one_clear_error_and_earlier_frames_are_intact(tmp_path):
    path = tmp_path / "frames.vtkhdf"
    done = subprocess.run([sys.executable, "-c", FULL, str(path)], capture_output=True, text=True)
    assert done.returncode == 3, done.stderr
    stopped = int(done.stdout.split()[0])
    assert "cannot write frame" in done.stdout and stopped >= 4
    ours = Frames(path)
    assert len(ours) == stopped
    np.testing.assert_array_equal(ours[-1].points, np.full((2000, 3), stopped - 1.0))
    assert len(vtk_frames(path)) == stopped


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(RunError, match="cannot write frame 0"):
        FrameWriter(tmp_path / "file" / "frames.vtkhdf").append(frame(0), VtkCells.of([TETS]))
    if os.geteuid():
        tmp_path.chmod(0o500)
        with pytest.raises(RunError):
            FrameWriter(tmp_path / "frames.vtkhdf").append(frame(0), VtkCells.of([TETS]))
