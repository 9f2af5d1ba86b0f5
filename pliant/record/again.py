"""Going on with a run: from its last checkpoint to the same end, or from there with other settings in a new folder."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pliant.certificate import plain
from pliant.checkpoint import Checkpoint
from pliant.errors import RunError
from pliant.linear.threads import one_thread
from pliant.origin import origin_of
from pliant.record.guard import different, file_sums, locked, physics
from pliant.record.output import Output
from pliant.record.recorder import RunRecorder, closing, drive, record
from pliant.record.run import CHECKPOINT, FRAMES, LEDGER, SCENE, Run, load
from pliant.scene_like import SceneLike
from pliant.simulate import TimeStep, beginning

ANCESTRY = "ancestry.json"  # the runs that a fork goes on from


@one_thread()
def resume(
    folder: str | Path,
    scene: SceneLike | None = None,
    *,
    output: Output | None = None,
    watch: Callable[[TimeStep], None] | None = None,
) -> Run:
    """Continue the run in ``folder`` from its last checkpoint; the result is that of an uninterrupted run.

    ``scene`` is needed only when the folder's ``scene.toml`` says that it was made in Python.
    """
    from pliant.scene_file import load_scene

    run = load(folder)
    origin, given = None, scene is not None
    with locked(run.folder):
        started = (run.folder / CHECKPOINT).is_file()
        start = run.checkpoint if started else None
        if start is not None:
            _same_files(run.folder, start)
        if scene is None:
            loaded = load_scene(run.folder / SCENE)
            scene, origin, output = loaded.scene, loaded.origin, output or loaded.output
        elif start is not None:
            _same_physics(scene, start)
        if start is None:  # what was written before the first checkpoint may be torn
            for name in (FRAMES, LEDGER):
                (run.folder / name).unlink(missing_ok=True)
        recorder = RunRecorder(scene, run.folder, output or Output(), origin or origin_of(scene))
        with closing(recorder):
            if start is None:  # killed before the first checkpoint: from the beginning
                system, start = beginning(scene)
                recorder.open(start, system, describe=given)
                return drive(recorder, start, system, watch)
            if start.step >= scene.steps and run.report["status"] == "finished":
                return run
            recorder.reopen(start)
            return drive(recorder, start, None, watch)


def fork(
    folder: str | Path,
    settings: Sequence[str],
    out: str | Path,
    *,
    watch: Callable[[TimeStep], None] | None = None,
) -> Run:
    """A new run in ``out`` that goes on from the last checkpoint of the one in ``folder``, with other settings.

    The state is kept, memory is not: multistep methods start anew. ``ancestry.json`` says where the
    new run comes from.
    """
    from pliant.scene_file import load_scene

    run = load(folder)
    start = run.checkpoint
    _same_files(run.folder, start)
    loaded = load_scene(run.folder / SCENE, settings)
    system, own = beginning(loaded.scene, None if start.topology is None else replace(start, memory=None))
    if own.state.q.shape != start.state.q.shape:
        what = f"the changed scene has {len(own.state.q)} coordinates, the run {len(start.state.q)}"
        raise RunError(what, where="--set", remedy="change what keeps the meshes as they are")
    begin = replace(start, memory=None, marks={})
    told = {"run": os.path.relpath(run.folder, out), "step": start.step, "t": start.state.t, "settings": list(settings)}
    before = run.folder / ANCESTRY
    chain = [*json.loads(before.read_text(encoding="utf-8")), told] if before.is_file() else [told]
    files = {**loaded.origin.files, ANCESTRY: json.dumps(plain(chain), indent=1).encode("utf-8")}
    origin = replace(loaded.origin, files=files)
    return record(loaded.scene, out, output=loaded.output, origin=origin, start=begin, watch=watch)


def _same_files(folder: Path, start: Checkpoint) -> None:
    """Refuse a checkpoint whose scene has been edited since."""
    marks = start.marks.get("files", {})
    now = file_sums(folder, marks)
    wrong = [name for name in marks if marks[name] != now[name]]
    if wrong:
        what = f"{folder / wrong[0]} is not the one that the run began with"
        remedy = "restore it; for a changed scene make a new run of it: pliant resume RUN --set PATH=VALUE"
        raise RunError(what, where="resume", remedy=remedy)


def _same_physics(scene: SceneLike, start: Checkpoint) -> None:
    """Refuse to go on with another scene than the one that was begun."""
    system, begin = beginning(scene)
    wrong = different(start.marks.get("physics", {}), physics(scene, system, begin.state))
    if wrong:
        what = f"the scene is not the one that the run began with: other {', '.join(wrong)}"
        raise RunError(what, where="resume", remedy="give the same scene, or record a new run of this one")
