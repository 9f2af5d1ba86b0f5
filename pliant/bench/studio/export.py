"""studio/export: what writing a run of BAR to USD and VTK costs, against its simulation; memory against frames.

CPU time of recording the run and of each exporter over the same frames. The integrator is linearly implicit, with one
factorization per step: an implicit simulation hardly gets cheaper, so that no slow solver makes the exporters look
fast. Memory is the peak of a new process that exports the first tenth of the frames, and of another that exports all.
"""

import re
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any

from pliant.bench.table import Claim, Plot, Table
from pliant.export import GEOMETRY, clip
from pliant.integrators import LinearlyImplicit
from pliant.mesh import bar as bar_mesh
from pliant.record import record
from pliant.scenes.qlb import bar

STEPS = 200


def run(*, quick: bool = False) -> Table:
    mesh = bar_mesh(size=(0.3, 0.1, 0.1), cells=(22, 7, 7)) if quick else None
    return measure(bar(mesh=mesh, integrator=LinearlyImplicit(), h=5.0 / STEPS), 40 if quick else STEPS)


def measure(scene: Any, steps: int) -> Table:
    """Record so many steps of the scene, export them, compare."""
    scene = replace(scene, duration=steps * scene.h, on_failure="warn")
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        record(replace(scene, duration=scene.h), Path(folder) / "warm")  # compiles and loads everything
        start = process_time()
        made = record(scene, Path(folder) / "run")
        simulated = process_time() - start
        frames = len(made.frames)
        size = frames * clip(made).picture(0).points.nbytes / 2**20
        for to in ("usd", "vtk"):
            start = process_time()
            export(made.folder, to, frames)
            seconds = process_time() - start
            few, many = (_peak_of(made.folder, to, count) for count in (max(frames // 10, 1), frames))
            each, share = 1e3 * seconds / frames, seconds / simulated
            row = {"to": to, "per frame [ms]": each, "of the simulation": share}
            rows.append({**row, "peak, a tenth [MB]": few, "peak, all [MB]": many})
    worst = max(row["of the simulation"] for row in rows)
    growth = max(row["peak, all [MB]"] - row["peak, a tenth [MB]"] for row in rows)
    claims = [
        Claim("export costs a fraction of the simulation", "<= 1/5", f"{worst:.3f}", worst <= 0.2),
        Claim("memory does not grow with the frames", "constant", f"{growth:+.1f} MB", growth < 5.0),
    ]
    title = f"BAR, {len(scene.bodies[0].mesh.X)} vertices, {frames} frames, CPU time"
    note = f"the positions of all frames together are {size:.1f} MB: much less than 5 MB says nothing about memory"
    return Table("studio/export", title, rows, claims, [note], plot=Plot("to", "of the simulation"))


def export(folder: Path, to: str, frames: int) -> None:
    """Write the first frames of a run beside it."""
    ending, write = GEOMETRY[to]
    write(replace(clip(folder), chosen=tuple(range(frames))), folder / f"out-{to}{ending}")


def export_and_weigh(folder: Path, to: str, frames: int) -> float:
    """The same, and the most memory this process ever had [MB] (NaN where the system does not tell)."""
    export(folder, to, frames)
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) / 1024.0 if found else float("nan")


def _peak_of(folder: Path, to: str, frames: int) -> float:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(export_and_weigh, folder, to, frames).result()
