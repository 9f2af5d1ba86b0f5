"""Recording: simulate a scene into a folder that is readable at every moment, and go on with one that was interrupted.

The folder holds ``scene.toml`` (everything needed to run again), ``frames.vtkhdf``, ``ledger.csv``, ``report.json``
and ``checkpoint.h5``. Ctrl-C and SIGTERM finish the step, save and raise `Interrupted`.
"""

import csv
import json
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic, time
from typing import Any

from pliant import checkpoint, ledger
from pliant.bundle import BUNDLE, write_bundle
from pliant.certificate import Certificate, certify, plain
from pliant.checkpoint import Checkpoint
from pliant.contact.initial import OverlapError
from pliant.errors import PliantError, RunError
from pliant.origin import Origin, origin_of
from pliant.record import channels
from pliant.record.frames import FrameWriter
from pliant.record.output import Output
from pliant.record.run import CHECKPOINT, FRAMES, LEDGER, REPORT, Run, load
from pliant.record.summary import Summary, versions
from pliant.simulate import SceneLike, StepFailed, TimeStep, beginning, simulate
from pliant.state import Step

OVERLAPS = "overlaps.vtu"  # what a scene is refused for
SECONDS = 10.0  # between checkpoints, unless the output says otherwise


class Interrupted(KeyboardInterrupt):
    """The user asked to stop; the run is saved and can be resumed."""


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
    """Simulate ``scene`` and record it; ``watch`` sees every step after it was written.

    ``origin`` says where the scene came from (a file, a function); without it the scene describes itself. ``start`` is
    a state to begin with instead of the scene's own.
    """
    output = output or Output()
    folder = Path(folder)
    origin = origin or origin_of(scene)
    try:
        system, begin = beginning(scene, start)
    except OverlapError as overlap:
        _prepare(folder, overwrite)
        with _writing(folder / OVERLAPS):
            raise overlap.shown_in(folder / OVERLAPS) from None
    _prepare(folder, overwrite)
    recorder = _Recorder(scene, folder, output, origin)
    recorder.open(begin, system)
    return _drive(recorder, begin, system, watch)


def resume(
    folder: str | Path,
    scene: SceneLike | None = None,
    *,
    output: Output | None = None,
    watch: Callable[[TimeStep], None] | None = None,
) -> Run:
    """Go on with the run in ``folder`` from its last checkpoint; the result is that of a run never interrupted.

    ``scene`` is needed only when the folder's ``scene.toml`` says that it was made in Python.
    """
    from pliant.scene_file import load_scene

    run = load(folder)
    origin = None
    if scene is None:
        loaded = load_scene(run.folder / "scene.toml")
        scene, origin, output = loaded.scene, loaded.origin, output or loaded.output
    start = run.checkpoint
    if start.step >= scene.steps and run.report["status"] == "finished":
        return run
    recorder = _Recorder(scene, run.folder, output or Output(), origin or origin_of(scene))
    recorder.reopen(start)
    return _drive(recorder, start, None, watch)


class _Recorder:
    """The files of one run while it is being written."""

    def __init__(self, scene: SceneLike, folder: Path, output: Output, origin: Origin) -> None:
        self.scene, self.folder, self.output, self.origin = scene, folder, output, origin
        self.summary = Summary(scene.name, scene.steps, float(scene.h))
        self._frames = FrameWriter(folder / FRAMES, frames=scene.steps // output.every + 2)
        self._ledger = folder / LEDGER
        self._shape: tuple[Any, Any, Any] = (None, None, None)  # system, topology, blocks
        self._saved = monotonic()

    def open(self, start: Checkpoint, system: Any) -> None:
        """First files: the report, so that no folder is without one; the scene; the initial state."""
        self.report("running")
        self.origin.write(self.folder)
        row = ledger.opening(start.step, system, start.state, self.scene.integrator)
        self._columns = [*row.flat(), *ledger.CERTIFIED]
        with _writing(self._ledger), open(self._ledger, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(self._columns)
        self._line(row, certify(start.step, float(self.scene.h), [Step(start.state, None)], system, 0.0))
        self._frame(system, start.state)
        self._checkpoint(start)

    def reopen(self, start: Checkpoint) -> None:
        """Cut off everything that is later than the checkpoint."""
        self._frames.truncate(start.marks["frames"])
        with _writing(self._ledger):
            os.truncate(self._ledger, start.marks["ledger"])
            with open(self._ledger, encoding="utf-8", newline="") as file:
                self._columns = next(csv.reader(file))
        self.summary = start.marks["summary"]
        self.report("running")

    def step(self, step: TimeStep) -> None:
        self._line(step.ledger, step.report)
        if step.index % self.output.every == 0 or step.index == self.scene.steps:
            self._frame(step.system, step.state, step.acted)
        self.summary = self.summary.plus(step.report, step.ledger)
        k = self.output.checkpoint_every
        due = step.index % k == 0 if k else monotonic() - self._saved > SECONDS
        if due or step.index == self.scene.steps:
            self.save(step)

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
            os.replace(temporary, path)

    def close(self) -> None:
        self._frames.close()

    def _line(self, row: ledger.Row, certificate: Certificate) -> None:
        values: dict[str, float | None] = {**row.flat(), **certified(certificate)}
        found = (values.get(name, 0.0) for name in self._columns)
        text = ",".join("" if value is None else repr(value) for value in found) + "\n"
        with _writing(self._ledger), open(self._ledger, "a", encoding="utf-8") as file:
            file.write(text)

    def _frame(self, system: Any, state: Any, acted: Any = None) -> None:
        if self._shape[0] is not system:
            self._shape = (system, *channels.topology_of(system, system.positions(state.q)))
        _, topology, blocks = self._shape
        self._frames.append(channels.frame_of(system, state, blocks, self.output.channels, acted), topology)

    def _checkpoint(self, point: Checkpoint) -> None:
        marks = {"frames": self._frames.count, "ledger": self._ledger.stat().st_size, "summary": self.summary}
        checkpoint.save(self.folder / CHECKPOINT, replace(point, marks=marks))
        self._saved = monotonic()


def certified(c: Certificate) -> dict[str, float | None]:
    """The columns of the ledger that come from the certificate; what is unknown stays empty."""
    values = (c.residual, c.iterations, c.counts.factorizations, c.min_det, c.contacts, c.penetration, c.distance)
    return dict(zip(ledger.CERTIFIED, (int(c.converged), *values, c.substeps, c.seconds["step"]), strict=True))


def _drive(recorder: _Recorder, start: Checkpoint, system: Any, watch: Callable[[TimeStep], None] | None) -> Run:
    step: TimeStep | None = None
    try:
        with _stop_signals() as stopped:
            for step in simulate(recorder.scene, start=start, system=system):
                recorder.step(step)
                if watch is not None:
                    watch(step)
                if stopped() and step.index < recorder.scene.steps:
                    recorder.save(step)
                    raise Interrupted(f"stopped after step {step.index} of {recorder.scene.steps}")
        recorder.report("finished")
    except StepFailed as failed:
        if step is not None:
            recorder.save(step)
        failed.bundle = write_bundle(recorder.folder / BUNDLE, failed.failure, recorder.origin)
        recorder.report("failed", str(failed))
        raise
    except Interrupted as error:
        recorder.report("interrupted", str(error))
        raise
    except PliantError as error:
        recorder.report("failed", str(error))
        raise
    finally:
        recorder.close()
    return Run(recorder.folder)


@contextmanager
def _stop_signals() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM set a flag instead of ending the process; outside the main thread nothing changes."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def note(number: int, frame: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt  # the second Ctrl-C means it
        asked.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _prepare(folder: Path, overwrite: bool) -> None:
    """An empty folder to record into."""
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        taken = [name for name in (REPORT, FRAMES, LEDGER, CHECKPOINT) if (folder / name).exists()]
        if taken and not overwrite:
            remedy = "choose another folder, resume it, or overwrite it"
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
