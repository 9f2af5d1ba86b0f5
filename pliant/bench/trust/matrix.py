"""trust/matrix: the same bytes with one thread and with two, from kernels that were just compiled and from stored ones.

One small scene of every kind, and three that are large enough for kernels and linear algebra to share their work, are
recorded by processes of their own: with one thread and an empty cache of compiled kernels, again with that cache, with
two threads, and with two threads and an empty cache. Frames, ledgers (but for their seconds) and checkpoints must be
the same to the last bit.
"""

import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from pliant.bench.table import Claim, Table
from pliant.bench.workers import WORKERS, spread
from pliant.bodies import Solid
from pliant.maps.pins import Pin
from pliant.mesh import bar
from pliant.record import Output, record
from pliant.scene import Scene
from pliant.scene_file import load_scene
from pliant.testing.essence import essence
from pliant.testing.kinds import KINDS, SOFT

SAVED = Output(checkpoint_every=2, channels=("velocity",))
THREADS = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
CELLS = {  # threads, and the cache of compiled kernels: those of one name share it, the first finds it empty
    "1 thread, compiled anew": (1, "one"),
    "1 thread": (1, "one"),
    "2 threads": (2, "one"),
    "2 threads, compiled anew": (2, "two"),
}
QUICK = ("solid", "soft and rigid, rows", "large bar")


def large() -> Scene:
    """A bar with more coordinates than linear algebra keeps on one thread (10,000 for sums of products)."""
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(30, 10, 10))
    body = Solid(mesh, SOFT, pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))
    return Scene([body], h=5e-3, duration=10e-3)


def shortened(name: str) -> Scene:
    """A few steps of one of the gallery's scenes."""
    scene = load_scene(name).scene
    return replace(scene, duration=4 * float(scene.h))


def scenes() -> dict[str, Callable[[], Scene]]:
    """Every kind, and the large ones."""
    found = {name: kind.build for name, kind in KINDS.items()}
    gallery = {name: lambda n=name: shortened(n) for name in ("contact/ducks", "chen/mixed-arm")}
    return {**found, "large bar": large, **gallery}


def run(*, quick: bool = False) -> Table:
    names = QUICK if quick else tuple(scenes())
    cells = {name: cell for name, cell in CELLS.items() if not quick or "anew" not in name}
    count = 1 if quick else min(WORKERS, len(names))
    shares = [names[k::count] for k in range(count)]
    rows = [row for share in spread(partial(recorded, cells, quick), shares, workers=count) for row in share]
    good = sum(row["same"] for row in rows)
    claims = [
        Claim("scenes", f"{len(scenes())}", str(len(rows)), quick or len(rows) == len(scenes())),
        Claim(
            "the same bytes, whatever the threads and the cache", f"all of {len(rows)}", str(good), good == len(rows)
        ),
    ]
    notes = [f"each was recorded {len(cells)} times: {'; '.join(cells)}"]
    return Table("trust/matrix", "Threads and compiled kernels", rows, claims, notes)


def recorded(cells: dict[str, tuple[int, str]], quick: bool, names: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of scenes that are recorded in every cell; ``quick`` takes the kernels that are there."""
    with tempfile.TemporaryDirectory() as place:
        for column, (threads, cache) in cells.items():
            child(names, Path(place) / column, threads, None if quick else Path(place) / cache)
        return [compared(name, [Path(place) / column / str(k) for column in cells]) for k, name in enumerate(names)]


def compared(name: str, folders: list[Path]) -> dict[str, Any]:
    """Which parts of the recordings of a scene are the same."""
    found = [essence(folder) for folder in folders]
    parts: dict[str, tuple[str, ...]] = {"ledger": ("ledger",), "checkpoint": ("checkpoint",)}
    parts["frames"] = tuple(key for key in found[0] if key not in ("ledger", "checkpoint"))
    row: dict[str, Any] = {"scene": name, "frames recorded": sum(key.startswith("frame ") for key in found[0])}
    for part, keys in parts.items():
        row[part] = all(one.keys() == found[0].keys() and all(one[k] == found[0][k] for k in keys) for one in found)
    return row | {"same": all(row[part] for part in parts)}


def child(names: Iterable[str], folder: Path, threads: int, cache: Path | None) -> None:
    """Record scenes in a fresh process with so many threads, and its compiled kernels in ``cache``."""
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    subprocess.run([sys.executable, "-m", __name__, str(folder), *names], check=True, env=environment)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for k, name in enumerate(sys.argv[2:]):
        record(scenes()[name](), Path(sys.argv[1]) / str(k), output=SAVED)
