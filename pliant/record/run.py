"""A recorded run: its frames, ledger and report, read from the folder it lies in."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.checkpoint import Checkpoint
from pliant.checkpoint import load as load_checkpoint
from pliant.errors import RunError
from pliant.record.frames import Frame, Topology, open_frames, read_topology

SCENE, FRAMES, LEDGER, REPORT, CHECKPOINT = "scene.toml", "frames.vtkhdf", "ledger.csv", "report.json", "checkpoint.h5"


class Frames:
    """The frames of a run as a sequence of `Frame`; each is read when asked for."""

    def __init__(self, path: Path) -> None:
        self._file = open_frames(path)
        self._steps = self._file["VTKHDF/Steps"]
        self._length = min(int(self._steps.attrs["NSteps"]), len(self._steps["Values"]))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Frame]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, k: int) -> Frame:
        if not -len(self) <= k < len(self):
            raise IndexError(f"frame {k} of {len(self)}")
        k %= len(self)
        root, steps = self._file["VTKHDF"], self._steps
        part, first = int(steps["PartOffsets"][k]), int(steps["PointOffsets"][k])
        points, cells = int(root["NumberOfPoints"][part]), int(root["NumberOfCells"][part])
        values: dict[str, dict[str, Array]] = {}
        for group, length in (("PointData", points), ("CellData", cells)):
            starts = {name: int(steps[group + "Offsets"][name][k]) for name in root[group]}
            values[group] = {name: root[group][name][start : start + length] for name, start in starts.items()}
        x = root["Points"][first : first + points]
        return Frame(float(steps["Values"][k]), x, values["PointData"], values["CellData"])

    @property
    def times(self) -> Array:
        """Times of all frames [s]."""
        return self._steps["Values"][: self._length]

    def topology(self, k: int = 0) -> Topology:
        """Cells of frame k."""
        return read_topology(self._file, k)

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True)
class Run:
    """The folder of a run; ``frames``, ``ledger`` (columns by name), ``report`` and ``checkpoint`` are read lazily."""

    folder: Path

    @cached_property
    def frames(self) -> Frames:
        return Frames(self.folder / FRAMES)

    @cached_property
    def ledger(self) -> dict[str, Array]:
        path = self.folder / LEDGER
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        columns = zip(*rows[1:], strict=True) if len(rows) > 1 else [()] * len(rows[0])
        return {name: np.array(column, dtype=np.float64) for name, column in zip(rows[0], columns, strict=True)}

    @property
    def report(self) -> dict[str, Any]:
        return json.loads((self.folder / REPORT).read_text(encoding="utf-8"))

    @property
    def checkpoint(self) -> Checkpoint:
        return load_checkpoint(self.folder / CHECKPOINT)


def load(folder: str | Path) -> Run:
    """The run recorded in ``folder``."""
    folder = Path(folder)
    if not (folder / REPORT).is_file():
        raise RunError(f"{folder} is not a run folder: it has no {REPORT}", where="load")
    return Run(folder)
