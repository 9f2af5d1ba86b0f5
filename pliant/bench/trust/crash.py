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
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pliant.bench.table import Claim, Table
from pliant.errors import PliantError
from pliant.origin import origin_of
from pliant.record import Output, load, record, resume
from pliant.testing.disk import build_shim, cuts, kills, lay, read_journal, shim, with_shim
from pliant.testing.essence import essence
from pliant.testing.kinds import KINDS

SAVED = Output(checkpoint_every=2, channels=("velocity",))
QUICK = ("solid", "soft and rigid, rows", "cut")
FAULTS = {"disk full": errno.ENOSPC, "disk fails": errno.EIO}
KILLS = 500
UNTRIED = {"folders": 0, "not begun": 0, "differ": 0, "unreadable": 0}


def run(*, quick: bool = False) -> Table:
    names = list(QUICK) if quick else list(KINDS)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(place)
        library = build_shim(folder)
        for k, name in enumerate(names):
            rows.append(one_kind(name, folder / f"{k}", library, every=5 if quick else 1, faults=40 if quick else 10))
        rows.append({"scene": "kill -9", **random_kills(folder / "random", 10 if quick else KILLS, names)})
    return table(rows)


def table(rows: list[dict[str, Any]]) -> Table:
    counted = ("folders", "differ", "unreadable", "segfaults", "full or failing", "met", "kills")
    total = {key: sum(row.get(key, 0) for row in rows) for key in counted}
    bad = total["full or failing"] - total["met"]
    kinds = sum("operations" in row for row in rows)
    claims = [
        Claim("kinds of scenes", f"all {len(KINDS)}", str(kinds), kinds == len(KINDS)),
        Claim("processes killed at random moments", f"{KILLS}", str(total["kills"]), total["kills"] >= KILLS),
        Claim("runs that end differently", "0", f"{total['differ']} of {total['folders']}", not total["differ"]),
        Claim("folders that cannot be gone on with", "0", str(total["unreadable"]), not total["unreadable"]),
        Claim("bad disks that are not told in one line", "0", f"{bad} of {total['full or failing']}", not bad),
        Claim("segmentation faults", "0", str(total["segfaults"]), not total["segfaults"]),
    ]
    notes = [f"{row['scene']}: {said}" for row in rows for said in row.pop("said", [])][:20]
    return Table("trust/crash", "Runs that are stopped by force", rows, claims, notes)


def one_kind(name: str, folder: Path, library: Path, *, every: int, faults: int) -> dict[str, Any]:
    """The row of one kind of scene: every so many kills and power cuts, and a bad disk at every so many operations."""
    row = rehearse(name, folder, library, every=every)
    bad = faulty(name, folder, library, every=faults)
    return row | bad | {"said": row["said"] + bad["said"]}


def rehearse(name: str, folder: Path, library: Path, *, every: int = 1) -> dict[str, Any]:
    """All kills and power cuts of one kind of scene."""
    folder.mkdir()
    child(["journal", name, str(folder)], library)
    whole, journal = essence(folder / "run"), read_journal(folder / "journal")
    row: dict[str, Any] = {"scene": name, "operations": len(journal), **UNTRIED, "said": []}
    seen: set[int] = set()
    for k, (what, contents) in enumerate((*kills(folder / "run", journal), *cuts(folder / "run", journal))):
        mark = hash(tuple(sorted(contents.items())))
        if k % every or mark in seen:  # operations that change nothing leave the same folder
            continue
        seen.add(mark)
        judge(row, what, name, folder / f"state{k}", contents, whole)
    return row


def judge(row: dict[str, Any], what: str, name: str, folder: Path, contents: dict[str, bytes], whole: Any) -> None:
    """Resume the folder; what it comes to goes into the row."""
    if not {"report.json", "scene.toml"} <= set(contents):
        row["not begun"] += 1
        return
    lay(folder, contents)
    row["folders"] += 1
    verdict = gone_on(name, folder, whole)
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


def faulty(name: str, folder: Path, library: Path, *, every: int) -> dict[str, Any]:
    """Full and failing disks from every so many operations of a run on; one process for all, unless it dies.

    The first operation is another one for every kind of scene. ``met`` counts the runs that told of it in one line, and
    could be gone on with when the disk was well again.
    """
    count, told = len(read_journal(folder / "journal")), folder / "told"
    first = 1 + list(KINDS).index(name) % every
    cases = [f"{fault}:{k}" for fault in FAULTS for k in range(first, count, every)]
    found: dict[str, Any] = {"full or failing": len(cases), "met": 0, "segfaults": 0, "said": []}
    while cases:
        told.unlink(missing_ok=True)
        code = child(["fault", name, str(folder), *cases], library, check=False)
        lines = [json.loads(line) for line in told.read_text().splitlines()] if told.is_file() else []
        found["met"] += sum(not line["wrong"] for line in lines)
        found["said"] += [f"{line['case']}: {line['wrong']}" for line in lines if line["wrong"]]
        cases = cases[len(lines) :]
        if cases:  # the one that the process died of
            found["segfaults"] += code < 0
            found["said"].append(f"{cases[0]}: the process ended with {code}")
        cases = cases[1:]
    return found


def child(arguments: Iterable[str], library: Path, *, check: bool = True) -> int:
    """This module as a program, with every operation on files seen."""
    command = [sys.executable, "-W", "ignore", "-m", "pliant.bench.trust.crash", *arguments]
    return subprocess.run(command, env=with_shim(library), check=check).returncode


def random_kills(folder: Path, count: int, names: list[str]) -> dict[str, Any]:
    """Processes that record, killed at any moment; a fork of this one each, so that nothing has to be loaded."""
    row: dict[str, Any] = {"kills": count, **UNTRIED, "said": []}
    chance, folder = random.Random(0), Path(folder)
    wholes: dict[str, tuple[Any, float]] = {}
    for k in range(count):
        name = names[k % len(names)]
        if name not in wholes:
            begun = time.monotonic()
            record(KINDS[name].build(), folder / f"whole {name}", output=SAVED)
            wholes[name] = essence(folder / f"whole {name}"), time.monotonic() - begun
        whole, seconds = wholes[name]
        run = folder / f"{k}"
        process = os.fork()
        if not process:
            record(KINDS[name].build(), run, output=SAVED)
            os._exit(0)
        time.sleep(chance.uniform(0.0, 1.2 * seconds))
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        files = {str(p.relative_to(run)): p.read_bytes() for p in run.rglob("*") if p.is_file()} if run.is_dir() else {}
        judge(row, f"kill {k} ({name})", name, folder / f"{k} again", files, whole)
    return row


def main(task: str, name: str, place: str, *cases: str) -> None:
    """In a process with the shim: record a scene with its journal, or with faults."""
    folder, library = Path(place), shim()
    if task == "journal":
        (folder / "run").mkdir()
        library.disk_watch(str(folder / "run").encode(), str(folder / "journal").encode())
        record(KINDS[name].build(), folder / "run", output=SAVED)
        library.disk_watch(b"", b"")
        return
    whole = essence(folder / "run")
    for case in cases:
        fault, _, at = case.rpartition(":")
        run = folder / case.replace(" ", "-").replace(":", "-")
        run.mkdir()
        library.disk_watch(str(run).encode(), b"")
        library.disk_fail(int(at), 10**9 if fault == "disk full" else int(at) + 1, FAULTS[fault])
        wrong = _met(name, run)
        library.disk_watch(b"", b"")
        wrong = wrong or (gone_on(name, run, whole) if begun(run) else "")
        shutil.rmtree(run)
        with open(folder / "told", "a", encoding="utf-8") as told:
            told.write(json.dumps({"case": case, "wrong": wrong}) + "\n")


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
