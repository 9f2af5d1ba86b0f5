"""trust/tamper: a hundred run folders in which something was changed are refused by one line that names the part.

Runs of four kinds are stopped in their middle. Then one thing is changed: the scene, its mesh files, lines, bytes and
the length of the ledger, times, points, values and the number of frames, bytes of the checkpoint, or a part is taken
from another run or left out. Whoever resumes such a folder must be told which file does not fit; what was written
after the last checkpoint is no part of what is gone on with, and the untouched folder goes on.
"""

import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from pliant.bench.table import Claim, Table
from pliant.errors import PliantError
from pliant.record import Interrupted, Output, record, resume
from pliant.testing.kinds import KINDS

SAVED = Output(checkpoint_every=2, channels=("velocity",))
SCENES = ("solid", "cloth", "rigid", "soft and rigid, rows")
Change = tuple[str, str, Callable[[Path], object]]  # what, the file that must be named, how


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as place, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in SCENES[:1] if quick else SCENES:
            rows += tampered(name, Path(place))
    told = Counter(row["told"] for row in rows)
    changed = [row for row in rows if row["change"] != "nothing"]
    refused = sum(row["told"] == "refused, named" for row in changed)
    whole = all(row["told"] == "finished" for row in rows if row["change"] == "nothing")
    claims = [
        Claim("tampered folders refused by one line naming the part", "all of 100", f"{refused} of {len(changed)}",
              refused == len(changed) and (quick or refused >= 100)),
        Claim("folders that were not touched go on", "all", str(whole), whole),
        Claim("tracebacks", "0", str(told["traceback"]), not told["traceback"]),
    ]  # fmt: skip
    notes = [f"{r['scene']}, {r['change']}: {r['said']}" for r in changed if r["told"] != "refused, named"]
    rows = [{k: v for k, v in row.items() if k != "said"} for row in rows]
    return Table("trust/tamper", "Run folders that somebody has changed", rows, claims, notes)


def tampered(name: str, place: Path) -> list[dict[str, Any]]:
    """All changes of one run."""
    run, other = stopped(name, place / f"{name} run"), stopped(name, place / f"{name} other", faster=True)
    rows: list[dict[str, Any]] = []
    for what, part, change in (("nothing", "", lambda folder: None), *changes(run, other)):
        copy = place / f"{name} {len(rows)}"
        shutil.copytree(run, copy)
        change(copy)
        told, said = answer(copy, part)
        rows.append({"scene": name, "change": what, "part": part, "told": told, "said": said})
    return rows


def answer(folder: Path, part: str) -> tuple[str, str]:
    """How the folder is met, and what is said."""
    try:
        resume(folder, output=SAVED)
    except PliantError as error:
        line = "\n" not in str(error) and part in str(error).replace(str(folder.parent), "")
        return "refused, named" if line else "refused", str(error)
    except Exception as error:
        return "traceback", f"{type(error).__name__}: {error}"
    return "finished", ""


def stopped(name: str, folder: Path, *, faster: bool = False) -> Path:
    """A run that was interrupted after its third step; ``faster``: with shorter steps."""
    scene = KINDS[name].build()
    scene = replace(scene, h=1e-3, duration=4e-3) if faster else scene

    def stop(step: Any) -> None:
        if step.index == 3:
            raise Interrupted("enough")

    with suppress(Interrupted):
        record(scene, folder, output=SAVED, watch=stop)
    return folder


def changes(run: Path, other: Path) -> Iterator[Change]:
    """What can be changed in a run, and the file that does not fit then."""
    yield from _scene(run)
    yield from _ledger(run)
    yield from _frames()
    yield from _checkpoint(run)
    for part in ("scene.toml", "ledger.csv", "frames.vtkhdf", "checkpoint.h5"):
        named = "scene.toml" if part == "checkpoint.h5" else part  # a foreign checkpoint belongs to another scene
        yield f"{part} of another run", named, lambda f, p=part: shutil.copy(other / p, f / p)  # type: ignore[misc]
        if part != "checkpoint.h5":
            yield f"no {part}", part, lambda f, p=part: (f / p).unlink()  # type: ignore[misc]
            yield f"an empty {part}", part, lambda f, p=part: (f / p).write_bytes(b"")  # type: ignore[misc]
    yield "an empty checkpoint", "checkpoint.h5", lambda f: (f / "checkpoint.h5").write_bytes(b"")
    for file in sorted(run.glob("*.npz")):
        yield f"a byte of {file.name}", file.name, lambda f, p=file.name: _flip(f / p, 0.5)  # type: ignore[misc]
        yield f"no {file.name}", file.name, lambda f, p=file.name: (f / p).unlink()  # type: ignore[misc]


def _scene(run: Path) -> Iterator[Change]:
    text = (run / "scene.toml").read_text(encoding="utf-8")
    for line in text.splitlines():
        name, _, value = line.partition(" = ")
        if value.replace(".", "").replace("e", "").replace("-", "").isdigit():
            changed = text.replace(line, f"{name} = {2.0 * float(value) + 1.0}", 1)
            yield f"{name} of the scene", "scene.toml", lambda f, c=changed: (f / "scene.toml").write_text(c)  # type: ignore[misc]


def _ledger(run: Path) -> Iterator[Change]:
    lines = (run / "ledger.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    cases = {
        "a line less": [*lines[:1], *lines[2:]],
        "a line twice": [*lines[:2], *lines[1:]],
        "two lines exchanged": [lines[0], lines[2], lines[1], *lines[3:]],
        "another header": ["x" + lines[0], *lines[1:]],
        "cut short": [lines[0][: len(lines[0]) // 2]],
        "a digit": [lines[0], lines[1].replace("0", "1", 1), *lines[2:]],
    }
    for what, changed in cases.items():
        yield f"ledger: {what}", "ledger.csv", lambda f, c=changed: (f / "ledger.csv").write_text("".join(c))  # type: ignore[misc]
    yield "ledger: zero bytes", "ledger.csv", lambda f: (f / "ledger.csv").write_bytes(b"\0" * 2000)
    for part in (0.1, 0.3, 0.5, 0.6):
        yield f"ledger: a bit at {part:.0%}", "ledger.csv", lambda f, p=part: _flip(f / "ledger.csv", p)  # type: ignore[misc]


def _frames() -> Iterator[Change]:
    def edited(change: Callable[[Any], None]) -> Callable[[Path], None]:
        def apply(folder: Path) -> None:
            with h5py.File(folder / "frames.vtkhdf", "r+") as file:
                change(file["VTKHDF"])

        return apply

    def fewer(root: Any) -> None:
        root["Steps"].attrs.modify("NSteps", np.int64(1))

    def moved(k: int) -> Callable[[Any], None]:
        def change(root: Any) -> None:
            root["Points"][k, k % 3] += 1e-9

        return change

    def later(root: Any) -> None:
        root["Steps/Values"][1] += 1e-6

    def elsewhere(root: Any) -> None:
        root["Steps/PointOffsets"][1] = 0

    def quicker(root: Any) -> None:
        root["PointData/velocity"][1, 0] += 1e-6

    cases: dict[str, Callable[[Any], None]] = {
        "a frame less": fewer,
        "another time": later,
        "another place": elsewhere,
        "another velocity": quicker,
    }
    cases |= {f"coordinate {k}": moved(k) for k in (0, 1, 5)}
    for what, change in cases.items():
        yield f"frames: {what}", "frames.vtkhdf", edited(change)


def _checkpoint(run: Path) -> Iterator[Change]:
    with h5py.File(run / "checkpoint.h5", "r") as file:
        filled = [k for k in range(len(file["arrays"])) if file[f"arrays/{k}"].size]

    def array(k: int) -> Callable[[Path], None]:
        def apply(folder: Path) -> None:
            with h5py.File(folder / "checkpoint.h5", "r+") as file:
                content = bytearray(file[f"arrays/{k}"][()].tobytes())
                content[len(content) // 2] ^= 1
                values = np.frombuffer(bytes(content), dtype=file[f"arrays/{k}"].dtype)
                file[f"arrays/{k}"][...] = values.reshape(file[f"arrays/{k}"].shape)

        return apply

    def tree(folder: Path) -> None:
        with h5py.File(folder / "checkpoint.h5", "r+") as file:
            text = file["tree"][...].tobytes().replace(b'"step": 2', b'"step": 7')
            file["tree"][...] = np.frombuffer(text, dtype=np.uint8)

    for k in filled[:3]:
        yield f"checkpoint: a bit of array {k}", "checkpoint.h5", array(k)
    yield "checkpoint: another step", "checkpoint.h5", tree
    yield "checkpoint: cut short", "checkpoint.h5", lambda f: _cut(f / "checkpoint.h5")


def _flip(path: Path, part: float) -> None:
    content = bytearray(path.read_bytes())
    content[int(part * len(content))] ^= 1
    path.write_bytes(bytes(content))


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
