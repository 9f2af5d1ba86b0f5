"""Sweeps: one scene with every combination of some settings, each a run of its own; one table at the end.

The folder of a run is named after its settings. A sweep that is started again skips what is finished and goes on with
what was interrupted, so the same command always ends with the same table. Points run in processes of this machine, or
on workers of a dask.distributed scheduler that see the same folders (one thread each: ``dask worker --nthreads 1``). A
worker that dies loses nothing: another one goes on from the last checkpoint of its run.

In batches, points are stepped together as one scene (`pliant.batch`), which is what a GPU wants; they have no folders:
the positions and velocities that a batch ends with are in ``batch-0.npz``, one row per point.
"""

import csv
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from hashlib import sha1
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np

from pliant.attempt import StepFailed
from pliant.errors import MissingDependency, PliantError, RunError, SceneError

TABLE = "sweep.csv"
REPORTED = ("iterations", "unconverged", "substepped", "numerical", "min_det", "penetration")  # columns of report.json
Row = dict[str, Any]


@dataclass(frozen=True)
class SweepPoint:
    """One run: the scene's name or file, its settings (``path=value``), of these the swept ones, and its folder."""

    scene: str
    settings: tuple[str, ...]
    swept: dict[str, str]
    folder: Path


def axis(text: str) -> tuple[str, tuple[str, ...]]:
    """``material.E=1e4,1e5`` -> its path and values; commas within brackets belong to the value."""
    path, equals, values = text.partition("=")
    found = tuple(value.strip() for value in re.split(r",(?![^\[{(]*[\]})])", values))
    if not equals or not path.strip() or not all(found):
        raise SceneError(f"{text!r} is not an axis", where="--over", remedy="write it like material.E=1e4,1e5,1e6")
    if len(set(found)) < len(found):
        raise SceneError(f"{text!r} has a value twice", where="--over", remedy="give every value once")
    return path.strip(), found


def points(scene: str, over: Sequence[str], settings: Sequence[str], folder: Path) -> list[SweepPoint]:
    """All combinations of the axes ``over``, the last axis fastest."""
    axes = dict(axis(text) for text in over)
    if len(axes) < len(over):
        raise SceneError(f"an axis is given twice: {', '.join(over)}", where="--over", remedy="join their values")
    if not axes:
        raise SceneError("nothing to sweep over", where="--over", remedy="give at least one, e.g. --over h=0.01,0.02")
    made = []
    for values in product(*axes.values()):
        swept = dict(zip(axes, values))
        chosen = (*settings, *(f"{path}={value}" for path, value in swept.items()))
        made.append(SweepPoint(scene, chosen, swept, folder / _name(scene, chosen, swept)))
    return made


def sweep(
    todo: Sequence[SweepPoint],
    *,
    workers: int = 2,
    cluster: str | None = None,
    watch: Callable[[Row], None] | None = None,
) -> list[Row]:
    """Run all points; rows in the order of the points, also in the folder's ``sweep.csv``.

    They run in so many processes, or on the workers of the scheduler at ``cluster`` (tcp://host:port). A run that fails
    is a row that says so. ``watch`` sees every row when it is ready.
    """
    if workers < 1:
        raise RunError(f"{workers} workers", where="--workers", remedy="use at least 1")
    rows: dict[int, Row] = {}
    for k, row in _finished(todo, workers) if cluster is None else _finished_elsewhere(todo, cluster):
        rows[k] = row
        if watch is not None:
            watch(row)
    ordered = [rows[k] for k in sorted(rows)]
    write_table(ordered, todo[0].folder.parent / TABLE)
    return ordered


def sweep_batches(todo: Sequence[SweepPoint], size: int, *, watch: Callable[[Row], None] | None = None) -> list[Row]:
    """Run all points, ``size`` at a time as one scene; rows in the order of the points, also in ``sweep.csv``."""
    if size < 1:
        raise RunError(f"batches of {size}", where="--batch", remedy="use at least 1")
    rows: list[Row] = []
    folder = todo[0].folder.parent
    folder.mkdir(parents=True, exist_ok=True)
    for k, first in enumerate(range(0, len(todo), size)):
        for row in run_batch(todo[first : first + size], folder / f"batch-{k}.npz"):
            rows.append(row)
            if watch is not None:
                watch(row)
    write_table(rows, folder / TABLE)
    return rows


def run_batch(batch: Sequence[SweepPoint], states: Path) -> list[Row]:
    """Step some points together; their lines of the table. One that fails fails for all."""
    from pliant.batch import parted, together
    from pliant.certificate import smallest_det
    from pliant.scene_file import load_scene
    from pliant.simulate import simulate

    scenes = [load_scene(point.scene, point.settings).scene for point in batch]
    begun, iterations, last = perf_counter(), 0, None
    try:
        for last in simulate(together(scenes)):
            iterations += last.report.iterations
    except StepFailed as error:
        reason = " ".join(str(error).split())
        return [{**p.swept, "status": "failed", "folder": states.name, "error": reason} for p in batch]
    assert last is not None
    spent, ends = (perf_counter() - begun) / len(batch), parted(scenes, last.state)
    np.savez_compressed(states, q=[end.q for end in ends], v=[end.v for end in ends], t=last.state.t)
    rows = []
    for point, scene, end in zip(batch, scenes, ends, strict=True):
        system = scene.system()
        found = {"iterations": iterations, "min_det": smallest_det(system, end.q)}
        energy = sum(system.energies(end.q, end.v, end.t).values())
        row = {**point.swept, "status": "finished", "steps": last.index, **found, "energy": energy}
        rows.append({**row, "seconds": spent, "folder": states.name})
    return rows


def run_point(point: SweepPoint) -> Row:
    """Run, resume or just read one point; its line of the table.

    The files of a worker that was killed a moment ago may still be locked: what it has left is tried a second time.
    """
    left = point.folder.exists()
    try:
        try:
            return _taken_up(point)
        except RunError:
            if not left:
                raise
            sleep(1.0)
            return _taken_up(point)
    except PliantError as error:
        reason = " ".join(str(error).split())
        return {**point.swept, "status": "failed", "folder": point.folder.name, "error": reason}


def _taken_up(point: SweepPoint) -> Row:
    from pliant.record import load, record, resume
    from pliant.record.run import CHECKPOINT, REPORT
    from pliant.scene_file import load_scene

    status = load(point.folder).report["status"] if (point.folder / REPORT).is_file() else "new"
    if status in ("running", "interrupted") and (point.folder / CHECKPOINT).is_file():
        resume(point.folder)
    elif status != "finished":
        loaded = load_scene(point.scene, point.settings)
        record(loaded.scene, point.folder, output=loaded.output, origin=loaded.origin, overwrite=True)
    return _row(point, load(point.folder).report)


def write_table(rows: Sequence[Row], path: Path) -> Path:
    """The rows as CSV with one column for every key of any row."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    return path


def _row(point: SweepPoint, report: dict[str, Any]) -> Row:
    return {
        **point.swept,
        "status": report["status"],
        "steps": report["done"],
        **{name: report[name] for name in REPORTED},
        "factorizations": report["counts"]["factorizations"],
        "energy": sum(report["energies"].values()),
        "seconds": report["seconds"].get("step", 0.0),
        "folder": point.folder.name,
    }


def _finished(todo: Sequence[SweepPoint], workers: int) -> Iterator[tuple[int, Row]]:
    """Rows as they get ready, with their numbers. Processes are spawned: threads of kernels do not survive a fork."""
    with ProcessPoolExecutor(min(workers, len(todo)), get_context("spawn"), initializer=_one_thread) as pool:
        running = {pool.submit(run_point, point): k for k, point in enumerate(todo)}
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        except BrokenProcessPool as error:
            remedy = "give the same command again: it goes on where it stopped"
            raise RunError("a worker process was killed", where="sweep", remedy=remedy) from error


def _finished_elsewhere(todo: Sequence[SweepPoint], cluster: str) -> Iterator[tuple[int, Row]]:
    """The same on a cluster; its scheduler gives the points of a dead worker to another one."""
    try:
        import distributed
    except ImportError as error:
        raise MissingDependency(
            "distributed is not installed", where="--cluster", remedy="pip install distributed"
        ) from error
    try:
        client = distributed.Client(cluster, timeout=5.0)
    except (OSError, ValueError) as error:
        remedy = "start one with `dask scheduler` and workers with `dask worker ADDRESS --nthreads 1`"
        raise RunError(f"no scheduler answers at {cluster}", where="--cluster", remedy=remedy) from error
    with client:
        there = [replace(point, scene=_reachable(point.scene), folder=point.folder.resolve()) for point in todo]
        running = {client.submit(run_point, point, pure=False): k for k, point in enumerate(there)}
        for future in distributed.as_completed(running):
            try:
                yield running[future], future.result()
            except Exception as error:  # whatever a foreign machine may lack
                reason = f"a worker failed: {type(error).__name__}: {error}"
                remedy = "install the same pliant there; the same command goes on where it stopped"
                raise RunError(reason, where="--cluster", remedy=remedy) from error


def _reachable(scene: str) -> str:
    """A scene file by its whole path; built-in names stay."""
    return str(Path(scene).resolve()) if Path(scene).is_file() else scene


def _one_thread() -> None:
    """Workers share the machine, so that each uses one thread unless asked otherwise."""
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")


def _name(scene: str, settings: Sequence[str], swept: dict[str, str]) -> str:
    """A readable folder name that differs whenever any setting does."""
    words = "_".join(f"{path.rsplit('.', 1)[-1]}-{value}" for path, value in swept.items())
    mark = sha1("\n".join([scene, *settings]).encode()).hexdigest()[:8]
    return re.sub(r"[^A-Za-z0-9_.+-]+", "", words)[:80] + "-" + mark
