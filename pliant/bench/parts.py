"""Contests too long for one process: the sampled steps of a case are shared by several, and their counts joined.

    pliant bench qlb/fig3 --part "BAR nu=0.42:2/3" --out parts     # the second third of one case, nothing else
    pliant bench qlb/fig3 --join parts                             # the table; cases that are not there are played

All solvers of a case solve a step in the same process, so that every ratio is that of neighbours; a share has every
n-th of the sampled steps, so that all shares see the whole script.
"""

import os
import pickle
import re
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self, TypeVar

from pliant.bench.race import Runner
from pliant.errors import SceneError
from pliant.state import Counts

FOLDER = "PLIANT_BENCH_PARTS"  # the variable that names the folder to join


@dataclass(frozen=True)
class Share:
    """Every ``of``-th sampled step, from the ``k``-th on."""

    k: int = 1
    of: int = 1

    def among(self, chosen: list[int]) -> list[int]:
        return chosen[self.k - 1 :: self.of]


WHOLE = Share()


class Joinable(Protocol):
    """What a contest has found out; ``joined`` adds what the other shares have."""

    def joined(self, others: list[Self]) -> Self: ...


Result = TypeVar("Result", bound=Joinable)
Plays = Mapping[str, Callable[[Share], Result]]  # the contests of a benchmark by the names of their cases


def played(plays: Plays[Result]) -> dict[str, Result]:
    """All contests: read where a folder has all shares of a case, otherwise played here."""
    return {case: _read(case) or play(WHOLE) for case, play in plays.items()}


def play_part(plays: Plays[Result], part: str, out: Path) -> Path:
    """Play one share ("case:k/n") of one contest, and store what it found."""
    case, share = _read_part(part, plays)
    result = plays[case](share)
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{_slug(case)}-{share.k}of{share.of}.part"
    path.write_bytes(pickle.dumps(result))
    return path


def together(parts: list[Runner]) -> Runner:
    """One contestant's work in several shares, added up."""
    whole = copy(parts[0])
    whole.seconds, whole.iterations = sum(r.seconds for r in parts), sum(r.iterations for r in parts)
    whole.solves, whole.failures = sum(r.solves for r in parts), sum(r.failures for r in parts)
    whole.counts = sum((r.counts for r in parts), Counts())
    names = {name for r in parts for name in r.phases}
    whole.phases = {name: sum(r.phases.get(name, 0.0) for r in parts) for name in names}
    whole.times = [t for r in parts for t in r.times]
    return whole


def _read(case: str) -> "Result | None":
    """The joined shares of a case, or None where there is no folder or a share is missing."""
    folder = os.environ.get(FOLDER)
    files = sorted(Path(folder).rglob(f"{_slug(case)}-*of*.part")) if folder else []
    shares = {file.stem.rsplit("-", 1)[1]: file for file in files}
    of = max((int(name.split("of")[1]) for name in shares), default=0)
    wanted = [f"{k}of{of}" for k in range(1, of + 1)]
    if not of or not set(wanted) <= set(shares):
        return None
    first, *others = (pickle.loads(shares[name].read_bytes()) for name in wanted)
    return first.joined(others)


def _read_part(text: str, plays: Mapping[str, object]) -> tuple[str, Share]:
    found = re.fullmatch(r"(.+):(\d+)/(\d+)", text)
    case, k, of = (found[1], int(found[2]), int(found[3])) if found else (text, 0, 0)
    if case not in plays or not 1 <= k <= of:
        remedy = f"write CASE:K/N, such as {next(iter(plays))}:1/3; cases are {', '.join(plays)}"
        raise SceneError(f"it is {text!r}", where="bench --part", remedy=remedy)
    return case, Share(k, of)


def _slug(case: str) -> str:
    return re.sub(r"[^A-Za-z0-9.=]+", "_", case)
