"""Recording: simulate a scene into a folder that is readable at every moment, and go on with one that was interrupted.

Frames and lines of the ledger are written together, once a second and before every checkpoint: one by one they would
cost more than the steps of a small scene.

The folder holds ``scene.toml`` (everything needed to run again), ``frames.vtkhdf``, ``ledger.csv``, ``report.json``
and ``checkpoint.h5``. Ctrl-C and SIGTERM finish the step, save and raise `Interrupted`.
"""

import csv
import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from time import monotonic, time
from typing import Any

from pliant import checkpoint, ledger
from pliant.attempt import StepFailed
from pliant.bundle import BUNDLE, write_bundle
from pliant.certificate import Certificate, certify, plain
from pliant.checkpoint import Checkpoint
from pliant.contact.initial import OverlapError
from pliant.errors import PliantError, RunError, require_flag
from pliant.integrators.base import Leading
from pliant.linear.threads import one_thread
from pliant.origin import Origin, origin_of
from pliant.record import channels
from pliant.record.frame_writer import FrameWriter
from pliant.record.frames import Frame, VtkCells
from pliant.record.guard import file_sums, frame_sum, locked, physics, release, reserve, stop_signals
from pliant.record.output import Output
from pliant.record.run import CHECKPOINT, FRAMES, LEDGER, REPORT, SCENE, Run, place_of
from pliant.record.summary import Summary, versions
from pliant.scene_like import SceneLike
from pliant.simulate import TimeStep, beginning, simulate
from pliant.state import Step
from pliant.systems.base import System
from pliant.systems.supports import support_forces
from pliant.units import InUnits

OVERLAPS = "overlaps.vtu"  # what a scene is refused for
SECONDS = 10.0  # between checkpoints, unless the output says otherwise
LAG, BATCH = 1.0, 1 << 23  # s by which files may be behind, bytes of frames that wait to be written together


class Interrupted(KeyboardInterrupt):
    """The user asked to stop; the run is saved and can be resumed."""


@one_thread()
def record(
    scene: SceneLike,
    folder: str | Path,
    *,
    output: Output | None = None,
    origin: Origin | None = None,
    overwrite: bool = False,
    watch: Callable[[TimeStep], None] | None = None,
    start: Checkpoint | None = None,
) -> Run:
    """Simulate ``scene`` and record it; ``watch`` sees every step, which the files have a second later at the latest.

    ``origin`` says where the scene came from (a file, a function); without it the scene describes itself. ``start`` is
    a state to begin with instead of the scene's own.
    """
    output = output or Output()
    folder = place_of(folder, "record")
    require_flag(overwrite, "record.overwrite")
    origin = origin or origin_of(scene)
    try:
        system, begin = beginning(scene, start)
    except OverlapError as overlap:
        _prepare(folder, overwrite)
        with _writing(folder / OVERLAPS):
            raise overlap.shown_in(folder / OVERLAPS) from None
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        _prepare(folder, overwrite)
        recorder = RunRecorder(scene, folder, output, origin)
        with closing(recorder):
            recorder.open(begin, system)
            return drive(recorder, begin, system, watch)


class RunRecorder:
    """The files of one run while it is being written."""

    def __init__(self, scene: SceneLike, folder: Path, output: Output, origin: Origin) -> None:
        self.scene, self.folder, self.output, self.origin = scene, folder, output, origin
        self.summary = Summary(
            scene.name, scene.steps, float(scene.h), units=scene.units if isinstance(scene, InUnits) else "SI"
        )
        self._frames = FrameWriter(folder / FRAMES, frames=scene.steps // output.every + 2)
        self._ledger = folder / LEDGER
        self._shape: tuple[Any, Any, Any] = (None, None, None)  # system, topology, blocks
        self._waiting: list[tuple[Frame, VtkCells]] = []
        self._lines: list[str] = []
        self._size = 0  # bytes of the frames that wait
        self._saved = self._flushed = monotonic()
        self._sums: dict[str, Any] = {"files": {}, "physics": {}, "frames_sum": ""}
        self._written = hashlib.sha256()  # of the ledger

    def open(self, start: Checkpoint, system: System, *, describe: bool = True) -> None:
        """First files: the scene, then the report, so that what has a report can be run again; the initial state."""
        if describe:
            self.origin.write(self.folder)
        self.report("running")
        with _writing(self.folder):
            reserve(self.folder)
        self._sums["files"] = file_sums(self.folder, [SCENE, *self.origin.files])
        self._sums["physics"] = physics(self.scene, system, start.state)
        row = ledger.opening(start.step, system, start.state, self.scene.integrator)
        self._columns = [*row.flat(), *ledger.CERTIFIED]
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(self._columns)
        self._lines.append(header.getvalue())
        with _writing(self._ledger):
            self._ledger.write_bytes(b"")
        self._line(row, certify(start.step, float(self.scene.h), [Step(start.state, None)], system, 0.0))
        still = partial(support_forces, system, start.state, static=self.scene.integrator.order == 0)
        self._frame(system, start.state, memory=start.memory, support=still)
        self._checkpoint(start)

    def reopen(self, start: Checkpoint) -> None:
        """Cut off everything that is later than the checkpoint; refuse what is not what it says."""
        marks = start.marks
        self._sums = {name: marks[name] for name in self._sums}
        with _writing(self._ledger):
            written = self._ledger.read_bytes()[: marks["ledger"]]
            self._written = hashlib.sha256(written)
            if len(written) != marks["ledger"] or self._written.hexdigest() != marks["ledger_sum"]:
                raise _unfit(self._ledger)
            if self._frames.count < marks["frames"] or self._frame_sum(marks["frames"]) != marks["frames_sum"]:
                raise _unfit(self.folder / FRAMES)
            os.truncate(self._ledger, marks["ledger"])
            self._columns = next(csv.reader(io.StringIO(written.decode("utf-8"), newline="")))
            reserve(self.folder)
        self._frames.truncate(marks["frames"])
        self.summary = marks["summary"]
        self.report("running")

    def step(self, step: TimeStep) -> None:
        self._line(step.ledger, step.report)
        if step.index % self.output.every == 0 or step.index == self.scene.steps:
            self._frame(step.system, step.state, step.acted, step.memory, step.support_forces)
        self.summary = self.summary.plus(step.report, step.ledger)
        k = self.output.checkpoint_every
        due = step.index % k == 0 if k else monotonic() - self._saved > SECONDS
        if due or step.index == self.scene.steps:
            self.save(step)
        elif monotonic() - self._flushed > LAG or self._size > BATCH:
            self._flush()

    def save(self, step: TimeStep) -> None:
        self._checkpoint(step.checkpoint())
        self.report("running")

    def report(self, status: str, error: str = "") -> None:
        """Replace ``report.json``."""
        path = self.folder / REPORT
        document = {"status": status, "error": error, "written": time(), **versions(), **self.summary.as_json()}
        temporary = path.with_name(REPORT + ".part")
        with _writing(path):
            temporary.write_text(json.dumps(plain(document), indent=1), encoding="utf-8")
            checkpoint.synced(temporary)
            os.replace(temporary, path)

    def close(self) -> None:
        try:
            self._flush()
        finally:
            with _writing(self.folder / FRAMES):
                self._frames.close()

    def _line(self, row: ledger.Row, certificate: Certificate) -> None:
        values: dict[str, float | None] = {**row.flat(), **ledger.certified(certificate)}
        found = (values.get(name, 0.0) for name in self._columns)
        text = ",".join("" if value is None else repr(value) for value in found) + "\n"
        self._lines.append(text)

    def _flush(self) -> None:
        """Write what waits; what cannot be written is not tried again, so that files can still be closed."""
        frames, lines = self._waiting, self._lines
        self._waiting, self._lines, self._size, self._flushed = [], [], 0, monotonic()
        if lines:
            content = "".join(lines).encode("utf-8")
            with _writing(self._ledger), open(self._ledger, "ab") as file:
                file.write(content)
            self._written.update(content)
        self._frames.extend(frames)

    def _frame_sum(self, count: int) -> str:
        """The sum of the first frames as they lie in the file; "" where they cannot be read."""
        total = ""
        try:
            for frame in islice(Run(self.folder).frames, count):
                total = frame_sum(total, frame)
        except (LookupError, RuntimeError, ValueError):
            return ""
        return total

    def _frame(self, system: System, state: Any, acted: Any = None, memory: Any = None, support: Any = None) -> None:
        if self._shape[0] is not system:
            self._shape = (system, *channels.topology_of(system, system.positions(state.q)))
        _, topology, blocks = self._shape
        wanted, integrator, leading = self.output.channels, self.scene.integrator, None
        if "leading" in wanted and isinstance(integrator, Leading):
            leading = integrator.leading(system, memory)
        frame = channels.frame_of(system, state, blocks, wanted, acted, leading, support)
        self._waiting.append((frame, topology))
        self._size += frame.nbytes
        self._sums["frames_sum"] = frame_sum(self._sums["frames_sum"], frame)

    def _checkpoint(self, point: Checkpoint) -> None:
        """What the checkpoint refers to is on the disk before it."""
        self._flush()
        with _writing(self.folder):
            self._frames.sync()
            checkpoint.synced(self._ledger)
            checkpoint.synced(self.folder)
            marks = {"frames": self._frames.count, "ledger": self._ledger.stat().st_size, "summary": self.summary}
        marks |= {**self._sums, "ledger_sum": self._written.hexdigest()}
        checkpoint.save(self.folder / CHECKPOINT, replace(point, marks=marks))
        self._saved = monotonic()


def drive(
    recorder: RunRecorder, start: Checkpoint, system: System | None, watch: Callable[[TimeStep], None] | None
) -> Run:
    step: TimeStep | None = None
    try:
        with stop_signals() as stopped:
            for step in simulate(recorder.scene, start=start, system=system):
                recorder.step(step)
                if watch is not None:
                    watch(step)
                if stopped() and step.index < recorder.scene.steps:
                    recorder.save(step)
                    raise Interrupted(f"stopped after step {step.index} of {recorder.scene.steps}")
        recorder.close()  # a run whose files cannot be closed has not finished
        recorder.report("finished")
    except StepFailed as failed:
        if step is not None:
            recorder.save(step)
        recorder.report("failed", str(failed))
        failed.bundle = write_bundle(recorder.folder / BUNDLE, failed.failure, recorder.origin)
        raise
    except Interrupted as error:
        recorder.report("interrupted", str(error))
        raise
    return Run(recorder.folder)


@contextmanager
def closing(recorder: RunRecorder) -> Iterator[None]:
    """Whatever happens, the report says so and the files are closed; a full disk gives back what was reserved."""
    try:
        yield
    except (StepFailed, Interrupted):
        raise
    except Exception as error:
        release(recorder.folder)
        recorder.report("failed", " ".join(str(error).split()) if isinstance(error, PliantError) else repr(error))
        raise
    finally:
        release(recorder.folder)
        recorder.close()


def _unfit(path: Path) -> RunError:
    what = f"{path} is not the one that the checkpoint belongs to"
    return RunError(what, where="resume", remedy="take the whole folder from one moment, or run the scene again")


def _prepare(folder: Path, overwrite: bool) -> None:
    """An empty folder to record into."""
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        taken = [name for name in (REPORT, FRAMES, LEDGER, CHECKPOINT) if (folder / name).exists()]
        if taken and not overwrite:
            remedy = "choose another folder, `pliant resume` it, or replace it: --overwrite, overwrite=True"
            raise RunError(f"{folder} already holds a run ({taken[0]})", where="record", remedy=remedy)
        for name in (*taken, OVERLAPS):
            (folder / name).unlink(missing_ok=True)
        if taken:
            shutil.rmtree(folder / BUNDLE, ignore_errors=True)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise RunError(f"cannot write {path}: {reason}", where="record", remedy="free space or change --out") from error
