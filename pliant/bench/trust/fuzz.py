"""trust/fuzz: scenes drawn at random run, fail openly or are refused in one line, and what certified steps say is true.

Every kind of body, method and contact, nine decades of stiffness, four of size, five of time steps; one scene in ten
is spoiled in one place. Each is classified, and audited by arithmetic of its own (`pliant.testing.audit`): momentum and
the impulse of gravity, energies, residuals of stages, crossings, silent gains of energy. Every failed step is written
as a bundle and repeated from it; every fifth scene goes through a file, and must move alike.
"""

import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from pliant.attempt import StepFailed
from pliant.bench.table import Claim, Table
from pliant.bench.workers import spread
from pliant.bundle import replay, write_bundle
from pliant.errors import PliantError
from pliant.origin import origin_of
from pliant.scene_file import load_scene
from pliant.simulate import beginning, simulate
from pliant.testing.audit import Audit
from pliant.testing.invented import invented

SCENES = 10_000
HANG = 30.0  # CPU seconds, budgets included: no scene of a few elements takes as long
FILES = 5  # every such scene goes through a file


@dataclass(frozen=True)
class FuzzedScene:
    """How the scene of a seed ended, and what is wrong with it ("" if nothing is)."""

    seed: int
    end: str
    wrong: str
    method: str
    steps: int
    certified: int
    replayed: bool | None = None  # whether the bundle of its failure repeats it; None without a failure


def run(*, quick: bool = False) -> Table:
    return table(list(map(play, range(150)) if quick else spread(play, range(SCENES), chunk=25)))


def table(played: list[FuzzedScene]) -> Table:
    """Rows by method: how its scenes ended."""
    ends = ("finished", "failed step", "out of time", "refused", "traceback")
    rows: list[dict[str, Any]] = []
    for method in sorted({p.method for p in played}):
        mine = [p for p in played if p.method == method]
        told = Counter(p.end for p in mine)
        rows.append({"method": method, "scenes": len(mine), **{end: told[end] for end in ends}})
        rows[-1] |= {"steps": sum(p.steps for p in mine), "certified": sum(p.certified for p in mine)}
        rows[-1]["wrong"] = sum(bool(p.wrong) for p in mine)
    tracebacks = [p for p in played if p.end == "traceback"]
    hangs = [p for p in played if p.wrong == "hang"]
    wrong = [p for p in played if p.wrong and p.wrong != "hang" and p.end != "traceback"]
    failed = [p for p in played if p.replayed is not None]
    same = sum(bool(p.replayed) for p in failed)
    claims = [
        Claim("scenes", "10,000", f"{len(played):,}", len(played) >= SCENES),
        Claim("tracebacks", "0", str(len(tracebacks)), not tracebacks),
        Claim("hangs", "0", str(len(hangs)), not hangs),
        Claim("silently wrong", "0", str(len(wrong)), not wrong),
        Claim("bundles that repeat their failure", "all", f"{same} of {len(failed)}", same == len(failed)),
    ]
    notes = [f"seed {p.seed}, {p.method}: {p.wrong or p.end}" for p in (*wrong, *hangs, *tracebacks)][:30]
    return Table("trust/fuzz", "Scenes drawn at random", rows, claims, notes)


def play(seed: int) -> FuzzedScene:
    """Draw the scene of a seed, run it, and look for what is wrong with it."""
    begun, method, end, wrong = process_time(), "none", "finished", ""
    done: list[Any] = []
    replayed = None
    with warnings.catch_warnings(), np.errstate(all="ignore"), tempfile.TemporaryDirectory() as place:
        warnings.simplefilter("ignore")
        try:
            scene = invented(seed)
            method = type(scene.integrator).__name__
            start = beginning(scene)[1].state
            try:
                done.extend(simulate(scene))
            except StepFailed as failed:
                if "CPU time" in str(failed):  # may not happen again: compiling counts, too
                    end = "out of time"
                else:
                    end, replayed = "failed step", _repeats(scene, failed, Path(place) / "failure")
            wrong = next(Audit(scene).complaints(done, start), "")
            if seed % FILES == 0 and not wrong and done:
                wrong = _from_file(scene, done[-1], Path(place))
        except PliantError as error:
            end, wrong = "refused", "" if "\n" not in str(error) else f"an error of several lines: {error!r:.80}"
        except Exception as error:
            end, wrong = "traceback", f"{type(error).__name__}: {error}"
    wrong = "hang" if process_time() - begun > HANG else wrong
    return FuzzedScene(seed, end, wrong, method, len(done), sum(bool(s.report.converged) for s in done), replayed)


def _repeats(scene: Any, failed: StepFailed, folder: Path) -> bool:
    """Whether the bundle of a failure repeats it."""
    origin = origin_of(scene)
    bundle = write_bundle(folder, failed.failure, origin)
    try:
        return replay(bundle, scene if "made_in_python" in origin.document else None).same
    except PliantError:
        return False


def _from_file(scene: Any, last: Any, folder: Path) -> str:
    """The same scene from a file moves alike, bit for bit."""
    origin = origin_of(scene)
    if "made_in_python" in origin.document:
        return ""
    origin.write(folder)
    try:
        for step in simulate(load_scene(folder / "scene.toml").scene):
            if step.index == last.index:
                return "" if step.state.q.tobytes() == last.state.q.tobytes() else "moves differently from a file"
    except PliantError as error:
        return f"runs, and is refused from its file: {error}"
    return "ends earlier from a file"
