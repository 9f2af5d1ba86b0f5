"""A backward Euler step on the GPU and on the CPU of one machine, from small meshes to a million elements."""

from time import perf_counter
from typing import Any

import numba
import numpy as np

from pliant.bench.gpu.bars import H, hanging_bar
from pliant.bench.table import Claim, Table
from pliant.checkpoint import Checkpoint
from pliant.cuda.device import arrays, name, synchronized
from pliant.devices import placed
from pliant.integrators import BDF1
from pliant.scene import Scene
from pliant.solvers.newton import NewtonPCG

SIZES = {(6, 3, 3): 10, (22, 7, 7): 10, (56, 14, 11): 3, (148, 37, 30): 1}  # cells, and steps


def stepped(scene: Scene, method: Any, device: str, steps: int, before: int = 1) -> tuple[float, Any]:
    """Mean wall time [s] of ``steps`` steps after some that may compile, and where they lead."""
    system = scene.system()
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


def run(*, quick: bool = False) -> Table:
    arrays()
    rows: list[dict[str, Any]] = []
    cores = numba.get_num_threads()
    for cells, steps in list(SIZES.items())[: 2 if quick else None]:
        scene, huge = hanging_bar(cells), steps == 1
        tets, before = len(scene.system().cells()[0]), 0 if huge else 1  # smaller meshes have compiled everything
        stepped(scene, BDF1(), "cuda", 1)
        gpu, q = stepped(scene, BDF1(), "cuda", steps, before)
        cpus = {"one core, PCG": (1, BDF1(NewtonPCG())), "all cores, PCG": (cores, BDF1(NewtonPCG()))}
        if not huge:  # where a factorization takes minutes
            cpus["all cores, Cholesky"] = (cores, BDF1())
        for label, (threads, method) in cpus.items():
            numba.set_num_threads(threads)
            cpu, other = stepped(scene, method, "cpu", steps, before)
            numba.set_num_threads(cores)
            apart = float(np.abs(q - other).max())
            ratio = {"cpu_s": cpu, "gpu_s": gpu, "ratio": cpu / gpu}
            rows.append({"tets": tets, "cpu": label, **ratio, "apart_m": apart})
    largest = max(row["tets"] for row in rows)
    one = next(r["ratio"] for r in rows if r["tets"] == largest and r["cpu"] == "one core, PCG")
    best = {t: min(r["cpu_s"] for r in rows if r["tets"] == t) for t in {r["tets"] for r in rows}}
    wins = sorted(t for t, cpu in best.items() if cpu > max(r["gpu_s"] for r in rows if r["tets"] == t))
    claims = [
        Claim(f"GPU against one core at {largest:,} tets, both Newton-PCG", ">= 50x", f"{one:.0f}x", one >= 50.0),
        Claim("size from which the GPU wins", "reported", f"{wins[0]:,} tets" if wins else "none", bool(wins)),
    ]
    notes = [f"Device: {name()}; {cores} CPU cores. Wall time of BDF1 steps of {H:g} s, default tolerance."]
    return Table("gpu/speedup", "GPU and CPU of one machine", rows, claims, notes)
