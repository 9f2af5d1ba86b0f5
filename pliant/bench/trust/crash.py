"""trust/crash: whatever ends a run, the folder it leaves can be gone on with, to the same bytes.

Every kind of scene is recorded once by a process that writes down every operation on its files (`pliant.testing.disk`).
From that follow all folders that a kill leaves, after every operation and in the middle of every write, and those of
power cuts: nothing that was not synced, or part of it. Each is resumed, and compared with the run that was not stopped.
Then disks that are full, or fail, from some operation on; and kills of real processes at random moments.
"""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

from pliant.bench.table import Claim, Table
from pliant.bench.workers import spread
from pliant.errors import PliantError
from pliant.origin import origin_of
from pliant.record import Output, load, record, recorder, resume
from pliant.simulate import simulate
from pliant.testing.disk import build_shim, cuts, kills, lay, read_journal, shim, with_shim
from pliant.testing.essence import essence
from pliant.testing.kinds import KINDS

SAVED = Output(checkpoint_every=2, channels=("velocity",))
QUICK = ("solid", "soft and rigid, rows", "cut")
FAULTS = {"disk full": errno.ENOSPC, "disk fails": errno.EIO}
KILLS = 28  # of every kind of scene: more than 500 together
COUNTED = ("folders", "not begun", "differ", "unreadable", "full or failing", "met", "segfaults", "killed at random")


def run(*, quick: bool = False) -> Table:
    names = QUICK if quick else tuple(KINDS)
    with tempfile.TemporaryDirectory() as place:
        library = build_shim(Path(place))
        work = partial(tried, library, quick)
        return table(list(map(work, names) if quick else spread(work, names)))


def table(rows: list[dict[str, Any]]) -> Table:
    total = {key: sum(row[key] for row in rows) for key in COUNTED}
    bad, killed = total["full or failing"] - total["met"], total["killed at random"]
    claims = [
        Claim("kinds of scenes", f"all {len(KINDS)}", str(len(rows)), len(rows) == len(KINDS)),
        Claim("processes killed at random moments", ">= 500", str(killed), killed >= 500),
        Claim("runs that end differently", "0", f"{total['differ']} of {total['folders']}", not total["differ"]),
        Claim("folders that cannot be gone on with", "0", str(total["unreadable"]), not total["unreadable"]),
        Claim("bad disks that are not told in one line", "0", f"{bad} of {total['full or failing']}", not bad),
        Claim("segmentation faults", "0", str(total["segfaults"]), not total["segfaults"]),
    ]
    notes = [f"{row['scene']}: {said}" for row in rows for said in row.pop("said")][:20]
    return Table("trust/crash", "Runs that are stopped by force", rows, claims, notes)


def tried(library: Path, quick: bool, name: str) -> dict[str, Any]:
    """Everything that can happen to one kind of scene."""
    folder = library.parent / str(list(KINDS).index(name))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        journal(name, folder, library)
        row = untried(name, folder)
        rehearse(row, folder, every=5 if quick else 1)
        faulty(row, folder, library, every=40 if quick else 10)
        random_kills(row, folder, 3 if quick else KILLS)
    return row


def untried(name: str, folder: Path) -> dict[str, Any]:
    """The row of a scene that was recorded into a folder, before anything has happened to it."""
    operations = len(read_journal(folder / "journal"))
    return {"scene": name, "operations": operations, **dict.fromkeys(COUNTED, 0), "said": []}


def journal(name: str, folder: Path, library: Path) -> None:
    """Record a scene into ``run`` of the folder, with every operation on its files in ``journal`` beside that."""
    child("journal", name, folder, (), library)


def rehearse(row: dict[str, Any], folder: Path, *, every: int = 1) -> None:
    """All kills and power cuts of one kind of scene, from its journal."""
    whole, written = essence(folder / "run"), read_journal(folder / "journal")
    seen: set[int] = set()
    for k, (what, contents) in enumerate((*kills(folder / "run", written), *cuts(folder / "run", written))):
        mark = hash(tuple(sorted(contents.items())))
        if k % every or mark in seen:  # operations that change nothing leave the same folder
            continue
        seen.add(mark)
        judge(row, what, folder / f"state{k}", contents, whole)


def judge(row: dict[str, Any], what: str, folder: Path, contents: dict[str, bytes], whole: Any) -> None:
    """Resume the folder; what it comes to goes into the row."""
    if not {"report.json", "scene.toml"} <= set(contents):
        row["not begun"] += 1
        return
    lay(folder, contents)
    row["folders"] += 1
    verdict = gone_on(row["scene"], folder, whole)
    shutil.rmtree(folder)
    if verdict:
        kind = "differ" if verdict == "differs" else "unreadable"
        row[kind] += 1
        row["said"].append(f"{what}: {verdict}")


def begun(folder: Path) -> bool:
    """Whether there is something to go on with; without it the scene is run again."""
    return all((folder / name).is_file() for name in ("report.json", "scene.toml"))


def gone_on(name: str, folder: Path, whole: Any) -> str:
    """What is wrong with the resumed folder; "" if it is the same as the whole run."""
    scene = KINDS[name].build()
    try:
        resume(folder, scene if "made_in_python" in origin_of(scene).document else None, output=SAVED)
        same = essence(folder) == whole and load(folder).report["status"] == "finished"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "" if same else "differs"


def faulty(row: dict[str, Any], folder: Path, library: Path, *, every: int) -> None:
    """Full and failing disks from every so many operations of the run on, each in a process of its own.

    The first operation is another one for every kind of scene. ``met`` counts the runs that told of it in one line, and
    could be gone on with when the disk was well again.
    """
    operations = range(1 + list(KINDS).index(row["scene"]) % every, row["operations"], every)
    judge_faults(row, folder, library, [f"{fault}:{k}" for fault in FAULTS for k in operations])


def judge_faults(row: dict[str, Any], folder: Path, library: Path, cases: list[str]) -> None:
    """Runs whose disk is bad in the ways of ``cases``, "disk full:120" from the 120th operation on; all in one row."""
    child("fault", row["scene"], folder, cases, library)
    row["full or failing"] += len(cases)
    told = folder / "told"
    lines = told.read_text(encoding="utf-8").splitlines()
    told.unlink()
    for case, (wrong, code) in zip(cases, map(json.loads, lines), strict=True):
        row["met"] += not wrong and not code
        row["segfaults"] += code < 0
        row["said"] += [f"{case}: {wrong}"] if wrong else []
        row["said"] += [f"{case}: the process ended with {code}"] if code else []


def child(task: str, name: str, folder: Path, cases: Iterable[str], library: Path) -> None:
    """This module as a program, with every operation on files seen."""
    command = [sys.executable, "-W", "ignore", "-m", "pliant.bench.trust.crash", task, name, str(folder), *cases]
    subprocess.run(command, env=with_shim(library), check=True)


def random_kills(row: dict[str, Any], folder: Path, count: int) -> None:
    """Processes that record, killed at any moment; a fork of this one each, so that nothing has to be loaded."""
    build, chance, whole = KINDS[row["scene"]].build, random.Random(row["scene"]), essence(folder / "run")
    begun = time.monotonic()
    record(build(), folder / "timed", output=SAVED)
    seconds = time.monotonic() - begun
    for k in range(count):
        run = folder / f"killed {k}"
        process = os.fork()
        if not process:
            record(build(), run, output=SAVED)
            os._exit(0)
        time.sleep(chance.uniform(0.0, 1.2 * seconds))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        row["killed at random"] += 1
        files = {str(p.relative_to(run)): p.read_bytes() for p in run.rglob("*") if p.is_file()} if run.is_dir() else {}
        judge(row, f"kill {k}", folder / f"killed {k} again", files, whole)


def main(task: str, name: str, place: str, *cases: str) -> None:
    """In a process with the shim: record a scene with its journal, or on bad disks."""
    recorder.LAG = 0.0  # as in slow scenes: frames are written at once, so that files are ahead of checkpoints
    folder = Path(place)
    if task == "journal":
        recorded(folder, name)
        return
    next(simulate(KINDS[name].build()))  # so that all forks have its kernels
    for case in cases:
        alone(folder, partial(on_a_bad_disk, folder, name, *case.split(":")))


def alone(folder: Path, task: Callable[[], str]) -> None:
    """Do it in a fork of this process, which ends as processes do; what it says and its exit code go to ``told``."""
    said = folder / "said"
    process = os.fork()
    if not process:
        said.write_text(task(), encoding="utf-8")
        sys.exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    wrong = said.read_text(encoding="utf-8") if said.is_file() else ""
    said.unlink(missing_ok=True)
    with open(folder / "told", "a", encoding="utf-8") as told:
        told.write(json.dumps((wrong, code)) + "\n")


def recorded(folder: Path, name: str) -> None:
    (folder / "run").mkdir(parents=True)
    library = shim()
    library.disk_watch(str(folder / "run").encode(), str(folder / "journal").encode())
    record(KINDS[name].build(), folder / "run", output=SAVED)
    library.disk_watch(b"", b"")


def on_a_bad_disk(folder: Path, name: str, fault: str, at: str) -> str:
    """What is wrong with a run whose disk is full, or fails once, at an operation, and is well again afterwards."""
    run, library = folder / "bad", shim()
    shutil.rmtree(run, ignore_errors=True)  # of a process that died
    run.mkdir()
    library.disk_watch(str(run).encode(), b"")
    library.disk_fail(int(at), 10**9 if fault == "disk full" else int(at) + 1, FAULTS[fault])
    wrong = _met(name, run)
    library.disk_watch(b"", b"")
    wrong = wrong or (gone_on(name, run, essence(folder / "run")) if begun(run) else "")
    shutil.rmtree(run)
    return wrong


def _met(name: str, folder: Path) -> str:
    """Record on a bad disk: an error of one line, or none where the disk was only asked for what can be missed."""
    try:
        record(KINDS[name].build(), folder, output=SAVED)
    except PliantError as error:
        return "" if "\n" not in str(error) else f"an error of several lines: {error!r:.80}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


if __name__ == "__main__":
    main(*sys.argv[1:])
