"""The frames of a run: a temporal VTKHDF unstructured grid that survives a kill at any moment.

Every dataset has room for many frames and lies contiguous in the file from the start, so that recording a frame writes
values into places that exist already; only then is the number of frames raised. What a killed process leaves behind
is a valid file with all completed frames. A file that is full is copied into one with twice the room, synced and
renamed. Geometry that does not change is stored once: frames point at their topology.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import RunError

VTK_CELLS = {1: 1, 2: 3, 3: 5, 4: 10}  # vertices per cell -> VTK's number for vertex, line, triangle, tetrahedron
ROOM = 1 << 28  # bytes of frames that are reserved at first
STEP_OFFSETS = ("PartOffsets", "NumberOfParts", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets")
SIZES = ("NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds")


@dataclass(frozen=True, eq=False)
class Topology:
    """Cells as VTK wants them, from blocks (m, k) of vertex indices."""

    connectivity: IntArray
    offsets: IntArray
    types: IntArray

    @staticmethod
    def of(blocks: Iterable[IntArray]) -> "Topology":
        kept = [np.asarray(block, dtype=np.int64) for block in blocks if len(block)]
        sizes = np.concatenate([np.full(len(b), b.shape[1], dtype=np.int64) for b in kept] or [np.zeros(0, np.int64)])
        return Topology(
            np.concatenate([b.ravel() for b in kept] or [np.zeros(0, np.int64)]),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.array([VTK_CELLS[int(size)] for size in sizes], dtype=np.uint8),
        )

    @property
    def cells(self) -> int:
        return len(self.types)


@dataclass(frozen=True, eq=False)
class Frame:
    """One picture: time [s], ``points (n, 3)`` [m], and named values per point (n, ...) and per cell (m, ...)."""

    t: float
    points: Array
    point_values: dict[str, Array]
    cell_values: dict[str, Array]


class FrameWriter:
    """Appends frames to a file. ``frames`` says how many are expected (room is reserved), more are always possible."""

    def __init__(self, path: str | Path, *, frames: int = 64) -> None:
        self.path = Path(path)
        self._expected = max(1, frames)
        self._file: h5py.File | None = None
        self._topology: Topology | None = None
        self.count = 0
        if self.path.exists():
            self._open()

    def append(self, frame: Frame, topology: Topology) -> None:
        """Record a frame; ``topology`` is stored when it is not the object of the frame before."""
        try:
            self._append(frame, topology)
        except (OSError, RuntimeError) as error:
            raise RunError(
                f"cannot write frame {self.count} to {self.path}: {_first_line(error)}",
                where="frames",
                remedy="free space or choose another folder; the frames before it are intact",
            ) from error

    def truncate(self, count: int) -> None:
        """Forget the frames from ``count`` on."""
        if count < self.count and self._file is not None:
            self._file["VTKHDF/Steps/Values"].resize((count,))
            self._set_count(count)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    # ------------------------------------------------------------------------------------------------ writing

    def _append(self, frame: Frame, topology: Topology) -> None:
        if self._file is None:
            self._create(frame, topology)
        new = topology is not self._topology and not self._same(topology)
        need = self._need(frame, topology, new)
        room = {name: self._size(name) for name in need}
        if any(room[name] < length for name, length in need.items()):
            self._grow({name: 2 * length if room[name] < length else room[name] for name, length in need.items()})
        assert self._file is not None
        root, steps, k = self._file["VTKHDF"], self._file["VTKHDF/Steps"], self.count
        used = self._used()
        if new:
            self._write_topology(root, frame, topology, used)
            used = {**used, "part": used["parts"], "cell": used["cells"], "id": used["ids"]}
        offsets = (used["part"], 1, used["points"], used["cell"], used["id"])
        for name, value in zip(STEP_OFFSETS, offsets, strict=True):
            steps[name][k] = value
        root["Points"][used["points"] : used["points"] + len(frame.points)] = frame.points
        for group, values in (("PointData", frame.point_values), ("CellData", frame.cell_values)):
            for name, array in values.items():
                first = used[f"{group}/{name}"]
                root[group][name][first : first + len(array)] = array
                steps[group + "Offsets"][name][k] = first
        self._file.flush()
        self._set_count(k + 1)
        steps["Values"].resize((k + 1,))
        steps["Values"][k] = frame.t
        self._file.flush()
        self._topology = topology

    def _write_topology(self, root: Any, frame: Frame, topology: Topology, used: dict[str, int]) -> None:
        part, cells, ids = used["parts"], used["cells"], used["ids"]
        for name, value in zip(SIZES, (len(frame.points), topology.cells, len(topology.connectivity)), strict=True):
            root[name][part] = value
        root["Connectivity"][ids : ids + len(topology.connectivity)] = topology.connectivity
        root["Offsets"][cells + part : cells + part + topology.cells + 1] = topology.offsets
        root["Types"][cells : cells + topology.cells] = topology.types

    def _set_count(self, count: int) -> None:
        assert self._file is not None
        self._file["VTKHDF/Steps"].attrs.modify("NSteps", np.int64(count))
        self._file.flush()
        self.count = count

    # ------------------------------------------------------------------------------------------------ room

    def _used(self) -> dict[str, int]:
        """First free place of every growing dataset; ``part``, ``cell``, ``id`` are those of the last topology."""
        assert self._file is not None
        root, steps, k = self._file["VTKHDF"], self._file["VTKHDF/Steps"], self.count - 1
        channels = [f"{group}/{name}" for group in ("PointData", "CellData") for name in root[group]]
        if k < 0:
            return dict.fromkeys(["parts", "points", "cells", "ids", "part", "cell", "id", *channels], 0)
        part, cell, ident = (int(steps[n][k].item()) for n in ("PartOffsets", "CellOffsets", "ConnectivityIdOffsets"))
        points, cells, ids = (int(root[name][part]) for name in SIZES)
        used = {"part": part, "cell": cell, "id": ident, "parts": part + 1, "cells": cell + cells, "ids": ident + ids}
        used["points"] = int(steps["PointOffsets"][k]) + points
        for channel in channels:
            group, name = channel.split("/")
            used[channel] = int(steps[group + "Offsets"][name][k]) + (points if group == "PointData" else cells)
        return used

    def _need(self, frame: Frame, topology: Topology, new: bool) -> dict[str, int]:
        """Lengths the datasets must have to hold one more frame."""
        used, extra = self._used(), int(new)
        need = dict.fromkeys(SIZES, used["parts"] + extra)
        need |= {f"Steps/{name}": self.count + 1 for name in STEP_OFFSETS}
        need["Points"] = used["points"] + len(frame.points)
        need["Connectivity"] = used["ids"] + extra * len(topology.connectivity)
        need["Offsets"] = used["cells"] + used["parts"] + extra * (topology.cells + 1)
        need["Types"] = used["cells"] + extra * topology.cells
        for group, values in (("PointData", frame.point_values), ("CellData", frame.cell_values)):
            for name, value in values.items():
                need[f"{group}/{name}"] = used[f"{group}/{name}"] + len(value)
                need[f"Steps/{group}Offsets/{name}"] = self.count + 1
        return need

    def _create(self, frame: Frame, topology: Topology) -> None:
        values = frame.point_values | frame.cell_values
        size = frame.points.nbytes + sum(value.nbytes for value in values.values())
        frames = max(1, min(self._expected, ROOM // max(size, 1)))
        shapes: dict[str, tuple[tuple[int, ...], str]] = dict.fromkeys(SIZES, ((1,), "i8"))
        shapes["Points"] = ((frames * len(frame.points), 3), "f8")
        shapes["Connectivity"] = ((len(topology.connectivity),), "i8")
        shapes["Offsets"] = ((topology.cells + 1,), "i8")
        shapes["Types"] = ((topology.cells,), "u1")
        shapes |= {f"Steps/{name}": ((frames,), "i8") for name in STEP_OFFSETS[:3]}
        shapes |= {f"Steps/{name}": ((frames, 1), "i8") for name in STEP_OFFSETS[3:]}
        for group, given in (("PointData", frame.point_values), ("CellData", frame.cell_values)):
            for name, value in given.items():
                shapes[f"{group}/{name}"] = ((frames * len(value), *value.shape[1:]), "f8")
                shapes[f"Steps/{group}Offsets/{name}"] = ((frames,), "i8")
        temporary = self.path.with_name(self.path.name + ".part")
        self._write_empty(temporary, shapes, frames)
        os.replace(temporary, self.path)
        self._open()

    def _grow(self, lengths: dict[str, int]) -> None:
        """Move into a file with more room."""
        assert self._file is not None
        old, root = self._file, self._file["VTKHDF"]
        shapes = {name: ((length, *root[name].shape[1:]), root[name].dtype.str) for name, length in lengths.items()}
        temporary = self.path.with_name(self.path.name + ".part")
        frames = lengths["Steps/PartOffsets"]
        self._write_empty(temporary, shapes, frames)
        with h5py.File(temporary, "r+", locking=False) as new:
            for name in shapes:
                filled = min(len(root[name]), lengths[name])
                new["VTKHDF"][name][:filled] = root[name][:filled]
            steps = new["VTKHDF/Steps"]
            steps["Values"].resize((self.count,))
            steps["Values"][...] = root["Steps/Values"][...]
            steps.attrs.modify("NSteps", np.int64(self.count))
        with open(temporary, "rb+") as handle:
            os.fsync(handle.fileno())
        old.close()
        os.replace(temporary, self.path)
        self._open()

    @staticmethod
    def _write_empty(path: Path, shapes: dict[str, tuple[tuple[int, ...], str]], frames: int) -> None:
        """The skeleton of the file: all datasets with their room, no frames."""
        with h5py.File(path, "w", libver="earliest", locking=False) as file:
            root = file.create_group("VTKHDF")
            root.attrs["Version"] = np.array([2, 1], dtype=np.int64)
            kind = b"UnstructuredGrid"
            root.attrs.create("Type", kind, dtype=h5py.string_dtype("ascii", len(kind)))
            for name in ("PointData", "CellData", "Steps/PointDataOffsets", "Steps/CellDataOffsets"):
                root.create_group(name)
            root["Steps"].attrs["NSteps"] = np.int64(0)
            root["Steps"].create_dataset("Values", (0,), "f8", maxshape=(None,), chunks=(max(frames, 1),))
            for name, (shape, dtype) in shapes.items():
                _reserve(root, name, shape, dtype)

    def _open(self) -> None:
        self._file = open_frames(self.path, "r+")
        steps = self._file["VTKHDF/Steps"]
        self.count = min(int(steps.attrs["NSteps"]), len(steps["Values"]))
        self._topology = None
        self._set_count(self.count)

    def _same(self, topology: Topology) -> bool:
        """Whether the last stored topology has the same cells; identity alone tells nothing after reopening."""
        if self.count == 0:
            return False
        last = read_topology(self._file, self.count - 1)
        return np.array_equal(last.connectivity, topology.connectivity) and np.array_equal(last.types, topology.types)

    def _size(self, name: str) -> int:
        assert self._file is not None
        return len(self._file["VTKHDF"][name])


def _reserve(root: h5py.Group, name: str, shape: tuple[int, ...], dtype: str) -> None:
    """A contiguous dataset whose space exists from now on but is not written."""
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plan.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    kind = h5py.h5t.py_create(np.dtype(dtype), logical=True)
    h5py.h5d.create(root.id, name.encode(), kind, h5py.h5s.create_simple(shape), plan)


def open_frames(path: str | Path, mode: str = "r") -> h5py.File:
    try:
        return h5py.File(path, mode, locking=False)
    except OSError as error:
        raise RunError(f"cannot open {path}: {_first_line(error)}", where="frames") from error


def read_topology(file: Any, k: int) -> Topology:
    """The cells of frame k."""
    root, steps = file["VTKHDF"], file["VTKHDF/Steps"]
    part, cell, ident = (int(steps[n][k].item()) for n in ("PartOffsets", "CellOffsets", "ConnectivityIdOffsets"))
    cells, ids = int(root["NumberOfCells"][part]), int(root["NumberOfConnectivityIds"][part])
    return Topology(
        root["Connectivity"][ident : ident + ids],
        root["Offsets"][cell + part : cell + part + cells + 1],
        root["Types"][cell : cell + cells],
    )


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
