"""trust/mutation: sixty wrong programs, one sign or constant each: the tests that should notice them do.

Each mutant (`pliant.bench.trust.mutants`) is a copy of the package with one change, in integrators, solvers, energies,
contact, ledger, articulated bodies, cloth and coarsening. The tests named beside it run on the copy; it is caught if
one of them fails, and they must all pass on the copy without the change.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pliant
from pliant.bench.table import Claim, Table
from pliant.bench.trust.mutants import MUTANTS, Mutant
from pliant.errors import RunError

HERE = Path(pliant.__file__).parents[1]
SECONDS = 60  # of CPU time: a mutant that never ends is caught, too


def run(*, quick: bool = False) -> Table:
    mutants = MUTANTS[::12] if quick else MUTANTS
    if not (HERE / "tests" / "conformance").is_dir():
        raise RunError(
            "there are no tests here", where="trust/mutation", remedy="run it in a checkout of the repository"
        )
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place)
        shutil.copytree(
            HERE / "pliant", copy / "pliant"
        )  # with compiled kernels, which are valid as long as sources are
        tests = Tests(copy)
        try:
            rows = [judged(tests, copy, mutant) for mutant in mutants]
        finally:
            tests.close()
    return table(rows, quick)


def table(rows: list[dict[str, Any]], quick: bool) -> Table:
    caught, broken = sum(row["caught"] for row in rows), [row for row in rows if not row["good without"]]
    most = round(len(rows) * 57 / 60)
    claims = [
        Claim("mutants", ">= 60", str(len(rows)), len(rows) >= 60 or quick),
        Claim("caught by the tests named", f">= {most}", f"{caught} of {len(rows)}", caught >= most),
        Claim("tests that fail without a change", "0", str(len(broken)), not broken),
    ]
    notes = [f"survives: {row['change']} in {row['file']}" for row in rows if not row["caught"]]
    return Table("trust/mutation", "Wrong programs that the tests catch", rows, claims, notes)


class Tests:
    """A process that runs test files on the copy of the package."""

    def __init__(self, copy: Path) -> None:
        server = Path(__file__).with_name("_forking.py")
        environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        self._process: Any = subprocess.Popen(
            [sys.executable, str(server)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd=HERE,
            text=True,
        )
        self._good: dict[tuple[str, str], bool] = {}

    def run(self, mutant: Mutant) -> tuple[int, float]:
        """Exit code of pytest and CPU seconds."""
        named = ["-k", mutant.only] if mutant.only else []
        options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", str(HERE / "tests" / mutant.tests), *named]
        self._process.stdin.write(json.dumps([SECONDS, *options]) + "\n")
        self._process.stdin.flush()
        code, seconds = json.loads(self._process.stdout.readline())
        return int(code), float(seconds)

    def good(self, mutant: Mutant) -> bool:
        """Whether its tests pass on the package as it is."""
        key = mutant.tests, mutant.only
        if key not in self._good:
            self._good[key] = self.run(mutant)[0] == 0
        return self._good[key]

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait()


def judged(tests: Tests, copy: Path, mutant: Mutant) -> dict[str, Any]:
    """One mutant: made, tested, undone."""
    path = copy / "pliant" / mutant.file
    before, stamp = path.read_text(encoding="utf-8"), path.stat()
    if before.count(mutant.old) != 1:
        what = f"{mutant.old!r} stands {before.count(mutant.old)} times in {mutant.file}"
        raise RunError(what, where="trust/mutation", remedy="mend the list of mutants")
    good = tests.good(mutant)
    path.write_text(before.replace(mutant.old, mutant.new), encoding="utf-8")
    code, seconds = tests.run(mutant)
    path.write_text(before, encoding="utf-8")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    told = " ".join(f"{mutant.old} -> {mutant.new}".split())
    row = {"area": mutant.area, "file": mutant.file, "change": told, "tests": mutant.tests.removeprefix("conformance/")}
    return row | {"good without": good, "caught": code not in (0, 5), "CPU [s]": round(seconds, 1)}
