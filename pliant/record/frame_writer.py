"""Writing the frames of a run: a temporal VTKHDF unstructured grid that survives a kill at any moment.

Every dataset has room for many frames and lies contiguous in the file from the start, so that recording a frame writes
values into places that exist already; only then is the number of frames raised. What a killed process leaves behind
is a valid file with all completed frames. A file that is full is copied into one with twice the room, synced and
renamed. Geometry that does not change is stored once: frames point at their topology.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from pliant.errors import RunError
from pliant.record.deferred import DeferredFile
from pliant.record.frames import (
    BODY,
    SIZES,
    Frame,
    VtkCells,
    first_line,
    frame_count,
    open_frames,
    read_topology,
    topology_place,
)

ROOM = 1 << 28  # bytes of frames that are reserved at first
STEP_OFFSETS = ("PartOffsets", "NumberOfParts", "PointOffsets", "CellOffsets", "ConnectivityIdOffsets")


@dataclass(frozen=True)
class _Room:
    """A dataset's place in the file: first byte, bytes per row, rows."""

    first: int
    row: int
    rows: int
    dtype: str


class FrameWriter:
    """Appends frames to a file. ``frames`` says how many are expected (room is reserved), more are always possible."""

    def __init__(self, path: str | Path, *, frames: int = 64) -> None:
        self.path = Path(path)
        self.count = 0
        self._expected = max(1, frames)
        self._file: Any = None
        self._disk: Any = None
        self._bytes = -1
        self._rooms: dict[str, _Room] = {}
        self._topology: VtkCells | None = None
        if self.path.exists():
            try:
                self._open()
            except (KeyError, OSError, RuntimeError, ValueError) as error:
                remedy = "take it from a backup, or run the scene again"
                raise RunError(
                    f"cannot read {self.path}: {first_line(error)}", where="frames", remedy=remedy
                ) from error

    def append(self, frame: Frame, topology: VtkCells) -> None:
        """Record a frame; ``topology`` is stored when its cells are not those of the frame before."""
        self.extend([(frame, topology)])

    def extend(self, frames: Sequence[tuple[Frame, VtkCells]]) -> None:
        """Record frames one after the other, for little more than the price of one."""
        try:
            self._extend(frames)
        except (OSError, RuntimeError) as error:
            raise RunError(
                f"cannot write frame {self.count} to {self.path}: {first_line(error)}",
                where="frames",
                remedy="free space or choose another folder; the frames before it are intact",
            ) from error

    def truncate(self, count: int) -> None:
        """Forget the frames from ``count`` on."""
        if count < self.count and self._file is not None:
            self._file["VTKHDF/Steps/Values"].resize((count,))
            self._set_count(count)
            self._topology, self._next = None, self._used()

    def sync(self) -> None:
        """All frames are on the disk when this returns."""
        if self._file is not None:
            self._flush()
            os.fsync(self._bytes)

    def close(self) -> None:
        if self._file is not None:
            file, self._file = self._file, None
            os.close(self._bytes)
            with self._disk:
                file.close()

    # ------------------------------------------------------------------------------------------------ writing

    def _extend(self, frames: Sequence[tuple[Frame, VtkCells]]) -> None:
        if not frames:
            return
        if self._file is None:
            self._create(*frames[0])
        next_, topology = self._next, self._topology
        places: dict[str, tuple[int, list[Any]]] = {}  # dataset -> first row, then the rows of one frame after another
        for k, (frame, cells) in enumerate(frames, self.count):
            new = cells is not topology and not self._same(cells, topology)
            next_, writes = self._plan(k, next_, frame, cells, new)
            for name, (first, rows) in writes.items():
                places.setdefault(name, (first, []))[1].append(rows)
            topology = cells
        joined = {name: (first, np.concatenate(rows)) for name, (first, rows) in places.items()}
        need = {name: first + len(rows) for name, (first, rows) in joined.items()}
        if any(self._rooms[name].rows < length for name, length in need.items()):
            self._grow(need)
        for name, (first, rows) in joined.items():
            self._write(name, first, rows)
        before = self.count
        self._set_count(before + len(frames))
        times = self._file["VTKHDF/Steps/Values"]
        times.resize((self.count,))
        times[before:] = [frame.t for frame, _ in frames]
        self._flush()
        self._topology, self._next = topology, next_

    def _plan(
        self, k: int, begin: dict[str, int], frame: Frame, topology: VtkCells, new: bool
    ) -> tuple[dict[str, int], dict[str, tuple[int, Any]]]:
        """Where the frame after frame k will begin, and what frame k writes: dataset -> (first row, rows)."""
        at = dict(begin)
        writes: dict[str, tuple[int, Any]] = {}
        if new:
            at |= {"part": at["parts"], "cell": at["cells"], "id": at["ids"]}
            sizes = (len(frame.points), topology.cells, len(topology.connectivity))
            writes |= {name: (at["part"], [size]) for name, size in zip(SIZES, sizes, strict=True)}
            writes["Connectivity"] = (at["id"], topology.connectivity)
            writes["Offsets"] = (at["cell"] + at["part"], topology.offsets)
            writes["Types"] = (at["cell"], topology.types)
            if f"CellData/{BODY}" in self._rooms and topology.bodies is not None:
                writes[f"CellData/{BODY}"] = (at["cell"], topology.bodies)
            at |= {"parts": at["part"] + 1, "cells": at["cell"] + sizes[1], "ids": at["id"] + sizes[2]}
        offsets = (at["part"], 1, at["Points"], at["cell"], at["id"])
        writes |= {f"Steps/{name}": (k, [value]) for name, value in zip(STEP_OFFSETS, offsets, strict=True)}
        writes["Points"] = (at["Points"], frame.points)
        if f"CellData/{BODY}" in self._rooms:
            writes[f"Steps/CellDataOffsets/{BODY}"] = (k, [at["cell"]])
        for group, values in (("PointData", frame.point_values), ("CellData", frame.cell_values)):
            for name, array in values.items():
                writes[f"{group}/{name}"] = (at[f"{group}/{name}"], array)
                writes[f"Steps/{group}Offsets/{name}"] = (k, [at[f"{group}/{name}"]])
        moved = {name: at[name] + len(rows) for name, (_, rows) in writes.items() if name in at}
        return at | moved, writes

    def _write(self, name: str, first: int, rows: Any) -> None:
        """Values into their reserved place, past HDF5: its bookkeeping does not change."""
        room = self._rooms[name]
        content = memoryview(np.ascontiguousarray(rows, dtype=room.dtype).tobytes())
        at = room.first + first * room.row
        while content:
            done = os.pwrite(self._bytes, content, at)
            content, at = content[done:], at + done

    def _set_count(self, count: int) -> None:
        self._file["VTKHDF/Steps"].attrs.modify("NSteps", np.int64(count))
        self._flush()
        self.count = count

    def _flush(self) -> None:
        self._file.flush()
        self._disk.check()

    # ------------------------------------------------------------------------------------------------ room

    def _used(self) -> dict[str, int]:
        """First free row of the growing datasets; ``part``, ``cell``, ``id`` say where the last topology lies."""
        root, steps, k = self._file["VTKHDF"], self._file["VTKHDF/Steps"], self.count - 1
        channels = {f"{g}/{n}": (g, n) for g in ("PointData", "CellData") for n in root[g] if n != BODY}
        if k < 0:
            return dict.fromkeys(["parts", "cells", "ids", "part", "cell", "id", "Points", *channels], 0)
        part, cell, ident = topology_place(steps, k)
        points, cells, ids = (int(root[name][part]) for name in SIZES)
        used = {"part": part, "cell": cell, "id": ident, "parts": part + 1, "cells": cell + cells, "ids": ident + ids}
        used["Points"] = int(steps["PointOffsets"][k]) + points
        for channel, (group, name) in channels.items():
            used[channel] = int(steps[group + "Offsets"][name][k]) + (points if group == "PointData" else cells)
        return used

    def _create(self, frame: Frame, topology: VtkCells) -> None:
        frames = max(1, min(self._expected, ROOM // max(frame.nbytes, 1)))
        shapes: dict[str, tuple[tuple[int, ...], str]] = dict.fromkeys(SIZES, ((1,), "i8"))
        shapes["Points"] = ((frames * len(frame.points), 3), "f8")
        shapes["Connectivity"] = ((len(topology.connectivity),), "i8")
        shapes["Offsets"] = ((topology.cells + 1,), "i8")
        shapes["Types"] = ((topology.cells,), "u1")
        if topology.bodies is not None:
            shapes |= {
                f"CellData/{BODY}": ((topology.cells,), "i4"),
                f"Steps/CellDataOffsets/{BODY}": ((frames,), "i8"),
            }
        shapes |= {f"Steps/{name}": ((frames,), "i8") for name in STEP_OFFSETS[:3]}
        shapes |= {f"Steps/{name}": ((frames, 1), "i8") for name in STEP_OFFSETS[3:]}
        for group, given in (("PointData", frame.point_values), ("CellData", frame.cell_values)):
            for name, value in given.items():
                shapes[f"{group}/{name}"] = ((frames * len(value), *value.shape[1:]), "f8")
                shapes[f"Steps/{group}Offsets/{name}"] = ((frames,), "i8")
        temporary = self.path.with_name(self.path.name + ".part")
        _write_empty(temporary, shapes, frames)
        os.replace(temporary, self.path)
        self._open()

    def _grow(self, need: dict[str, int]) -> None:
        """Move into a file with twice the room for what is full."""
        self.close()
        temporary = self.path.with_name(self.path.name + ".part")
        with open_frames(self.path) as old:
            root = old["VTKHDF"]
            rows = {n: 2 * need[n] if need.get(n, 0) > room.rows else room.rows for n, room in self._rooms.items()}
            shapes = {name: ((count, *root[name].shape[1:]), root[name].dtype.str) for name, count in rows.items()}
            _write_empty(temporary, shapes, rows["Steps/PartOffsets"])
            with DeferredFile(temporary, "r+b") as disk, h5py.File(disk, "r+") as new:
                for name in shapes:
                    new["VTKHDF"][name][: len(root[name])] = root[name][...]
                steps = new["VTKHDF/Steps"]
                steps["Values"].resize((self.count,))
                steps["Values"][...] = root["Steps/Values"][: self.count]
                steps.attrs.modify("NSteps", np.int64(self.count))
        with open(temporary, "rb+") as handle:
            os.fsync(handle.fileno())
        os.replace(temporary, self.path)
        self._open()

    def _open(self) -> None:
        self._disk = DeferredFile(self.path, "r+b")
        self._file = h5py.File(self._disk, "r+")
        self._bytes = os.open(self.path, os.O_WRONLY)
        self._rooms = _rooms(self._file["VTKHDF"])
        self._set_count(frame_count(self._file))
        self._topology, self._next = None, self._used()

    def _same(self, topology: VtkCells, last: VtkCells | None) -> bool:
        """Whether the last topology has the same cells: the one before in memory, after reopening that of the file."""
        if last is None:
            if self.count == 0:
                return False
            with open_frames(self.path) as file:
                last = read_topology(file, self.count - 1)
        return np.array_equal(last.connectivity, topology.connectivity) and np.array_equal(last.types, topology.types)


def _rooms(root: h5py.Group) -> dict[str, _Room]:
    """The places of all datasets but the times, whose length HDF5 keeps."""
    found: dict[str, _Room] = {}

    def note(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and name != "Steps/Values":
            row = item.dtype.itemsize * int(np.prod(item.shape[1:], dtype=np.int64))
            found[name] = _Room(item.id.get_offset() or 0, row, len(item), item.dtype.str)

    root.visititems(note)
    return found


def _write_empty(path: Path, shapes: dict[str, tuple[tuple[int, ...], str]], frames: int) -> None:
    """The skeleton of the file: all datasets with their room, no frames."""
    with DeferredFile(path, "w+b") as disk, h5py.File(disk, "w", libver="earliest") as file:
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


def _reserve(root: h5py.Group, name: str, shape: tuple[int, ...], dtype: str) -> None:
    """A contiguous dataset whose space exists from now on but is not written."""
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    plan.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    plan.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
    kind = h5py.h5t.py_create(np.dtype(dtype), logical=True)
    h5py.h5d.create(root.id, name.encode(), kind, h5py.h5s.create_simple(shape), plan)
