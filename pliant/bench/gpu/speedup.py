"""A backward Euler step on the GPU and on the CPU of one machine, from small meshes to a million elements."""

from time import perf_counter
from typing import Any

import numba
import numpy as np

from pliant.bench.gpu.bars import H, hanging_bar, told
from pliant.bench.table import Claim, Table
from pliant.checkpoint import Checkpoint
from pliant.cuda.device import arrays, name, synchronized
from pliant.devices import placed
from pliant.integrators import BDF1
from pliant.scene import Scene

SIZES = {(6, 3, 3): 10, (22, 7, 7): 10, (56, 14, 11): 3, (148, 37, 30): 1}  # cells, and steps


def stepped(
    scene: Scene, method: Any, device: str, steps: int, before: int = 1, system: Any = None
) -> tuple[float, Any]:
    """Mean wall time [s] of ``steps`` steps after some that compile and analyse, and where they lead."""
    system = system or scene.system()
    system, point = placed(device, method, system, Checkpoint(0, scene.initial(system)))
    state, memory, begun = point.state, None, 0.0
    for k in range(before + steps):
        if k == before:
            synchronized()
            begun = perf_counter()
        step = method.step(system, state, H, memory)
        state, memory = step.state, step.memory
        assert all(report.converged for report in step.reports)
    synchronized()
    spent = (perf_counter() - begun) / steps
    return spent, state.q if device == "cpu" else system.fetch(state.q)


def raced(cells: tuple[int, int, int], steps: int) -> list[dict[str, Any]]:
    """The same steps on the GPU, on all cores and on one."""
    scene, cores = hanging_bar(cells), numba.get_num_threads()
    system = scene.system()
    gpu, q = stepped(scene, BDF1(), "cuda", steps, 1, system)
    rows = []
    for label, threads in (("all cores", cores), ("one core", 1)):
        numba.set_num_threads(threads)
        cpu, other = stepped(scene, BDF1(), "cpu", steps, 1, system)
        numba.set_num_threads(cores)
        apart = float(np.abs(q - other).max())
        row = {"tets": len(system.cells()[0]), "cpu": label, "cpu_s": cpu, "gpu_s": gpu}
        rows.append(told({**row, "ratio": cpu / gpu, "apart_m": apart}))
    return rows


def run(*, quick: bool = False) -> Table:
    arrays()
    rows = [row for cells, steps in list(SIZES.items())[: 2 if quick else None] for row in raced(cells, steps)]
    largest = max(row["tets"] for row in rows)
    one = next(r["ratio"] for r in rows if r["tets"] == largest and r["cpu"] == "one core")
    wins = {cpu: [r["tets"] for r in rows if r["cpu"] == cpu and r["ratio"] > 1.0] for cpu in ("one core", "all cores")}
    apart = max(row["apart_m"] for row in rows)
    claims = [Claim(f"GPU against one core at {largest:,} tets", ">= 50x", f"{one:.0f}x", one >= 50.0)]
    for cpu, sizes in wins.items():
        found = f"{min(sizes):,} tets" if sizes else "none"
        claims.append(Claim(f"size from which the GPU is faster than {cpu}", "reported", found, bool(sizes)))
    claims.append(Claim("positions agree to the tolerance of the steps", "<= 1e-5 m", f"{apart:.1e} m", apart <= 1e-5))
    notes = [
        f"Device: {name()}; {numba.get_num_threads()} CPU cores. Wall time of a BDF1 step of {H:g} s, default "
        "tolerance, after one that compiles and analyses. The CPU's Newton has the linear solver it chooses itself."
    ]
    return Table("gpu/speedup", "GPU and CPU of one machine", rows, claims, notes)
