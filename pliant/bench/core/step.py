"""core/step: what a time step of BAR costs, part by part; start-up time; growth with the number of tetrahedra.

BAR: 10,125 vertices, 51,744 tetrahedra, stable neo-Hookean. CPU time of one thread unless said, the least of several
repeats. Start-up and memory are measured in fresh processes.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.energies.elastic import Elastic
from pliant.integrators import BDF2
from pliant.linear.cholesky import Cholesky
from pliant.maps.pins import Pin
from pliant.materials import ARAP, Corotational, NeoHookean, StableNeoHookean, StableNeoHookeanLog, StVK
from pliant.mesh import Mesh, bar
from pliant.scene import Scene

SIZES = [(15, 7, 7), (23, 11, 11), (44, 14, 14), (68, 22, 22), (103, 28, 28)]  # 4k to 485k tetrahedra


def least(work: Callable[[], Any], repeats: int = 7) -> float:
    """Least CPU seconds of a call, after one that is not counted."""
    work()
    times = []
    for _ in range(repeats):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def deformed(mesh: Mesh) -> np.ndarray:
    """The twisted, stretched and roughened bar that the kernels are timed on."""
    X = mesh.X
    t = X[:, 0] / X[:, 0].max()
    c, s = np.cos(1.2 * t), np.sin(1.2 * t)
    y, z = X[:, 1] - 0.05, X[:, 2] - 0.05
    x = np.column_stack([1.15 * X[:, 0], c * y - s * z + 0.05, s * y + c * z + 0.05])
    return (x + 1e-4 * np.random.default_rng(0).normal(size=x.shape)).ravel()


TOGETHER = "gradient + projected Hessian"


def row(part: str, value: float, unit: str, note: str = "") -> dict[str, Any]:
    return {"part": part, "value": float(f"{value:.4g}"), "unit": unit, "note": note}


def kernels(cells: tuple[int, int, int], materials: list[Any]) -> list[dict[str, Any]]:
    """ns per tetrahedron of energy, gradient, and projected and exact Hessian into matrix values."""
    mesh = bar(size=(0.3, 0.1, 0.1), cells=cells)
    x, m = deformed(mesh), len(mesh.T)
    rows = []
    for material in materials:
        elastic, name = Elastic(mesh.X, mesh.T, material), type(material).__name__
        gradient = least(partial(elastic.gradient, x))
        times = {
            "energy": least(partial(elastic.value, x)),
            "gradient": gradient,
            TOGETHER: gradient + least(partial(elastic.hessian, x, psd=True)),
            "exact Hessian": least(partial(elastic.hessian, x)),
        }
        rows += [row(f"{name} {part}", 1e9 * t / m, "ns/tet") for part, t in times.items()]
    return rows


def clamped(cells: tuple[int, int, int]) -> Scene:
    mesh = bar(size=(0.3, 0.1, 0.1), cells=cells)
    clamp = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Solid(mesh, StableNeoHookean(E=1e5, nu=0.45), pins=clamp)], integrator=BDF2(), h=0.01)


def factorization(scene: Scene) -> list[dict[str, Any]]:
    """Numeric factor, one solve, thirty solves."""
    system = scene.system()
    q = system.X.ravel()
    A = system.restrict(system.tangent(q, 0 * q, 0.0, (1.0, 0.01, 1e-4)))
    factor = Cholesky().factor(A)
    b = np.random.default_rng(0).normal(size=(A.shape[0], 30))
    times = {
        "numeric factor": least(lambda: Cholesky().factor(A, factor.memory), 3),
        "one solve": least(lambda: Cholesky().factor(A, factor.memory).solve(b[:, 0]), 3),
        "30 solves": least(lambda: Cholesky().factor(A, factor.memory).solve(b), 3),
    }
    times["one solve"] -= times["numeric factor"]
    times["30 solves"] -= times["numeric factor"]
    return [row(name, 1e3 * t, "ms") for name, t in times.items()]


def glue(scene: Scene, steps: int) -> tuple[float, float]:
    """Share of a BDF2 step outside fill, factor, solve and force evaluation; seconds per step."""
    system = scene.system()
    state, memory = scene.initial(system), None
    spent: dict[str, float] = {}
    for k in range(steps + 2):  # two steps to start: compilation and the SDIRK2 start
        if k == 2:
            start, spent = perf_counter(), {}
        step = scene.integrator.step(system, state, float(scene.h), memory)
        state, memory = step.state, step.memory
        for report in step.reports:
            for phase, seconds in report.seconds.items():
                spent[phase] = spent.get(phase, 0.0) + seconds
    total = perf_counter() - start
    inside = sum(seconds for phase, seconds in spent.items() if phase != "other")
    return 1.0 - inside / total, total / steps


FRESH = """
import json, sys, time
start = time.perf_counter()
from pliant.bench.core.step import clamped, peak_memory
scene = clamped(tuple(json.loads(sys.argv[1])))
system = scene.system()
state = scene.initial(system)
step = scene.integrator.step(system, state, scene.h)
first = time.perf_counter() - start
step = scene.integrator.step(system, step.state, scene.h, step.memory)
print(json.dumps({"first": first, "peak": peak_memory()}))
"""


def peak_memory() -> float:
    """The most resident memory of this process so far [MB].

    Linux hands the maximum of getrusage from a parent to the programmes it starts, so its own counter is read there.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fresh_process(cells: tuple[int, int, int], cache: str, threads: int = 1) -> dict[str, float]:
    """Seconds to the end of the first step, and peak memory [MB], in a new process with the given kernel cache."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "NUMBA_NUM_THREADS": str(threads)}
    out = subprocess.run(
        [sys.executable, "-c", FRESH, json.dumps(cells)], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(out.stdout.splitlines()[-1])


def growth(quick: bool) -> tuple[list[dict[str, Any]], float]:
    """Assembly seconds from 4k to 500k tetrahedra and the slope in log-log."""
    rows, points = [], []
    for cells in SIZES[:3] if quick else SIZES:
        mesh = bar(size=(0.3, 0.1, 0.1), cells=cells)
        x, m = deformed(mesh), len(mesh.T)
        start = process_time()
        elastic = Elastic(mesh.X, mesh.T, StableNeoHookean(E=1e5, nu=0.45))
        made = process_time() - start
        seconds = least(partial(elastic.hessian, x, psd=True), 3)
        memory = elastic.hessian(x).data.nbytes / 2**20
        points.append((m, seconds, memory))
        rows.append(row(f"assembly of {m} tets", 1e3 * seconds, "ms", f"{memory:.0f} MB, set up in {made:.2f} s"))
    m, t, memory_sizes = np.log(np.array(points)).T
    return rows, max(float(np.polyfit(m, t, 1)[0]), float(np.polyfit(m, memory_sizes, 1)[0]))


def run(*, quick: bool = False) -> Table:
    import numba

    cells = (22, 7, 7) if quick else (44, 14, 14)
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    others = [] if quick else [StableNeoHookeanLog, StVK, Corotational, NeoHookean]
    rows = kernels(cells, [c(E=1e5, nu=0.45) for c in (StableNeoHookean, *others)] + ([] if quick else [ARAP(E=1e5)]))
    together = [r["value"] for r in rows if TOGETHER in r["part"]]
    scene = clamped(cells)
    rows += factorization(scene)
    share, per_step = glue(scene, 3 if quick else 5)
    rows.append(row("BDF2 step, Newton, one thread", 1e3 * per_step, "wall ms", f"glue {share:.1%}"))
    if threads > 1:
        numba.set_num_threads(threads)
        rows.append(row(f"BDF2 step, Newton, {threads} threads", 1e3 * glue(scene, 3)[1], "wall ms"))
        numba.set_num_threads(1)
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = fresh_process(cells, cache), fresh_process(cells, cache)
    rows.append(row("start to first step, cold", cold["first"], "wall s"))
    rows.append(row("start to first step, cached", warm["first"], "wall s"))
    rows.append(row("peak memory", warm["peak"], "MB"))
    more, slope = growth(quick)
    numba.set_num_threads(threads)
    return Table("core/step", "The cost of a step of BAR", rows + more, claims(together, share, warm, slope))


def claims(together: list[float], share: float, warm: dict[str, float], slope: float) -> list[Claim]:
    snh, slowest = together[0], max(together)
    return [
        Claim("SNH gradient + projected Hessian + scatter", "<= 450 ns/tet", f"{snh:.0f}", snh <= 450),
        Claim("any other material", "<= 900 ns/tet", f"{slowest:.0f}", slowest <= 900),
        Claim("glue of a BDF2 step", "<= 10 %", f"{share:.1%}", share <= 0.10),
        Claim("peak memory of BAR", "<= 700 MB", f"{warm['peak']:.0f} MB", warm["peak"] <= 700),
        Claim("second start to first step", "<= 3 s", f"{warm['first']:.2f} s", warm["first"] <= 3.0),
        Claim("assembly and memory grow linearly", "slope <= 1.1", f"{slope:.3f}", slope <= 1.1),
    ]
