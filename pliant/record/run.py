"""A recorded run: its frames, ledger and report, read from the folder it lies in."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.checkpoint import Checkpoint
from pliant.checkpoint import load as load_checkpoint
from pliant.errors import MissingDependency, RunError
from pliant.html import Inline, table
from pliant.record.frames import Frame, VtkCells, frame_count, open_frames, read_frame, read_topology
from pliant.units import ENERGY

SCENE, FRAMES, LEDGER, REPORT, CHECKPOINT = "scene.toml", "frames.vtkhdf", "ledger.csv", "report.json", "checkpoint.h5"


class Frames:
    """The frames of a run as a sequence of `Frame`, each read when asked for.

    The file is open only while something is read, so that a run that is still going can be watched and resumed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def __len__(self) -> int:
        with open_frames(self._path) as file:
            return frame_count(file)

    def __iter__(self) -> Iterator[Frame]:
        with open_frames(self._path) as file:
            for k in range(frame_count(file)):
                yield read_frame(file, k)

    def __getitem__(self, k: int) -> Frame:
        with open_frames(self._path) as file:
            return read_frame(file, _checked(file, k))

    @property
    def times(self) -> Array:
        """Times of all frames [s]."""
        with open_frames(self._path) as file:
            return file["VTKHDF/Steps/Values"][: frame_count(file)]

    def topology(self, k: int = 0) -> VtkCells:
        """Cells of frame k."""
        with open_frames(self._path) as file:
            return read_topology(file, _checked(file, k))


def _checked(file: Any, k: int) -> int:
    count = frame_count(file)
    if not -count <= k < count:
        raise IndexError(f"frame {k} of {count}")
    return k % count


@dataclass(frozen=True)
class Run:
    """The folder of a run; ``frames``, ``ledger`` (columns by name), ``report`` and ``checkpoint`` are read lazily."""

    folder: Path

    @cached_property
    def frames(self) -> Frames:
        return Frames(self.folder / FRAMES)

    @cached_property
    def ledger(self) -> dict[str, Array]:
        """The columns of ``ledger.csv``; NaN is what the system did not know.

        A last line that a kill has torn is left out: the checkpoint is from before it.
        """
        path = self.folder / LEDGER
        try:
            text = path.read_bytes().decode("utf-8")
            if "\0" in text:
                raise ValueError("it holds zero bytes")
            lines = list(csv.reader(StringIO(text[: text.rfind("\n") + 1], newline="")))
            names, rows = lines[0], [[_number(value) for value in line] for line in lines[1:]]
        except (OSError, UnicodeDecodeError, ValueError, IndexError, csv.Error) as error:
            remedy = "`pliant resume` it, or run it again"
            raise RunError(f"cannot read {path}: {error}", where="ledger", remedy=remedy) from error
        torn = next((k for k, row in enumerate(rows) if len(row) != len(names)), None)
        if torn is not None:
            what = f"{path}: line {torn + 2} has {len(rows[torn])} values, not {len(names)}"
            raise RunError(what, where="ledger", remedy="`pliant resume` it, or run it again")
        table = np.array(rows).reshape(-1, len(names))
        return {name: table[:, k].copy() for k, name in enumerate(names)}

    @property
    def report(self) -> dict[str, Any]:
        path = self.folder / REPORT
        try:
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise RunError(f"cannot read {path}: {error}", where="report", remedy="run the scene again") from error

    @property
    def energy_unit(self) -> str:
        """What its energies are in; runs that do not say are in SI units."""
        return ENERGY[self.report.get("units", "SI")]

    def plot(self, *panels: str) -> Inline:
        """Energies, numerical dissipation and iterations over time (some of `pliant.plots.PANELS`), for a notebook."""
        from pliant.plots import plot_runs

        return Inline(plot_runs([self], self.folder / "plot.png", panels))

    def show(self, channel: str | None = None, *, to: str = "mp4", size: tuple[int, int] = (640, 360)) -> Inline:
        """A film of the run (or "gif", or "png" of its last frame), coloured by a channel, for a notebook.

        ``pliant view FOLDER`` opens it in the browser instead.
        """
        from pliant.export import PICTURES, Look, clip

        if to not in PICTURES:
            raise RunError(f"to is {to!r}", where="Run.show", remedy=f"use {', '.join(PICTURES)}")
        chosen = () if channel is None else (channel,)
        look = Look(size=size, channel=channel)
        return Inline(PICTURES[to](clip(self, chosen), self.folder / f"show.{to}", look))

    @property
    def dataframe(self) -> Any:
        """The ledger as a pandas DataFrame, one row per step."""
        try:
            import pandas
        except ImportError as error:
            remedy = 'pip install "pliant[tables]"'
            raise MissingDependency("pandas is not installed", where="Run.dataframe", remedy=remedy) from error
        return pandas.DataFrame(self.ledger).set_index("step")

    def _repr_html_(self) -> str:
        told, unit = self.report, self.energy_unit
        rows = {name: told[name] for name in ("status", "done", "steps", "h", "iterations", "unconverged")}
        rows |= {f"energy [{unit}]": sum(told["energies"].values()), f"numerical [{unit}]": told["numerical"]}
        rows |= {"min det F": told["min_det"], "penetration [m]": told["penetration"], "folder": self.folder}
        return table(f"Run of {told['name']}", rows)

    @property
    def checkpoint(self) -> Checkpoint:
        return load_checkpoint(self.folder / CHECKPOINT)


def _number(text: str) -> float:
    return float(text) if text else float("nan")


def place_of(folder: Any, where: str) -> Path:
    """The path of a folder with a run, or to record into."""
    if not isinstance(folder, str | Path) or not str(folder) or "\0" in str(folder):
        raise RunError(f"the folder is {folder!r}", where=where, remedy="give a path")
    return Path(folder)


def load(folder: str | Path) -> Run:
    """The run recorded in ``folder``."""
    folder = place_of(folder, "load")
    if not (folder / REPORT).is_file():
        remedy = "give a folder that `pliant run` has made"
        raise RunError(f"{folder} is not a run folder: it has no {REPORT}", where="load", remedy=remedy)
    return Run(folder)
