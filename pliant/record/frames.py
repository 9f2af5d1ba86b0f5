"""The frames of a run: what one holds, and reading them from a temporal VTKHDF unstructured grid."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import RunError

VTK_CELLS = {1: 1, 2: 3, 3: 5, 4: 10}  # vertices per cell -> VTK's number for vertex, line, triangle, tetrahedron
BODY = "body"  # the cell value that says which body a cell belongs to; stored with the topology, not with every frame
SIZES = ("NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds")


@dataclass(frozen=True, eq=False)
class VtkCells:
    """Cells as VTK wants them, from blocks (m, k) of vertex indices, one per body.

    ``bodies`` has the number of every cell's body; None in files that do not say.
    """

    connectivity: IntArray
    offsets: IntArray
    types: IntArray
    bodies: IntArray | None = None

    @staticmethod
    def of(blocks: Iterable[IntArray]) -> "VtkCells":
        given = [np.asarray(block, dtype=np.int64) for block in blocks]
        kept = [block for block in given if len(block)]
        sizes = np.concatenate([np.full(len(b), b.shape[1], dtype=np.int64) for b in kept] or [np.zeros(0, np.int64)])
        return VtkCells(
            np.concatenate([b.ravel() for b in kept] or [np.zeros(0, np.int64)]),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.array([VTK_CELLS[int(size)] for size in sizes], dtype=np.uint8),
            np.repeat(np.arange(len(given)), [len(block) for block in given]).astype(np.int64),
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

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        values = (self.point_values | self.cell_values).values()
        return self.points.nbytes + sum(value.nbytes for value in values)


def open_frames(path: str | Path) -> h5py.File:
    try:
        return h5py.File(path, "r", locking=False)
    except OSError as error:
        remedy = "`pliant resume` the run, or run it again"
        raise RunError(f"cannot open {path}: {first_line(error)}", where="frames", remedy=remedy) from error


def frame_count(file: Any) -> int:
    """How many frames are complete."""
    steps = file["VTKHDF/Steps"]
    return min(int(steps.attrs["NSteps"]), len(steps["Values"]))


def topology_place(steps: Any, k: int) -> tuple[int, int, int]:
    """Where the topology of frame k lies: its number, its first cell and its first entry of the connectivity."""
    part, cell, ident = (int(steps[n][k].item()) for n in ("PartOffsets", "CellOffsets", "ConnectivityIdOffsets"))
    return part, cell, ident


def read_frame(file: Any, k: int) -> Frame:
    """Frame k with all its values."""
    root, steps = file["VTKHDF"], file["VTKHDF/Steps"]
    part, first = int(steps["PartOffsets"][k]), int(steps["PointOffsets"][k])
    points, cells = int(root["NumberOfPoints"][part]), int(root["NumberOfCells"][part])
    values: dict[str, dict[str, Array]] = {}
    for group, length in (("PointData", points), ("CellData", cells)):
        starts = {name: int(steps[group + "Offsets"][name][k]) for name in root[group] if name != BODY}
        values[group] = {name: root[group][name][start : start + length] for name, start in starts.items()}
    x = root["Points"][first : first + points]
    return Frame(float(steps["Values"][k]), x, values["PointData"], values["CellData"])


def read_topology(file: Any, k: int) -> VtkCells:
    """The cells of frame k."""
    root, steps = file["VTKHDF"], file["VTKHDF/Steps"]
    part, cell, ident = topology_place(steps, k)
    cells, ids = int(root["NumberOfCells"][part]), int(root["NumberOfConnectivityIds"][part])
    bodies = root["CellData"][BODY][cell : cell + cells].astype(np.int64) if BODY in root["CellData"] else None
    return VtkCells(
        root["Connectivity"][ident : ident + ids],
        root["Offsets"][cell + part : cell + part + cells + 1],
        root["Types"][cell : cell + cells],
        bodies,
    )


def first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
